"""CREATE TABLE AS on another engine: the table and its rows in one commit there.

What that engine can't say in such a statement, a key, NOT NULL, comments of columns and the order of new rows, is
added here in a second commit right after: who reads in between sees all rows, and never some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.caches.caching_catalog import forget_catalog
from pinakes.core.iceberg_metadata import summary_number
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.commit import begin, commit, hold_snapshot
from pinakes.engine.iceberg.write.definition import spec_from_query
from pinakes.engine.iceberg.write.sort_order import moved_order, order_updates
from pinakes.engine.remote.sending import made_by, send, table_name, unsaid
from pinakes.engine.remote.text import RemoteText, quoted, quoted_text
from pinakes.parser.spark.assignment import assigned_type
from pinakes.parser.statements import CreateTableAs

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.update.schema import UpdateSchema
    from pyiceberg.types import NestedField

    from pinakes.core.catalog import TableSpec
    from pinakes.engine.statement_context import Execution


def create(statement: CreateTableAs, execution: Execution) -> int:
    from pinakes.engine.binding.capabilities import table_changes
    from pinakes.engine.binding.new_objects import check_free, check_places

    if any(term.name for term in statement.partitioning) or any(c.default for c in statement.defined):
        raise unsaid("CREATE TABLE AS with named partition fields or defaults")
    if statement.checks:
        raise unsaid("CREATE TABLE AS with CHECK constraints")
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    table_changes(place.mount)
    check_places(statement.location, statement.properties, place, execution.session.guard)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return 0
    check_free(existing, "TABLE", replace=statement.or_replace)
    planner = execution.planner()
    frame = planner.query(statement, statement.body).frame
    old = None if existing is None else resolver.fresh(existing)
    spec = spec_from_query(statement, schema_of(frame), execution, old)
    text = RemoteText(execution, planner)
    rows = text.query(statement, statement.body, schema_of(frame))
    found = existing or ResolvedTable(place, name, "TABLE")
    verb = "CREATE OR REPLACE TABLE" if existing is not None else "CREATE TABLE"
    sql = f"{verb} {table_name(text, found, execution)} {_defined(statement, spec, schema_of(frame), execution)}"
    send(f"{sql} FROM ({rows})", text, execution, found)
    forget_catalog(place.mount.catalog)
    count = summary_number(made_by(found, execution), "added-records")
    _complete(found, spec, execution)
    return count


def _defined(statement: CreateTableAs, spec: TableSpec, planned: pa.Schema, execution: Execution) -> str:
    """From its format up to the columns of the query."""
    names = [f.name for f in spec.schema.fields]
    values = typed(planned, names, spec.schema, execution)
    select = ", ".join(f"{value} AS {quoted(name)}" for value, name in zip(values, names, strict=True))
    given = {"format-version": "2", **spec.properties}
    properties = ", ".join(f"{quoted_text(key)} = {quoted_text(value)}" for key, value in given.items())
    location = "" if statement.location is None else f" LOCATION {quoted_text(statement.location)}"
    parts = _partitioned(spec.partitioning, spec.schema)
    return f"USING iceberg{parts}{location} TBLPROPERTIES ({properties}) AS SELECT {select}"


def typed(planned: pa.Schema, columns: Sequence[str], schema: Schema, execution: Execution) -> list[str]:
    """The columns c0, c1, … of a query with the types of those they go to; NULL where there must be none fails."""
    zone = execution.session.settings.time_zone
    values = []
    for at, (name, given) in enumerate(zip(columns, planned, strict=True)):
        field = schema.find_field(name)
        type = assigned_type(given.type, arrow_type_of(field.field_type, zone), name)
        value = f"CAST(`c{at}` AS {type})"
        if field.required:
            noted = quoted_text(f"column {quoted(name)} is NOT NULL, and a row has NULL there")
            value = f"coalesce({value}, CAST(raise_error({noted}) AS {type}))"
        values.append(value)
    return values


def _partitioned(spec: PartitionSpec, schema: Schema) -> str:
    terms = []
    for field in spec.fields:
        column, transform = quoted(schema.find_field(field.source_id).name), str(field.transform)
        kind, _, argument = transform.partition("[")
        if kind == "identity":
            terms.append(column)
        elif argument:
            terms.append(f"{kind}({argument.rstrip(']')}, {column})")
        else:
            terms.append(f"{kind}s({column})")
    return f" PARTITIONED BY ({', '.join(terms)})" if terms else ""


def _complete(found: ResolvedTable, spec: TableSpec, execution: Execution) -> None:
    """Add the parts of the definition that cannot be passed to the remote engine."""
    noted = [field for field in spec.schema.fields if field.required or field.doc]
    if not noted and spec.sorting is None:
        return
    table = execution.resolver.fresh(found)
    transaction = begin(table)
    hold_snapshot(transaction)
    with transaction.update_schema(allow_incompatible_changes=True) as update:
        for field in noted:
            _annotate(update, field)
        key = [spec.schema.find_column_name(number) for number in spec.schema.identifier_field_ids]
        update.set_identifier_fields(*(name for name in key if name is not None))
    order = moved_order(spec.sorting, spec.schema, transaction.table_metadata.schema())
    transaction._apply(order_updates(transaction.table_metadata, order))
    commit(transaction, found.place, found.name)


def _annotate(update: UpdateSchema, field: NestedField) -> None:
    update.update_column((field.name,), required=field.required or None, doc=field.doc)
