"""Facts about a loaded table or view of any kind: its columns with SQL types and as an Arrow schema, its comment,
properties and keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from pinakes.core.catalog import FilesTable, IcebergTable, ViewDefinition, VirtualTable
from pinakes.core.iceberg_metadata import primary_key
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.worker_tables import WorkerTable
from pinakes.system_tables.catalog_metadata.calls import Question, start_call

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.types import NestedField

    from pinakes.system_tables.catalog_metadata.loading import Described, Loaded
    from pinakes.system_tables.context import SystemContext


class ColumnFacts(NamedTuple):
    name: str
    position: int
    type: str
    """The type in the spelling of CREATE TABLE."""
    nullable: bool
    default: str | None
    comment: str | None


def columns_of(described: Described, context: SystemContext) -> list[ColumnFacts]:
    loaded = described.loaded
    if isinstance(loaded, FilesTable):
        return columns_of_arrow(_files_schema(described, loaded, context))
    if isinstance(loaded, ViewDefinition) and loaded.schema is None:
        return columns_of_arrow(view_schema(described, context))
    return columns_of_loaded(loaded)


def columns_of_loaded(loaded: IcebergTable | ViewDefinition | VirtualTable | WorkerTable) -> list[ColumnFacts]:
    """Returns the columns of an object that includes its schema."""
    match loaded:
        case IcebergTable():
            return [_iceberg_column(f, n, view=False) for n, f in enumerate(loaded.handle.schema().fields, 1)]
        case ViewDefinition():
            assert loaded.schema is not None  # else the caller has to determine the columns
            return [_iceberg_column(f, n, view=True) for n, f in enumerate(loaded.schema.fields, 1)]
        case VirtualTable():
            return [
                ColumnFacts(c.name, n, sql_name_of_arrow(c.type), True, None, c.comment)
                for n, c in enumerate(loaded.columns, 1)
            ]
        case WorkerTable():
            return [_worker_column(f, n, loaded) for n, f in enumerate(loaded.schema, 1)]


def _worker_column(field: pa.Field, number: int, table: WorkerTable) -> ColumnFacts:
    name = field.name
    default, comment = table.defaults.get(name), table.comments.get(name)
    return ColumnFacts(name, number, sql_name_of_arrow(field.type), name not in table.required, default, comment)


def view_schema(described: Described, context: SystemContext) -> list[pa.Field]:
    """Returns the columns of a view whose catalog stores only its text; the view must be planned."""
    entry = described.entry
    question = Question("plan the view", entry.schema, entry.name)

    def plan() -> list[pa.Field]:
        return list(context.view_schema(entry.catalog, entry.namespace, entry.name))

    return start_call(context, entry.mount, question, plan).answer([])


def _files_schema(described: Described, table: FilesTable, context: SystemContext) -> list[pa.Field]:
    """Returns the columns of files; the files must be read, which may fail as any other call."""
    entry = described.entry
    question = Question("read the files", entry.schema, entry.name)
    return start_call(context, entry.mount, question, lambda: list(context.files_schema(table))).answer([])


def _iceberg_column(field: NestedField, number: int, *, view: bool) -> ColumnFacts:
    from pinakes.core.types.default_text import default_text
    from pinakes.core.types.sql import sql_name

    required = field.required and not view
    name = sql_name(field.field_type)
    return ColumnFacts(field.name, number, name, not required, default_text(field), field.doc or None)


def columns_of_arrow(fields: Iterable[pa.Field]) -> list[ColumnFacts]:
    """Returns the columns of files, which have only names and types."""
    return [ColumnFacts(f.name, n, sql_name_of_arrow(f.type), True, None, None) for n, f in enumerate(fields, 1)]


def comment_of(loaded: Loaded) -> str | None:
    match loaded:
        case IcebergTable():
            return loaded.handle.properties.get("comment")
        case ViewDefinition():
            return loaded.comment or loaded.properties.get("comment")
        case VirtualTable():
            return getattr(loaded.definition, "doc", None)
        case WorkerTable():
            return loaded.comment
        case FilesTable():
            return None


def properties_of(loaded: Loaded) -> Mapping[str, str]:
    match loaded:
        case IcebergTable():
            return {**loaded.handle.properties, "format-version": str(loaded.handle.format_version)}
        case ViewDefinition():
            return loaded.properties
        case VirtualTable():
            return {}
        case WorkerTable():
            return {f"tag.{key}": value for key, value in loaded.tags.items()}
        case FilesTable():
            return {"format": loaded.format}


def keys_of(loaded: Loaded) -> Iterator[str]:
    """Yields the columns of the primary key: in Iceberg, the identifier fields."""
    if isinstance(loaded, WorkerTable):
        yield from loaded.key
    if isinstance(loaded, IcebergTable):
        yield from primary_key(loaded.handle.schema(), loaded.handle.properties)


def required_of(loaded: Loaded) -> Iterator[str]:
    """Yields the NOT NULL columns."""
    if isinstance(loaded, WorkerTable):
        yield from loaded.required
    if isinstance(loaded, IcebergTable):
        yield from (f.name for f in loaded.handle.schema().fields if f.required)


# --- Arrow schemas -----------------------------------------------------------------------------------------------


def arrow_columns(described: Described, context: SystemContext, zone: str) -> list[tuple[pa.Field, ColumnFacts]]:
    """Returns each column with its SQL facts; none if the columns can't be determined."""
    facts = columns_of(described, context)
    fields = _arrow_fields(described, context, zone) if facts else []
    return list(zip(fields, facts, strict=True))


def _arrow_fields(described: Described, context: SystemContext, zone: str) -> list[pa.Field]:
    from pinakes.core.types.iceberg_arrow import arrow_schema_of

    loaded = described.loaded
    match loaded:
        case IcebergTable():
            return list(arrow_schema_of(loaded.handle.schema(), zone))
        case ViewDefinition():
            if loaded.schema is None:
                return view_schema(described, context)
            return [field.with_nullable(True) for field in arrow_schema_of(loaded.schema, zone)]
        case VirtualTable():
            return [pa.field(c.name, c.type) for c in loaded.columns]
        case WorkerTable():
            return [pa.field(f.name, f.type, f.name not in loaded.required) for f in loaded.schema]
        case FilesTable():
            return list(context.files_schema(loaded))  # `columns_of` has just read it, within the timeout of a call
