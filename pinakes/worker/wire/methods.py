"""The methods of the protocol: their parameters, and whether they return nothing, bytes, or a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from pinakes.worker.wire.schemas import BYTES, ENUM, FLAG, TAGS, TEXT, TEXTS, optional, required

RESULT = pa.schema([required("result", BYTES)])
MAYBE_RESULT = pa.schema([optional("result", BYTES)])


@dataclass(frozen=True, slots=True)
class Method:
    """A method. `answers`: nothing, a value (bytes), optionally a value, or a header and a stream."""

    name: str
    parameters: pa.Schema
    answers: Literal["nothing", "value", "maybe", "stream"] = "value"

    @property
    def repeatable(self) -> bool:
        """Whether the method can be retried safely without a response."""
        return self.answers in ("value", "maybe") and self.name != "catalog_transaction_begin"

    @property
    def result(self) -> pa.Schema:
        return {"value": RESULT, "maybe": MAYBE_RESULT}.get(self.answers, pa.schema([]))


_ATTACH = required("attach_opaque_data", BYTES)
_TXN = optional("transaction_opaque_data", BYTES)
_PATH = required("path", TEXTS)
_SCHEMA_PATH = required("schema_path", TEXTS)
_NAME = required("name", TEXT)
_REQUEST = required("request", BYTES)
_LENIENT = required("ignore_not_found", FLAG)
_CASCADE = required("cascade", FLAG)
_COLUMN = required("column_name", TEXT)
_AT = (optional("at_unit", TEXT), optional("at_value", TEXT))
_COMMENT = optional("comment", TEXT)
_ON_CONFLICT = required("on_conflict", ENUM)
_COLUMN_DEFINITION = required("column_definition", BYTES)


def _of(name: str, *fields: pa.Field) -> Method:
    return Method(name, pa.schema(list(fields)))


def _void(name: str, *fields: pa.Field) -> Method:
    return Method(name, pa.schema(list(fields)), "nothing")


def _table(name: str, *fields: pa.Field) -> Method:
    """A method that changes a table: the table, the change, and whether the table may be missing."""
    return _void(f"catalog_table_{name}", _ATTACH, _SCHEMA_PATH, _NAME, *fields, _TXN)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _of("bind", _REQUEST),
        Method("init", pa.schema([_REQUEST]), "stream"),
        _of("table_function_cardinality", _REQUEST),
        _of("catalog_catalogs"),
        _of("catalog_attach", _REQUEST),
        _void("catalog_detach", _ATTACH),
        _void("catalog_create", _REQUEST),
        _void("catalog_drop", _NAME),
        _of("catalog_version", _ATTACH, _TXN),
        _of("catalog_transaction_begin", _ATTACH),
        _void("catalog_transaction_commit", _ATTACH, required("transaction_opaque_data", BYTES)),
        _void("catalog_transaction_rollback", _ATTACH, required("transaction_opaque_data", BYTES)),
        _of("catalog_schemas", _ATTACH, _TXN),
        _of("catalog_schema_get", _ATTACH, _PATH, _TXN),
        _void("catalog_schema_create", _ATTACH, _PATH, _ON_CONFLICT, _COMMENT, optional("tags", TAGS), _TXN),
        _void("catalog_schema_drop", _ATTACH, _PATH, _LENIENT, _CASCADE, _TXN),
        _of("catalog_schema_contents_tables", _ATTACH, _PATH, _TXN),
        _of("catalog_schema_contents_views", _ATTACH, _PATH, _TXN),
        _of("catalog_schema_contents_functions", _ATTACH, _PATH, required("type", ENUM), _TXN),
        _of("catalog_table_get", _ATTACH, _SCHEMA_PATH, _NAME, *_AT, _TXN),
        _void("catalog_table_create", _REQUEST),
        _table("drop", _LENIENT, _CASCADE),
        _of("catalog_table_scan_function_get", _ATTACH, _SCHEMA_PATH, _NAME, *_AT, _TXN),
        _table("comment_set", _COMMENT, _LENIENT),
        _table("column_comment_set", _COLUMN, _COMMENT, _LENIENT),
        _table("rename", required("new_name", TEXT), _LENIENT),
        _table("column_add", _COLUMN_DEFINITION, _LENIENT, required("if_column_not_exists", FLAG)),
        _table("column_drop", _COLUMN, _LENIENT, required("if_column_exists", FLAG), _CASCADE),
        _table("column_rename", _COLUMN, required("new_column_name", TEXT), _LENIENT),
        _table("column_default_set", _COLUMN, required("expression", TEXT), _LENIENT),
        _table("column_default_drop", _COLUMN, _LENIENT),
        _table("column_type_change", _COLUMN_DEFINITION, optional("expression", TEXT), _LENIENT),
        _table("not_null_drop", _COLUMN, _LENIENT),
        _table("not_null_set", _COLUMN, _LENIENT),
        _of("catalog_view_get", _ATTACH, _SCHEMA_PATH, _NAME, _TXN),
        _void("catalog_view_create", _ATTACH, _SCHEMA_PATH, _NAME, required("definition", TEXT), _ON_CONFLICT, _TXN),
        _void("catalog_view_drop", _ATTACH, _SCHEMA_PATH, _NAME, _LENIENT, _CASCADE, _TXN),
        _void("catalog_view_rename", _ATTACH, _SCHEMA_PATH, _NAME, required("new_name", TEXT), _LENIENT, _TXN),
        _void("catalog_view_comment_set", _ATTACH, _SCHEMA_PATH, _NAME, _COMMENT, _LENIENT, _TXN),
    )
}
"""The supported methods; the response to another one is method_not_implemented."""
