"""Handles for the rows of a worker's tables and functions, which the engine's scans hold."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pinakes.core.errors import CatalogUnavailable, NotSupportedError
from pinakes.core.names import Namespace
from pinakes.providers.vgi.attachment import Attachment
from pinakes.providers.vgi.errors import translated
from pinakes.worker.catalog.infos import FunctionInfo, ScanFunctionResult
from pinakes.worker.catalog.names import FunctionType, TransactionOpaqueData
from pinakes.worker.client.calls import Bound, FunctionCall
from pinakes.worker.client.connection import Check, Connection, Stream
from pinakes.worker.exceptions import WorkerDied
from pinakes.worker.wire.arguments import Arguments
from pinakes.worker.wire.filters import Filter


@dataclass(frozen=True, slots=True)
class EngineScan:
    """A table that is read by a function of the engine: read_parquet('…')."""

    function: str
    positional: tuple[Any, ...]
    named: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowCall:
    """A bound call that returns rows."""

    attachment: Attachment = field(repr=False)
    bound: Bound
    takes_columns: bool
    takes_filters: bool
    most_workers: int

    @property
    def schema(self) -> pa.Schema:
        return self.bound.schema

    def begin(self, filters: Sequence[Filter], limit: int | None, check: Check | None) -> Running:
        return Running(self, tuple(filters) if self.takes_filters else (), limit, check)


class Running:
    """A running call, by one worker or by several that share its work. The first reader begins it."""

    def __init__(self, call: RowCall, filters: Sequence[Filter], limit: int | None, check: Check | None) -> None:
        self._call, self._filters, self._limit, self._check = call, filters, limit, check
        self._lock = threading.Lock()
        self._header: dict[str, Any] | None = None
        self._begun = 0

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields the rows for one reader; none if the maximum number of workers is reached."""
        attachment = self._call.attachment
        with translated(attachment.alias):
            connection = self._place()
            if connection is None:
                return
            connection, stream = attachment.begun(connection, lambda taken: self._stream(taken, columns))
            try:
                try:
                    for batch in stream.batches() if stream is not None else ():
                        yield self._chosen(batch, columns)
                finally:
                    if stream is not None:
                        stream.close()
            except WorkerDied:
                attachment.died()
                raise
            finally:
                attachment.give_back(connection)

    def _place(self) -> Connection | None:
        """Returns a connection; only the first reader waits for a free one."""
        with self._lock:
            first = self._begun == 0
            self._begun += 1
        return self._call.attachment.take(wait=first)

    def _stream(self, connection: Connection, columns: Sequence[str]) -> Stream | None:
        wanted = list(columns) if self._call.takes_columns else None
        patience = self._call.attachment.patience(self._check)
        scan_arguments: dict[str, Any] = {"columns": wanted, "filters": self._filters, "limit": self._limit, **patience}
        with self._lock:
            if self._header is None:
                stream = self._call.bound.begin(connection, **scan_arguments)
                self._header = {**stream.header, "joined": 1}
                return stream
            if self._header["joined"] >= int(self._header.get("max_workers") or 1):
                return None
            self._header["joined"] += 1
            header = self._header
        return self._call.bound.begin(connection, of=header, **scan_arguments)

    def _chosen(self, batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
        """Returns the projected columns, after a check that their types are the declared ones."""
        schema = self._call.schema
        arrays = []
        for name in columns:
            at = batch.schema.get_field_index(name)
            wanted = schema.field(name).type
            if at < 0 or batch.schema.field(at).type != wanted:
                came = "no such column" if at < 0 else f"{batch.schema.field(at).type}"
                raise CatalogUnavailable(
                    f"the worker of catalog '{self._call.attachment.alias}' said that it sends column '{name}' as "
                    f"{wanted}, and sends {came}"
                )
            arrays.append(batch.column(at))
        return pa.RecordBatch.from_arrays(
            arrays, schema=pa.schema([pa.field(n, schema.field(n).type) for n in columns])
        )


@dataclass(frozen=True, slots=True)
class FunctionHandle:
    """A function of a worker, in an attachment, and in a transaction if there is one."""

    attachment: Attachment = field(repr=False)
    namespace: Namespace
    info: FunctionInfo
    transaction: bytes | None = field(default=None, repr=False)

    def rows(self, arguments: Arguments, *, at: tuple[str, str] | None = None, check: Check | None = None) -> RowCall:
        """Binds a call that returns rows."""
        call = FunctionCall(
            name=self.info.name,
            arguments=arguments,
            schema_path=self.namespace,
            attach_opaque_data=self.attachment.data,
            transaction_opaque_data=self.transaction,
            at_unit=at[0] if at else None,
            at_value=at[1] if at else None,
        )
        bound = self.attachment.run(
            lambda connection: call.bind(connection, timeout=self.attachment.timeout, check=check)
        )
        most = min(self.info.max_workers, self.attachment.workers)
        return RowCall(self.attachment, bound, self.info.projection_pushdown, self.info.filter_pushdown, most)

    def values(self, schema: pa.Schema, check: Check | None) -> ValueCall:
        """Binds a call that returns a value for each row."""
        call = FunctionCall(
            name=self.info.name,
            type=FunctionType.SCALAR,
            schema_path=self.namespace,
            input_schema=schema,
            attach_opaque_data=self.attachment.data,
            transaction_opaque_data=self.transaction,
        )
        bound = self.attachment.run(
            lambda connection: call.bind(connection, timeout=self.attachment.timeout, check=check)
        )
        return ValueCall(self.attachment, bound, check)


class ValueCall:
    """A running scalar function: each computing thread has its own stream, and leaves it to the next."""

    def __init__(self, attachment: Attachment, bound: Bound, check: Check | None) -> None:
        self._attachment, self._bound, self._check = attachment, bound, check
        self._lock = threading.Lock()
        self._free: list[tuple[Connection, Stream]] = []
        self._closed = False

    @property
    def schema(self) -> pa.Schema:
        return self._bound.schema

    def compute(self, batch: pa.RecordBatch) -> pa.Array:
        with translated(self._attachment.alias):
            taken = self._taken()
            connection, stream = taken
            try:
                answer = stream.exchange(batch)
            except BaseException as error:
                self._ended(connection, stream)
                if isinstance(error, WorkerDied):
                    self._attachment.died()
                raise
            with self._lock:
                keep = not self._closed
                if keep:
                    self._free.append(taken)
            if not keep:
                self._ended(connection, stream)
        return self._checked(answer, batch.num_rows)

    def close(self) -> None:
        with self._lock:
            self._closed, free = True, self._free
            self._free = []
        for connection, stream in free:
            self._ended(connection, stream)

    def _taken(self) -> tuple[Connection, Stream]:
        with self._lock:
            if self._free:
                return self._free.pop()
        connection = self._attachment.take()
        assert connection is not None
        patience = self._attachment.patience(self._check)
        return self._attachment.begun(connection, lambda taken: self._bound.begin(taken, **patience))

    def _ended(self, connection: Connection, stream: Stream) -> None:
        stream.close()
        self._attachment.give_back(connection)

    def _checked(self, answer: pa.RecordBatch, rows: int) -> pa.Array:
        wanted = self.schema.field(0).type
        if answer.num_columns != 1 or answer.num_rows != rows or answer.schema.field(0).type != wanted:
            raise CatalogUnavailable(
                f"the worker of catalog '{self._attachment.alias}' was to send {rows} values of {wanted} for "
                f"{self._bound.call.name}, and sent {answer.num_rows} of {', '.join(map(str, answer.schema.types))}"
            )
        return answer.column(0)


@dataclass(frozen=True, slots=True)
class TableHandle:
    """A table of a worker. The function that reads it is looked up for each scan."""

    attachment: Attachment = field(repr=False)
    namespace: Namespace
    name: str
    functions: Mapping[tuple[Namespace, str], FunctionInfo] = field(repr=False)
    """The functions of the worker."""
    transaction: TransactionOpaqueData | None = field(default=None, repr=False)

    def scan(self, at: tuple[str, str] | None = None, check: Check | None = None) -> RowCall | EngineScan:
        """Returns the scan of the table. `at` is VERSION or TIMESTAMP and its value."""
        if at is not None and not self.attachment.attached.supports_time_travel:
            raise NotSupportedError(
                f"the worker of catalog '{self.attachment.alias}' has no versions of its tables: leave out AS OF"
            )
        found = self.attachment.table_scan_function_get(
            attach_opaque_data=self.attachment.data,
            transaction_opaque_data=self.transaction,
            schema_name=self.namespace,
            name=self.name,
            at_unit=at[0] if at else None,
            at_value=at[1] if at else None,
        )
        known = self._known(found)
        if known is None:
            named = {key: value.as_py() for key, value in found.named_arguments.items()}
            return EngineScan(found.function_name.lower(), tuple(v.as_py() for v in found.positional_arguments), named)
        namespace, info = known
        handle = FunctionHandle(self.attachment, namespace, info, self.transaction)
        return handle.rows(Arguments.of(found.positional_arguments, found.named_arguments), at=at, check=check)

    def _known(self, found: ScanFunctionResult) -> tuple[Namespace, FunctionInfo] | None:
        """Returns the worker's own function of that name; the one in the table's schema takes precedence."""
        own = self.functions.get((self.namespace, found.function_name))
        if own is not None:
            return self.namespace, own
        other = [key for key in self.functions if key[1] == found.function_name]
        return (other[0][0], self.functions[other[0]]) if other else None
