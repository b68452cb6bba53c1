"""Tables of workers as relations: those that the worker reads itself, and those that it delegates to the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from datafusion import Table as Provider
from datafusion import col

from pinakes.core.errors import CatalogUnavailable, InvalidArgument, NotSupportedError, listing
from pinakes.core.names import Name, Part, quote, undotted
from pinakes.core.worker_tables import WorkerTable
from pinakes.engine.binding.relation import Key, Relation
from pinakes.engine.datafusion.plan_schema import without_views
from pinakes.engine.workers.scan import WorkerScan
from pinakes.parser.calls import READERS
from pinakes.providers.vgi.scans import EngineScan, RowCall, TableHandle

if TYPE_CHECKING:
    from pinakes.engine.binding.binder import Relations

_NAMED_TABLES = ("query_table", "table")
"""The functions whose argument is a table name: `query_table('lake.sales.orders')`."""
_ICEBERG = "iceberg_scan"


def worker_relation(relations: Relations, key: Key, table: WorkerTable, at: tuple[str, str] | None = None) -> Relation:
    """Returns the relation of a worker's table. `at` is VERSION or TIMESTAMP and its value, for time travel."""
    handle = table.handle
    assert isinstance(handle, TableHandle)
    query = relations.execution.query
    found = query.interruptible(lambda: handle.scan(at, query.check))
    if isinstance(found, EngineScan):
        return _delegated(relations, key, table, found)
    _check_columns(table, found)
    return row_relation(relations, key, found)


def row_relation(relations: Relations, key: Key, call: RowCall) -> Relation:
    scan = WorkerScan(call, relations.execution)
    return Relation(key, scan.placeholder.provider, scan.columns, worker=scan, source=call.attachment)


def _check_columns(table: WorkerTable, call: RowCall) -> None:
    types = {f.name: f.type for f in table.schema}
    given = {f.name: f.type for f in call.schema}
    if types != given:
        wrong = next(name for name in (*types, *given) if types.get(name) != given.get(name))
        raise CatalogUnavailable(
            f"the worker says that column '{wrong}' of table {table.name} is {types.get(wrong, 'not there')}, and the "
            f"function that reads it says {given.get(wrong, 'not there')}"
        )


def _delegated(relations: Relations, key: Key, table: WorkerTable, scan: EngineScan) -> Relation:
    """Returns the relation that the engine reads instead: files, an Iceberg table by location, or a mounted table."""
    if scan.function.upper() in READERS:
        found = _files(relations, scan)
    elif scan.function in _NAMED_TABLES:
        found = relations.named(_named(scan))
    elif scan.function == _ICEBERG:
        found = _iceberg(relations, key, scan)
    else:
        known = listing([*(name.lower() for name in READERS), *_NAMED_TABLES, _ICEBERG], 20)
        raise NotSupportedError(
            f"the worker wants table {table.name} to be read by the function '{scan.function}', which is neither one "
            f"of its own nor one of: {known}"
        )
    return replace(_conformed(found, table.schema, relations), key=key, full_name=())


def _files(relations: Relations, scan: EngineScan) -> Relation:
    from pinakes.engine.files.tables import Reading

    relations.execution.session.guard.function(scan.function)
    first = scan.positional[0] if scan.positional else None
    paths = (first,) if isinstance(first, str) else tuple(first) if isinstance(first, list) else ()
    if len(scan.positional) != 1 or not paths or not all(isinstance(path, str) for path in paths):
        raise InvalidArgument(f"the worker gives {scan.function} something else than one path or a list of them")
    return relations.files(
        Reading(paths, READERS[scan.function.upper()], dict(scan.named), scan.function), scan.function
    )


def _named(scan: EngineScan) -> Name:
    if len(scan.positional) != 1 or not isinstance(scan.positional[0], str) or not scan.positional[0]:
        raise InvalidArgument(f"the worker gives {scan.function} something else than the name of a table")
    return Name(tuple(Part(level, quoted=True) for level in undotted(scan.positional[0])))


def _iceberg(relations: Relations, key: Key, scan: EngineScan) -> Relation:
    from pinakes.engine.workers.iceberg import iceberg_at

    if len(scan.positional) != 1 or not isinstance(scan.positional[0], str):
        raise InvalidArgument("the worker gives iceberg_scan something else than the place of a table")
    table = iceberg_at(scan.positional[0], dict(scan.named), relations.execution)
    place = (*key[:2], f"{key[2]}@{scan.positional[0]}")
    return relations.iceberg(place, table)


def _conformed(found: Relation, wanted: pa.Schema, relations: Relations) -> Relation:
    """Returns the relation with the columns that the worker declared, in that order. A mismatch is an error of the
    worker.
    """
    missing = [name for name in wanted.names if name not in found.columns]
    if missing:
        raise CatalogUnavailable(
            f"the worker says that there is a column '{missing[0]}', and what it has read has: {listing(found.columns)}"
        )
    if found.is_placeholder:
        if tuple(wanted.names) != found.columns:
            raise CatalogUnavailable(
                f"the worker says that the columns are {', '.join(wanted.names)}, and what it has read has "
                f"{', '.join(found.columns)}, in this order"
            )
        return found
    return replace(found, provider=_selected(relations, found.provider, wanted), columns=tuple(wanted.names))


def _selected(relations: Relations, provider: Provider, wanted: pa.Schema) -> Provider:
    """Selects the declared columns and casts those whose types differ from the declared ones."""
    frame = relations.execution.session.context.read_table(provider)
    have = {f.name: without_views(f.type) for f in frame.schema()}
    chosen = [
        col(quote(f.name)) if have[f.name] == f.type else col(quote(f.name)).cast(f.type).alias(f.name) for f in wanted
    ]
    return frame.select(*chosen).into_view()
