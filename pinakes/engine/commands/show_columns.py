"""SHOW COLUMNS FROM table [LIKE p]: names, types, nullability and comments as the catalog has them."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.catalog import FilesTable, ViewDefinition
from pinakes.core.names import Name
from pinakes.engine.binding.view_columns import view_columns
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowColumns
from pinakes.system_tables.described import ColumnFacts, columns_of_arrow, columns_of_loaded

COLUMNS = pa.schema([("Column", pa.string()), ("Type", pa.string()), ("Extra", pa.string()), ("Comment", pa.string())])


def show_columns(statement: ShowColumns, execution: Execution) -> Result:
    rows = column_rows(statement.table, execution)
    return Result.rows(COLUMNS, [r for r in rows if statement.like is None or statement.like.matches(r[0])])


def column_rows(name: Name, execution: Execution) -> list[tuple[str, str, str, str]]:
    """(name, type, extra, comment) of each column of a table or view, as information_schema.columns has them."""
    facts = _facts(name, execution)
    return [(f.name, f.type, "" if f.nullable else "not null", f.comment or "") for f in facts]


def _facts(name: Name, execution: Execution) -> list[ColumnFacts]:
    if name.is_path and len(name.parts) == 1:
        return columns_of_arrow(_file_schema(name, execution))
    resolver = execution.resolver
    temporary = resolver.temporary(name)
    if temporary is not None:
        return columns_of_arrow(temporary[1].schema)
    loaded = resolver.load(resolver.find(name))
    if isinstance(loaded, ViewDefinition) and loaded.schema is None:
        return columns_of_arrow(view_columns(execution, name))
    if not isinstance(loaded, FilesTable):
        return columns_of_loaded(loaded)
    from pinakes.engine.files.catalog_tables import open_table

    opened = open_table(loaded, execution.finder(), execution.session.settings.time_zone)
    return columns_of_arrow(opened.schema)


def _file_schema(name: Name, execution: Execution) -> pa.Schema:
    from pinakes.engine.files.readings import Reading
    from pinakes.engine.files.tables import open_files

    zone = execution.session.settings.time_zone
    return open_files(Reading((name.last.text,)), execution.finder(), zone).schema
