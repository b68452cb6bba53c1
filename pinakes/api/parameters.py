"""Python values as parameters: each becomes an Arrow scalar, which is bound to the plan and never part of the SQL
text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from pinakes.core.arrays.decode import plain_scalar
from pinakes.core.errors import InvalidArgument, TypeMismatch
from pinakes.parser.statements import Planned, Statement

Parameters = Sequence[Any] | Mapping[str, Any]

_INT64 = range(-(2**63), 2**63)
_LONGEST = 76
"""Maximum number of digits of a decimal."""


def bound(parameters: Parameters | None) -> dict[str, pa.Scalar]:
    """Returns the parameters by name; those of a sequence are named 1, 2, 3, …"""
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        return {str(name): scalar(value, str(name)) for name, value in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise InvalidArgument(
            f"parameters are a list or tuple for ? and $1, a dict for :name; not a {type(parameters).__name__}"
        )
    return {str(at): scalar(value, str(at)) for at, value in enumerate(parameters, 1)}


def check_count(statement: Statement, given: int) -> None:
    """Raises if there are too many positional values; too few are detected during planning."""
    placeholders = statement.placeholders if isinstance(statement, Planned) else ()
    if isinstance(statement, Planned) and not statement.parsed:
        return  # only DataFusion can parse it
    numbers = [int(p.name) for p in placeholders if p.name.isdigit()]
    if given > max(numbers, default=0):
        raise InvalidArgument(f"too many parameters: {given} given, and the statement takes {max(numbers, default=0)}")


def scalar(value: Any, name: str) -> pa.Scalar:
    """Converts one value; raises TypeMismatch for a type without an SQL equivalent."""
    if isinstance(value, pa.Scalar):
        return plain_scalar(value)
    try:
        return _of_numpy(value) if type(value).__module__ == "numpy" else pa.scalar(_plain(value))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        kind = type(value).__qualname__
        raise TypeMismatch(f"parameter {name}: a {kind} cannot be bound ({_first_line(error)})") from error


def _plain(value: Any) -> Any:
    """Converts values that pyarrow would misinterpret or reject."""
    match value:
        case bool() | None:
            return value
        case _ if type(value).__name__ in ("NAType", "NaTType") and type(value).__module__.startswith("pandas."):
            return None  # NULL in pandas
        case int() if value not in _INT64:
            return _wide(value)
        case UUID():
            return str(value)  # queries see a uuid as text
        case datetime() if value.tzinfo is not None:
            return _zoned(value)
        case time() if value.tzinfo is not None:
            raise ValueError("SQL has no time of day with a zone; give it without, or a datetime")
        case bytearray() | memoryview():
            return bytes(value)
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
    return value


def _of_numpy(value: Any) -> pa.Scalar:
    """Converts a numpy value with its own type; an array becomes a list."""
    if getattr(value, "ndim", 0) == 0:
        return pa.array(value.reshape(1))[0]
    items = pa.array(value)
    return pa.scalar(items.to_pylist(), pa.list_(items.type))


def _wide(value: int) -> Decimal:
    if len(str(abs(value))) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST} digits")
    return Decimal(value)


def _zoned(value: datetime) -> datetime:
    """Returns the same moment; in UTC if Arrow does not support its time zone."""
    try:
        pa.scalar(value)
    except (pa.ArrowException, ValueError):
        return value.astimezone(UTC)
    return value


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
