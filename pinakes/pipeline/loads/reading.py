"""What is read, whatever its format: the files, or the database, behind one interface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from pinakes.core.errors import InvalidArgument
from pinakes.pipeline.loads.inputs import Input, Unreadable
from pinakes.pipeline.loads.shape import Column, position


class Reading(Protocol):
    """The records of one batch."""

    @property
    def inputs(self) -> Sequence[Input]:
        """The files that are read."""
        ...

    @property
    def unreadable(self) -> list[Unreadable]:
        """Those that can't be."""
        ...

    def inferred(self) -> list[Column]:
        """The columns that the records would make."""
        ...

    def unknown(self, columns: Sequence[Column]) -> dict[str, str]:
        """The columns of files that the table has not, each with a file that has it, as far as that is known before
        the records are read."""
        ...

    def frame(self, columns: Sequence[Column]) -> Any:
        """The records in the shape of the table (`shape.py`); None if there are none."""
        ...

    def only(self, uris: Collection[str]) -> Reading:
        """The same of some of the files."""
        ...

    def lines(self) -> Any:
        """Where records are in their files: `uri`, `key` (a record as RAW has it) and `line`; None if nobody knows."""
        ...


def united(frames: Iterable[Any]) -> Any:
    found = None
    for frame in frames:
        found = frame if found is None else found.unionAll(frame)
    return found


def merged(shapes: Iterable[Sequence[Column]]) -> list[Column]:
    """The columns of all, in their order; a type that differs is the wider one, or text."""
    found: dict[str, Column] = {}
    for shape in shapes:
        for column in shape:
            known = found.get(column.name)
            type = column.type if known is None else _wider(known.type, column.type)
            found[column.name] = Column(column.name, _roomy(type))
    return list(found.values())


def _roomy(type: str) -> str:
    """What was inferred from some records leaves room for more of them."""
    return {"int": "bigint", "float": "double", "void": "string", "smallint": "bigint", "tinyint": "bigint"}.get(
        type, type
    )


def _wider(one: str, other: str) -> str:
    types = {_roomy(one), _roomy(other)}
    if len(types) == 1:
        return types.pop()
    if types <= {"bigint", "double"}:
        return "double"
    if types == {"date", "timestamp"} or types == {"date", "timestamp_ntz"}:
        return next(t for t in types if t != "date")
    return "string"


def check_names(names: Sequence[str], path: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidArgument(f"'{path}' has two columns of the name '{twice}': give one another name in the file")


def unknown_of(names: Sequence[str], columns: Sequence[Column]) -> list[str]:
    used = {position(column.name, names) for column in columns}
    return [name for at, name in enumerate(names) if at not in used]
