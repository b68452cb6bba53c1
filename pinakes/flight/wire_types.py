"""Types on the wire: those that every driver reads correctly.

The JDBC driver rejects views and half floats, reads a dictionary's index as its value and an unsigned integer as a
signed one, and can't show a time with a zone; Arrow's Java library does not support decimals of 32 and 64 bits. So each
is converted to the plain type that holds all its values. Times keep their zone unless the client is Java, which gets
them in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyarrow import types as is_

from pinakes.core.types.arrow_names import sql_name_of_arrow, unwrap_type
from pinakes.system_tables.jdbc_types import digits_of, size_of

_PLAIN: dict[pa.DataType, pa.DataType] = {
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
}
PREFIX = "ARROW:FLIGHT:SQL:"
SHELL = "shell"
"""Value of the header `x-pinakes-client` of a remote shell."""


@dataclass(frozen=True, slots=True)
class Client:
    """The properties of a client that affect what it is sent."""

    is_java: bool = False
    is_shell: bool = False
    """A remote shell, which prints values like the embedded one: it needs the original types, and errors with code and
    position."""

    @classmethod
    def of(cls, user_agent: str, kind: str = "") -> Client:
        return cls("grpc-java" in user_agent, kind == SHELL)

    @property
    def uncounted(self) -> int:
        """The row count of a change whose count is unknown. The JDBC driver takes -1 for a query and runs the statement
        again."""
        return 0 if self.is_java else -1

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Returns the schema of a result for this client. Java reads sizes and type names from it; REMARKS would become
        the column label there."""
        fields = [self._field(field) for field in schema]
        if self.is_java:
            fields = [f.with_metadata(type_metadata(sql_name_of_arrow(was.type))) for f, was in zip(fields, schema)]  # noqa: B905
        return pa.schema(fields)

    def type(self, t: pa.DataType) -> pa.DataType:
        if self.is_shell and not _is_encoded(t):
            return self._nested(t)
        if t in _PLAIN:
            return _PLAIN[t]
        inner = unwrap_type(t)
        if inner is not None:
            return self.type(inner)
        if is_.is_decimal32(t) or is_.is_decimal64(t):
            return pa.decimal128(t.precision, t.scale)
        if is_.is_timestamp(t) and t.tz is not None and self.is_java:
            return pa.timestamp(t.unit)
        return self._nested(t)

    def _nested(self, t: pa.DataType) -> pa.DataType:
        if is_.is_map(t):
            return pa.map_(self._field(t.key_field), self._field(t.item_field))
        if is_.is_struct(t):
            return pa.struct([self._field(f) for f in t.fields])
        if is_.is_list(t) or is_.is_list_view(t):
            return pa.list_(self._field(t.value_field))
        if is_.is_large_list(t) or is_.is_large_list_view(t):
            return pa.large_list(self._field(t.value_field))
        if is_.is_fixed_size_list(t):
            return pa.list_(self._field(t.value_field), t.list_size)
        return t

    def _field(self, field: pa.Field) -> pa.Field:
        return pa.field(field.name, self.type(field.type), field.nullable)


def _is_encoded(t: pa.DataType) -> bool:
    """Whether it is an encoding of a plain type. pyarrow can't send dictionaries that change between batches, and views
    would carry all the buffers that they refer to."""
    return bool(is_.is_dictionary(t) or is_.is_run_end_encoded(t) or t in (pa.string_view(), pa.binary_view()))


def type_metadata(sql_type: str) -> dict[str, str]:
    """Returns the field metadata that drivers read about a type."""
    properties = {"TYPE_NAME": sql_type, "PRECISION": size_of(sql_type), "SCALE": digits_of(sql_type)}
    return {PREFIX + key: str(value) for key, value in properties.items() if value is not None}


def parameter_type(t: pa.DataType) -> pa.DataType:
    """Returns the type that a client should send. The JDBC driver writes milliseconds for every declared unit; an
    unknown type is a string."""
    if is_.is_null(t):
        return pa.string()
    if is_.is_time(t):
        return pa.time32("ms")
    return pa.timestamp("ms") if is_.is_timestamp(t) else Client().type(t)


def conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns the batch in wire types."""
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    columns = [_cast(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array, t: pa.DataType) -> pa.Array:
    if column.type == t:
        return column
    if isinstance(column, pa.ExtensionArray):
        return _cast(column.storage, t)
    if isinstance(column, pa.RunEndEncodedArray):
        import pyarrow.compute as pc

        return _cast(pc.run_end_decode(column), t)
    return column.cast(t)
