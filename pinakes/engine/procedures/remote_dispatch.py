"""Runs maintenance on Spark, by Iceberg's own procedure, if that engine was selected.

Arguments and result are the same. The cached metadata of the table is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.errors import NotSupportedError
from pinakes.engine.iceberg.maintenance.target import changing
from pinakes.engine.procedures.base import Procedure, Work
from pinakes.engine.remote.engine_selection import run_remotely
from pinakes.engine.remote.interface import RemoteCatalog
from pinakes.engine.remote.query import remote_statement
from pinakes.engine.remote.sending import ALIAS, unsaid
from pinakes.engine.remote.text import RemoteText, quoted, quoted_text
from pinakes.parser.statements import Delete

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable

Answer = list[tuple[object, ...]]


def answered(procedure: Procedure, work: Work) -> Answer | None:
    """Returns the result of Iceberg's procedure; None if the work is to be done here."""
    return run_remotely(lambda: _answer(_called(procedure, work), procedure.columns), work.execution)


def _called(procedure: Procedure, work: Work) -> pa.Table:
    execution, found = work.execution, work.found
    text = RemoteText(execution, execution.planner())
    catalog = _catalog(text, found, work.table)
    name = ".".join(quoted(part) for part in (*found.place.namespace, found.name))
    sent = {"table": quoted_text(name), **_arguments(procedure, work)}
    listed = ", ".join(f"{key} => {value}" for key, value in sent.items())
    remote = execution.session.engine.remote
    assert remote is not None
    execution.query.engine = remote.name
    sql = f"CALL {quoted(catalog)}.system.{procedure.name}({listed})"
    try:
        return remote.change(remote_statement(execution, text, sql, pa.schema([])))
    finally:
        forget_table(found.place.mount.catalog, found.place.namespace, found.name)


def _catalog(text: RemoteText, found: ResolvedTable, table: IcebergTable) -> str:
    """Returns the name of the table's catalog in Spark."""
    remote = text.catalog(found.place.mount.name)
    if remote is None:
        raise unsaid(f"maintenance in catalog {found.place.mount.name}")
    on_s3 = table.handle.metadata.location.startswith(("s3://", "s3a://", "s3n://"))
    text.add(RemoteCatalog(remote.name, remote.opening, on_s3=on_s3))
    return remote.name


def _answer(found: pa.Table, columns: pa.Schema) -> Answer:
    """Matches columns by name: other versions of Iceberg may return more."""
    rows: Sequence[Mapping[str, Any]] = found.to_pylist()
    return [tuple(row.get(name) for name in columns.names) for row in rows]


# --- arguments -------------------------------------------------------------------------------------------------------


def _arguments(procedure: Procedure, work: Work) -> dict[str, str]:
    given = [(p, work[p.name]) for p in procedure.parameters if p.name != "table" and work[p.name] is not None]
    foreign = [p.name for p, _ in given if p.only_here]
    if foreign:
        raise NotSupportedError(f"{procedure.name} on Spark has no {foreign[0]}. SET engine = 'local'.")
    conditions = {p.name: quoted_text(_condition(work, value)) for p, value in given if p.type == "condition"}
    return {p.name: conditions.get(p.name) or _written(value) for p, value in given}


def _condition(work: Work, where: str) -> str:
    """Returns a predicate as Spark SQL. Columns are not qualified with a table name."""
    change = changing(work.execution, work.found, where)
    statement = change.statement
    assert isinstance(statement, Delete)
    assert statement.where is not None
    condition = change.text(statement.where)
    change.planner.plan(f"SELECT 1 FROM {change.sql} WHERE {condition}\n", statement)  # reports its errors here
    text = RemoteText(work.execution, change.planner)
    (found,) = text.parts(f"SELECT ({condition}\n) AS w FROM {change.sql}", statement)
    return found.replace(f"{ALIAS}.", "")


def _written(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return f"{value}L"
        case datetime():
            return f"TIMESTAMP '{value.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%S.%f')}'"
        case list():
            return f"array({', '.join(_written(v) for v in value)})"
        case dict():
            return f"map({', '.join(quoted_text(v) for pair in value.items() for v in pair)})"
    return quoted_text(str(value))
