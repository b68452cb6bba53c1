"""Arguments of functions. A call (BindRequest) has them in one struct column, `args`, with fields positional_0, … and
named_x; the function that scans a table (ScanFunctionResult) has them as columns: arg_0, …, and then the named ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import types as is_

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.wire.records import batch_of, stream_of

_POSITIONAL, _NAMED, _FLAT = "positional_", "named_", "arg_"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call, as Arrow scalars."""

    positional: tuple[pa.Scalar, ...] = ()
    named: Mapping[str, pa.Scalar] = field(default_factory=dict)

    @classmethod
    def of(cls, positional: Sequence[Any] = (), named: Mapping[str, Any] | None = None) -> Arguments:
        return cls(tuple(map(_scalar, positional)), {name: _scalar(value) for name, value in (named or {}).items()})


def call_bytes(arguments: Arguments) -> bytes:
    values = {f"{_POSITIONAL}{i}": value for i, value in enumerate(arguments.positional)}
    values |= {f"{_NAMED}{name}": value for name, value in arguments.named.items()}
    fields = [pa.field(name, value.type) for name, value in values.items()]
    struct = pa.array([{name: value.as_py() for name, value in values.items()}], pa.struct(fields))
    return stream_of(pa.RecordBatch.from_arrays([struct], names=["args"]))


def call_from(data: bytes | None) -> Arguments:
    if not data:
        return Arguments()
    batch = batch_of(data, "the arguments of a call")
    if batch.num_columns != 1 or not is_.is_struct(batch.schema.field(0).type) or batch.num_rows != 1:
        raise ProtocolError("the arguments of a call must be one struct 'args' in one row")
    struct = batch.column(0)
    found = {f.name: struct.field(i)[0] for i, f in enumerate(struct.type)}
    return _sorted(found, _POSITIONAL, _NAMED)


def scan_bytes(arguments: Arguments) -> bytes:
    values = {f"{_FLAT}{i}": value for i, value in enumerate(arguments.positional)}
    values |= arguments.named
    if not values:
        return stream_of(pa.RecordBatch.from_arrays([pa.nulls(1)], names=["_"]))
    arrays = [pa.array([value.as_py()], value.type) for value in values.values()]
    return stream_of(pa.RecordBatch.from_arrays(arrays, names=list(values)))


def scan_from(data: bytes | None) -> Arguments:
    if not data:
        return Arguments()
    batch = batch_of(data, "the arguments of a scan")
    found = {f.name: batch.column(i)[0] for i, f in enumerate(batch.schema)} if batch.num_rows else {}
    return _sorted({name: value for name, value in found.items() if name != "_"}, _FLAT, "")


def _sorted(found: Mapping[str, pa.Scalar], positional: str, named: str) -> Arguments:
    """Splits arguments by their names: numbered ones in their order, and named ones."""
    numbered = {int(n[len(positional) :]): v for n, v in found.items() if _is_numbered(n, positional)}
    if sorted(numbered) != list(range(len(numbered))):
        raise ProtocolError(f"arguments are missing: there are those of the numbers {sorted(numbered)}")
    others = {n.removeprefix(named): v for n, v in found.items() if not _is_numbered(n, positional)}
    return Arguments(tuple(numbered[i] for i in range(len(numbered))), others)


def _is_numbered(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].isdigit()


def _scalar(value: Any) -> pa.Scalar:
    return value if isinstance(value, pa.Scalar) else pa.scalar(value)
