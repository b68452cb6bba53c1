"""Plans in their serialised form: the little of protobuf's wire format that is needed to read and to edit them.

Only a few field numbers of DataFusion's own schema are known here; every other field is carried along as it is. They
are those of DataFusion 55: `tests/engine/test_scan_wire.py` fails loudly when another major version is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.core.errors import InternalError
from pinakes.core.varint import as_varint, read_varint

PATHS = 2
"""Of a scan of files (ListingTableScanNode): one path each."""
COLUMNS = 4
"""Of such a scan: a message with the names of the columns that are read, one each; all, if it is not there."""
_SCHEMA = 5
FILTERS = 6
"""Of such a scan: the conditions that were pushed down to it, one each."""
TABLE_NAME = 14
"""Of such a scan: what it is called in the plan."""


class Field(NamedTuple):
    """One field of a message: where it begins and ends with its tag, and where its value does if it has a length."""

    number: int
    start: int
    end: int
    value: int
    """Where the value begins; `end` for a field without a length."""


def only_field(message: bytes) -> tuple[int, bytes]:
    """The number and the value of the one field that a message has."""
    found = list(fields(message, 0, len(message)))
    if len(found) != 1:
        raise InternalError("the plan of a Parquet scan is not what DataFusion 55 makes")
    return found[0].number, message[found[0].value : found[0].end]


def fields(message: bytes, at: int, end: int) -> Iterator[Field]:
    """The fields of the message that stands between two places."""
    while at < end:
        start = at
        tag, at = read_varint(message, at)
        value = -1
        match tag & 7:
            case 0:
                _, at = read_varint(message, at)
            case 1:
                at += 8
            case 2:
                length, value = read_varint(message, at)
                at = value + length
            case 5:
                at += 4
            case kind:
                raise InternalError(f"the plan of a Parquet scan has a field of kind {kind}")
        yield Field(tag >> 3, start, at, at if value < 0 else value)


def nodes_of(plan: bytes, path: bytes) -> Iterator[list[Field]]:
    """The fields of each scan in a plan that has this path among its own, wherever in the plan it stands."""
    at = plan.find(path)
    while at >= 0:
        found = _around(plan, path, at)
        whole = list(fields(plan, *found)) if found is not None else []
        if any(f.number == _SCHEMA for f in whole):  # and not a text, which has the same number in a constant
            yield whole
        at = plan.find(path, at + 1)


def _around(plan: bytes, path: bytes, place: int) -> tuple[int, int] | None:
    """Where the scan begins and ends whose path stands at a place. On the way down, only messages are entered."""
    start, end = 0, len(plan)
    while True:
        inner = next((f for f in fields(plan, start, end) if f.value <= place < f.end), None)
        if inner is None:
            return None
        if (inner.value, inner.end) == (place, place + len(path)):
            return (start, end) if inner.number == PATHS else None
        start, end = inner.value, inner.end


def with_bytes(number: int, value: bytes) -> bytes:
    """A field that holds bytes, a text or a message."""
    return as_varint(number << 3 | 2) + as_varint(len(value)) + value
