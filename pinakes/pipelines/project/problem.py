"""Problems of a project and their positions; all are reported together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.core.errors import PipelineInvalid


@dataclass(frozen=True, slots=True)
class Where:
    """A position in a file of the project, by its relative path."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    where: Where
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def refuse(problems: Sequence[Problem]) -> None:
    """Raises an error that lists all problems, if there are any."""
    if not problems:
        return
    lines = list(dict.fromkeys(str(problem) for problem in problems))
    if len(lines) == 1:
        raise PipelineInvalid(lines[0])
    raise PipelineInvalid(f"{len(lines)} things are wrong with the project:\n" + "\n".join(f"  {x}" for x in lines))
