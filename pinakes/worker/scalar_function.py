"""Functions that return one value per row."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa

from pinakes.worker.catalog.names import FunctionType
from pinakes.worker.function import BindParams, Function, ProcessParams


class ScalarFunction(Function):
    """A function that returns one value for each row.

    class Shout(ScalarFunction):
        ARGUMENTS = pa.schema([("text", pa.string())])
        OUTPUT = pa.string()

        @classmethod
        def compute(cls, params, text: pa.Array) -> pa.Array:
            return pc.utf8_upper(text)
    """

    TYPE: ClassVar[FunctionType] = FunctionType.SCALAR
    OUTPUT: ClassVar[pa.DataType]
    DETERMINISTIC: ClassVar[bool] = True
    """False for a function that may return different values for the same arguments."""

    @classmethod
    def compute(cls, params: ProcessParams, *columns: pa.Array) -> pa.Array:
        """Returns the values for the rows of `columns`: an array of the same length."""
        raise NotImplementedError(f"{cls.__name__} must have a classmethod compute")

    @classmethod
    def declared_output(cls) -> pa.Schema:
        return pa.schema([("result", cls.OUTPUT)])

    @classmethod
    def output_of(cls, params: BindParams) -> pa.Schema:
        if len(params.input_schema) and len(params.input_schema) != len(cls.ARGUMENTS):
            raise ValueError(
                f"{cls.function_name()} takes {len(cls.ARGUMENTS)} arguments, and {len(params.input_schema)} came"
            )
        return cls.declared_output()

    @classmethod
    def answer(cls, params: ProcessParams, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Returns the batch of results for a batch of arguments."""
        columns = [_as(c, f.type) for c, f in zip(batch.columns, cls.ARGUMENTS, strict=True)]
        found = cls.compute(params, *columns) if columns else _repeated(cls.compute(params), batch.num_rows)
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        if isinstance(found, pa.Scalar):
            found = _repeated(found, batch.num_rows)
        if not isinstance(found, pa.Array):
            found = pa.array(found, cls.OUTPUT)
        if len(found) != batch.num_rows:
            raise ValueError(f"{cls.function_name()} gave {len(found)} values for {batch.num_rows} rows")
        return pa.RecordBatch.from_arrays([_as(found, cls.OUTPUT)], schema=params.output_schema)


def _as(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    return array if array.type == wanted else array.cast(wanted)


def _repeated(value: pa.Scalar | pa.Array, rows: int) -> pa.Array:
    return value if isinstance(value, pa.Array) else pa.repeat(value, rows)
