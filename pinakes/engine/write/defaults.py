"""The default of a column: a constant expression, evaluated once when the column is defined."""

from __future__ import annotations

from typing import Any

from pyiceberg.types import IcebergType, PrimitiveType

from pinakes.core.conform import conform_array
from pinakes.core.errors import InvalidArgument, NotSupportedError, TypeMismatch
from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.core.types import sql_name
from pinakes.engine.execution import Execution
from pinakes.parser.statements import Query


def default_value(text: str, kind: IcebergType, execution: Execution, column: str, version: int) -> Any:
    """The value of a DEFAULT clause as the column's type. `DEFAULT NULL` is no default."""
    source = execution.session.engine.caches.statements.classify(f"SELECT {text}")
    if not isinstance(source, Query) or source.tables:
        raise InvalidArgument(f"the default of column {column} must be a constant, not {text}")
    value = execution.collect(execution.planner().query(source)).column(0)
    if value.null_count:
        return None
    if version < 3:
        raise NotSupportedError(
            f"column {column} has a default, which needs format version 3: "
            f"CREATE TABLE … WITH ('format-version' = '3'), or ALTER TABLE … SET PROPERTIES"
        )
    if not isinstance(kind, PrimitiveType):
        raise NotSupportedError(f"column {column}: only plain types have defaults, not {sql_name(kind)}")
    try:
        return conform_array(value.combine_chunks(), arrow_type_of(kind))[0].as_py()
    except (ValueError, TypeError) as error:
        raise TypeMismatch(f"the default {text} of column {column} is no {sql_name(kind)}: {error}") from error
