"""SHOW COLUMNS FROM table [LIKE p]: names, types, nullability and comments as the catalog has them."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.core.names import Name
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import ShowColumns

COLUMNS = pa.schema([("Column", pa.string()), ("Type", pa.string()), ("Extra", pa.string()), ("Comment", pa.string())])


def show_columns(statement: ShowColumns, execution: Execution) -> Result:
    rows = column_rows(statement.table, execution)
    return Result.rows(COLUMNS, [r for r in rows if statement.like is None or statement.like.matches(r[0])])


def column_rows(name: Name, execution: Execution) -> list[tuple[str, str, str, str]]:
    """(name, type, extra, comment) of each column of a table or view."""
    from pinakes.core.catalog import FilesTable, ViewDefinition
    from pinakes.core.types import sql_name

    if name.is_path and len(name.parts) == 1:
        return [(f.name, sql_name_of_arrow(f.type), "", "") for f in _file_schema(name, execution)]
    resolver = execution.session.resolver
    temporary = resolver.temporary(name)
    if temporary is not None:
        return [(f.name, sql_name_of_arrow(f.type), "", "") for f in temporary[1].schema]
    loaded = resolver.load(resolver.find(name))
    if isinstance(loaded, FilesTable):
        from pinakes.engine.files.catalog_tables import open_table

        opened = open_table(loaded, execution.finder(), execution.session.settings.time_zone)
        return [(f.name, sql_name_of_arrow(f.type), "", "") for f in opened.schema]
    view = isinstance(loaded, ViewDefinition)
    schema = loaded.schema if isinstance(loaded, ViewDefinition) else loaded.handle.schema()
    return [
        (f.name, sql_name(f.field_type), "not null" if f.required and not view else "", f.doc or "")
        for f in schema.fields
    ]


def _file_schema(name: Name, execution: Execution) -> pa.Schema:
    from pinakes.engine.files.readings import Reading
    from pinakes.engine.files.tables import open_files

    zone = execution.session.settings.time_zone
    return open_files(Reading((name.last.text,)), execution.finder(), zone).schema
