"""Default values of columns: constant expressions, evaluated once when the column is defined."""

from __future__ import annotations

import math
import re
from typing import Any

import pyarrow as pa
from pyarrow import types as is_
from pyiceberg.schema import Schema
from pyiceberg.types import IcebergType, PrimitiveType

from pinakes.core.arrays.conform import conform_array
from pinakes.core.errors import ExecutionError, InvalidArgument, NotSupportedError, TypeMismatch
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.core.types.sql import sql_name
from pinakes.engine.binding.sql_functions import expanded_text
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.shape import cast
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Query
from pinakes.providers.iceberg.v3.install import install

DEFAULTS_VERSION = 3
"""The first format version with defaults."""

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_VARYING = re.compile(
    r"\b(?:(?:now|today|rand|random|uuid|gen_random_uuid|uuidv[47])(?=\s*\()"
    r"|current_(?:timestamp|date|time|user|role|catalog|schema)|session_user|localtime|localtimestamp)\b",
    re.IGNORECASE,
)
"""Functions whose value depends on time, user or chance."""


def default_value(text: str, kind: IcebergType, execution: Execution, column: str, version: int) -> Any:
    """Returns the value of a DEFAULT clause in the column's type. `DEFAULT NULL` means no default."""
    text = expanded_text(text, execution.resolver)
    varying = _VARYING.search(_QUOTED.sub("''", text))
    if varying is not None:
        raise InvalidArgument(
            f"the default of column {column} must be a constant, and {varying[0]} is none: Iceberg stores the value "
            f"that it has now. Write it in the INSERT."
        )
    install()  # the schema may be created before any catalog is opened
    value = _evaluated(text, kind, execution, column)
    if value.null_count:
        return None
    if version < DEFAULTS_VERSION:
        raise needs_version(column)
    if not isinstance(kind, PrimitiveType):
        raise NotSupportedError(f"column {column}: only plain types have defaults, not {sql_name(kind)}")
    try:
        return _stored(conform_array(value.combine_chunks(), arrow_type_of(kind)), kind)
    except (ValueError, TypeError) as error:
        raise _misfit(text, column, kind, error) from error


def _misfit(text: str, column: str, kind: IcebergType, error: Exception) -> TypeMismatch:
    return TypeMismatch(f"the default {text} of column {column} is not a valid {sql_name(kind)}: {error}")


def needs_version(column: str) -> NotSupportedError:
    return NotSupportedError(
        f"column {column} has a default, which needs format version 3: "
        f"CREATE TABLE … WITH ('format-version' = '3'), or ALTER TABLE … SET PROPERTIES"
    )


def check_no_defaults(schema: Schema) -> None:
    """Fails if a field at any depth has a default: for tables of an older format version."""
    for field_id in schema.field_ids:
        field = schema.find_field(field_id)
        if field.initial_default is not None or field.write_default is not None:
            raise needs_version(schema.find_column_name(field_id) or field.name)


def _evaluated(text: str, kind: IcebergType, execution: Execution, column: str) -> pa.ChunkedArray:
    """Evaluates the expression and casts it to the column's type by the rules of INSERT."""
    source = execution.session.engine.caches.statements.classify(f"SELECT {text}")
    if not isinstance(source, Query) or source.tables:
        raise InvalidArgument(f"the default of column {column} must be a constant, not {text}")
    planner = execution.planner()
    found = schema_of(planner.query(source).frame).field(0).type
    wanted = cast(f"({text}\n)", found, arrow_type_of(kind, execution.session.settings.time_zone))
    try:
        return execution.collect(planner.plan(f"SELECT {wanted}", source)).column(0)
    except ExecutionError as error:
        raise _misfit(text, column, kind, error) from error


def _stored(value: pa.Array, kind: IcebergType) -> Any:
    """Returns the value in pyiceberg's form: nanoseconds as a number, since datetime does not support them."""
    if is_.is_timestamp(value.type) and value.type.unit == "ns":
        return value.cast(pa.int64())[0].as_py()
    found = value[0].as_py()
    if isinstance(found, float) and not math.isfinite(found):
        raise ValueError("Iceberg can store no default that is not a finite number")
    if is_.is_string(value.type) and sql_name(kind) == "uuid":
        conform_array(value, pa.uuid())
    return found
