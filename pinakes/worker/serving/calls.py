"""Calls of functions on the worker's side: bound, then run as a stream of rows, or of responses to rows."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pinakes.worker.catalog.names import FunctionType
from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.function import BindParams, Function, ProcessParams
from pinakes.worker.scalar_function import ScalarFunction
from pinakes.worker.serving.applied import applied, columns_of
from pinakes.worker.serving.claims import Claims
from pinakes.worker.table_function import OutputCollector, TableFunctionGenerator
from pinakes.worker.wire.arguments import call_from
from pinakes.worker.wire.filters import Filter
from pinakes.worker.wire.messages import Log
from pinakes.worker.wire.pushed import pushed_from
from pinakes.worker.wire.records import decode, encode, schema_bytes, schema_from
from pinakes.worker.wire.schemas import BIND_RESPONSE, GLOBAL_INIT_RESPONSE


class Rows:
    """A running call of a table function: one batch at a time, of one split after the other."""

    is_exchange = False

    def __init__(
        self,
        function: type[TableFunctionGenerator],
        params: ProcessParams,
        whole: pa.Schema,
        execution: bytes | None,
        wanted: pa.Schema | None = None,
        required: Sequence[Filter] = (),
    ) -> None:
        """`required` are predicates that the worker must apply; `wanted` is then the part of the function's columns to
        send.
        """
        self._function, self._params, self._whole = function, params, whole
        self.schema = wanted if wanted is not None else params.output_schema
        self._required = required
        self._splits: Sequence[Any] = function.splits(params)
        workers = min(function.max_workers(params), len(self._splits))
        self.max_workers = max(1, workers)
        self.execution_id = execution or uuid.uuid4().bytes
        self._claims = Claims(self.execution_id) if execution is not None or self.max_workers > 1 else None
        if execution is None and self._claims is not None:
            self._claims.begin(len(self._splits))
        self._next = self._taken()
        self._out: OutputCollector | None = None
        self._state: Any = None
        self.logs: list[Log] = []

    def next(self) -> pa.RecordBatch | None:
        """Returns the next rows; None at the end."""
        while True:
            if self._out is None:
                number = next(self._next, None)
                if number is None:
                    return None
                self._params = dataclasses.replace(self._params, split=self._splits[number])
                self._out = OutputCollector(self._whole, self._params.output_schema)
                self._state = self._function.initial_state(self._params)
            out = self._out
            if out.ready:
                return self._sent(out.ready.popleft())
            if out.finished:
                self._out = None
                continue
            self._function.process(self._params, self._state, out)
            self.logs += out.logs
            out.logs = []

    def _sent(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return applied(batch, self._required).select(self.schema.names) if self._required else batch

    def cancel(self) -> None:
        """Cancels the call: no more rows are needed."""
        if self._claims is not None:
            self._claims.end()
        if self._out is not None:
            self._function.on_cancel(self._params, self._state)

    def _taken(self) -> Iterator[int]:
        if self._claims is None:
            yield from range(len(self._splits))
            return
        while (number := self._claims.take()) is not None:
            if number >= len(self._splits):
                raise ValueError("splits() gave another number of pieces than in the process that began")
            yield number


class Values:
    """A running call of a scalar function: one batch of values for each batch of arguments."""

    is_exchange = True
    max_workers = 1

    def __init__(self, function: type[ScalarFunction], params: ProcessParams) -> None:
        self._function, self._params = function, params
        self.schema = params.output_schema
        self.execution_id = uuid.uuid4().bytes
        self.logs: list[Log] = []

    def answer(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return self._function.answer(self._params, batch)

    def cancel(self) -> None:
        """Does nothing: there are no resources to release."""


Running = Rows | Values


def bound(function: type[Function], values: Mapping[str, Any]) -> tuple[BindParams, pa.Schema]:
    """Returns the parameters of a BindRequest, and the schema of the call's result."""
    is_scalar = function.TYPE is FunctionType.SCALAR
    scalars = {} if is_scalar else function.bound(call_from(values.get("arguments")))
    params = BindParams(
        arguments={name: scalar.as_py() for name, scalar in scalars.items()},
        scalars=scalars,
        input_schema=schema_from(values.get("input_schema"), "an input schema"),
        attach_opaque_data=values.get("attach_opaque_data"),
        transaction_opaque_data=values.get("transaction_opaque_data"),
        at_unit=values.get("at_unit"),
        at_value=values.get("at_value"),
    )
    return params, function.output_of(params)


def bind_response(whole: pa.Schema) -> bytes:
    nothing: dict[str, list[str]] = {n: [] for n in ("lookup_secret_types", "lookup_scopes", "lookup_names")}
    return encode(BIND_RESPONSE, {"output_schema": schema_bytes(whole), **nothing})


def started(function: type[Function], bind: Mapping[str, Any], values: Mapping[str, Any]) -> Running:
    """Starts a bound call; `values` are those of the InitRequest."""
    params, whole = bound(function, bind)
    ids = values.get("projection_ids")
    if ids is not None and any(not 0 <= i < len(whole) for i in ids):
        raise ProtocolError(f"projection_ids {ids} are not all columns: there are {len(whole)}")
    wanted = whole if ids is None else pa.schema([whole.field(i) for i in ids])
    pushed = pushed_from(values.get("pushdown_filters"), whole)
    needed = columns_of(pushed.required)
    given = pa.schema([f for f in whole if f.name in needed or f.name in wanted.names]) if needed else wanted
    fields = {f.name: getattr(params, f.name) for f in dataclasses.fields(params)}
    process = ProcessParams(
        **fields,
        output_schema=given,
        filters=pushed.filters,
        row_limit=None if needed else values.get("row_limit"),  # the limit counts the rows after the filter
    )
    if issubclass(function, ScalarFunction):
        return Values(function, process)
    assert issubclass(function, TableFunctionGenerator)
    return Rows(function, process, whole, values.get("execution_id"), wanted, pushed.required)


def header_of(running: Running) -> bytes:
    return encode(GLOBAL_INIT_RESPONSE, {"execution_id": running.execution_id, "max_workers": running.max_workers})


def bind_call_of(values: Mapping[str, Any]) -> dict[str, Any]:
    return decode(values.get("bind_call"), "the bind_call of an InitRequest")
