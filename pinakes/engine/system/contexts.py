"""Builds the context of a statement's system tables: the session's catalogs, opened for its user."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pinakes.core.names import Name
from pinakes.engine.binding.view_columns import view_columns
from pinakes.engine.datafusion.functions import functions
from pinakes.engine.files.tables import open_table
from pinakes.engine.system.avro_files import avro_of
from pinakes.engine.system.runtime import Runtime
from pinakes.system_tables.context import SystemContext

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.core.catalog import FilesTable
    from pinakes.core.names import Namespace
    from pinakes.engine.catalogs.mounts import Mounted, Mounts
    from pinakes.engine.statement_context import Execution


def context_of(execution: Execution, of: str | None) -> SystemContext:
    """Returns the context for one catalog, or for all catalogs visible to the session."""
    session = execution.session
    engine, settings = session.engine, session.settings

    def files_schema(table: FilesTable) -> pa.Schema:
        return open_table(table, execution.finder(), settings.time_zone).schema

    def view_schema(catalog: str, namespace: Namespace, name: str) -> pa.Schema:
        return view_columns(execution, Name.of(catalog, *namespace, name))

    return SystemContext(
        session.identity,
        _seen(session.catalogs, of),
        engine.executor,
        engine.faults,
        execution.query.check,
        files_schema,
        view_schema,
        functions,
        Runtime(session),
        partial(avro_of, session.manifests),
        strict=settings.metadata_errors == "fail",
        timeout=settings.metadata_timeout,
    )


def _seen(catalogs: Mounts, of: str | None) -> tuple[Mounted, ...]:
    return tuple(catalogs.visible()) if of is None else (catalogs.get(of),)
