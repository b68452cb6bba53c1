"""DESCRIBE table | view | namespace | query | read_csv(…): columns with their types, or a namespace's properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.core.catalog import SupportsNamespaces
from pinakes.core.names import dotted
from pinakes.engine.commands.show_columns import COLUMNS, column_rows
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Describe

if TYPE_CHECKING:
    from datafusion import DataFrame

_PROPERTIES = pa.schema([("Property", pa.string()), ("Value", pa.string())])


def describe(statement: Describe, execution: Execution) -> Result:
    match statement.what:
        case "NAMESPACE":
            return _namespace(statement, execution)
        case "QUERY":
            return _query(execution.planner().query(statement, statement.body))
        case "FILES":
            assert statement.table is not None
            planner = execution.planner()
            text = planner.rewrite(statement, statement.table.span).text
            return _query(planner.plan(f"SELECT * FROM {text}", statement))
        case _:
            assert statement.name is not None
            return Result.rows(COLUMNS, column_rows(statement.name, execution))


def _query(frame: DataFrame) -> Result:
    rows = [(f.name, sql_name_of_arrow(f.type), "" if f.nullable else "not null", "") for f in schema_of(frame)]
    return Result.rows(COLUMNS, rows)


def _namespace(statement: Describe, execution: Execution) -> Result:
    place = execution.resolver.namespace(statement.name)
    catalog = place.mount.catalog
    properties = catalog.load_namespace(place.namespace) if isinstance(catalog, SupportsNamespaces) else {}
    rows = [("catalog", place.mount.name), ("namespace", dotted(place.namespace)), *sorted(properties.items())]
    return Result.rows(_PROPERTIES, rows)
