"""The interface of readings: records of files or of a database, regardless of the format."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from pinakes.core.errors import InvalidArgument
from pinakes.pipelines.loads.reading.inputs import Input, Unreadable
from pinakes.pipelines.loads.reading.shape import Column, position


class Reading(Protocol):
    """The records of one batch."""

    @property
    def inputs(self) -> Sequence[Input]:
        """The files that are read."""
        ...

    @property
    def unreadable(self) -> list[Unreadable]:
        """The files that can't be read."""
        ...

    def inferred(self) -> list[Column]:
        """Returns the columns inferred from the records."""
        ...

    def unknown(self, columns: Sequence[Column]) -> dict[str, str]:
        """Returns the columns that the table lacks, each with a file that has it, as far as known before the records
        are read."""
        ...

    def frame(self, columns: Sequence[Column]) -> Any:
        """Returns the records in the shape of the table (`shape.py`); None if there are none."""
        ...

    def only(self, uris: Collection[str]) -> Reading:
        """Returns the reading restricted to some of the files."""
        ...

    def lines(self) -> Any:
        """Returns the positions of records in their files: `uri`, `key` (a record as in RAW) and `line`; None if
        unknown."""
        ...


def unite_frames(frames: Iterable[Any]) -> Any:
    found = None
    for frame in frames:
        found = frame if found is None else found.unionAll(frame)
    return found


def merge_columns(shapes: Iterable[Sequence[Column]]) -> list[Column]:
    """Returns the columns of all shapes, in order; different types become the wider one, or text."""
    found: dict[str, Column] = {}
    for shape in shapes:
        for column in shape:
            known = found.get(column.name)
            type = column.type if known is None else _common_type(known.type, column.type)
            found[column.name] = Column(column.name, _widen(type))
    return list(found.values())


def _widen(type: str) -> str:
    """Widens an inferred type, since later records may need it."""
    return {"int": "bigint", "float": "double", "void": "string", "smallint": "bigint", "tinyint": "bigint"}.get(
        type, type
    )


def _common_type(one: str, other: str) -> str:
    types = {_widen(one), _widen(other)}
    if len(types) == 1:
        return types.pop()
    if types <= {"bigint", "double"}:
        return "double"
    if types == {"date", "timestamp"} or types == {"date", "timestamp_ntz"}:
        return next(t for t in types if t != "date")
    return "string"


def check_names(names: Sequence[str], path: str) -> None:
    duplicates = next((name for name in names if names.count(name) > 1), None)
    if duplicates is not None:
        raise InvalidArgument(f"'{path}' has two columns of the name '{duplicates}': give one another name in the file")


def find_unknown(names: Sequence[str], columns: Sequence[Column]) -> list[str]:
    used = {position(column.name, names) for column in columns}
    return [name for at, name in enumerate(names) if at not in used]
