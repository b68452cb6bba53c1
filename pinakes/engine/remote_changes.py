"""Changes on another engine: INSERT, CREATE TABLE AS, DELETE, UPDATE and MERGE, each one commit there as it is here.

Names, types and texts are those that the change has here (`handlers/`, `write/rewrite.py`); what the other engine is
told is put together from their translations. Its snapshot is signed as ours are, and by that signature it is found
again: then what is remembered here of the table is forgotten, and the rows are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.caches.catalog import forget_catalog
from pinakes.core.errors import NotSupportedError
from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.engine.choice import AUTO, LOCAL, check_possible, hindrance, judged, size_of, wanted_engine
from pinakes.engine.remote_query import estimated
from pinakes.engine.remote_sending import (
    ALIAS,
    check_branch,
    counted_before,
    made_by,
    send,
    summed,
    table_name,
    target_name,
    unsaid,
)
from pinakes.engine.remote_text import RemoteText, quoted
from pinakes.engine.schemas import schema_of
from pinakes.engine.write.definition import spec_from_query
from pinakes.engine.write.rewrite import Rewrite
from pinakes.parser.spark.assignment import assigned_type
from pinakes.parser.statements import CreateTableAs, Delete, Insert, Merge, Update

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema

    from pinakes.engine.execution import Execution

Change = Insert | CreateTableAs | Delete | Update | Merge


def carried_out(statement: Change, execution: Execution) -> int | None:
    """The number of rows that a change on another engine changed; None if it is to be carried out here."""
    wanted = wanted_engine(statement, execution.session.settings)
    if wanted == LOCAL:
        return None
    if wanted != AUTO:
        check_possible(execution)
        return _change(statement, execution)
    if hindrance(execution) is not None or _is_small(statement, execution):
        return None
    try:
        return _change(statement, execution)
    except NotSupportedError:
        if execution.query.engine != LOCAL:  # it was sent, and may have been carried out: never once more
            raise
        return None


def _is_small(statement: Change, execution: Execution) -> bool:
    if isinstance(statement, Insert | CreateTableAs):
        return statement.body is None or estimated(statement, execution, statement.body).engine == LOCAL
    change = Rewrite.of(execution, statement, statement.target)
    others = [change.planner.relation_of(at, statement) for at in range(len(statement.tables))]
    size = size_of([change.relation, *others])
    return size is not None and judged(size, execution).engine == LOCAL


def _change(statement: Change, execution: Execution) -> int:
    match statement:
        case Insert():
            return _insert(statement, execution)
        case CreateTableAs():
            return _create(statement, execution)
        case Delete():
            return _delete(statement, execution)
        case Update():
            return _update(statement, execution)
        case Merge():
            return _merge(statement, execution)


# --- rows that are added ---------------------------------------------------------------------------------------------


def _insert(statement: Insert, execution: Execution) -> int:
    if statement.overwrite or statement.partition or statement.by_name or statement.body is None:
        raise unsaid("INSERT with OVERWRITE, PARTITION, BY NAME or DEFAULT VALUES")
    from pinakes.engine.handlers.insert import target_columns

    found, table = execution.resolver.table(statement.target.name)
    check_branch(statement.target.name)
    schema, planner = table.handle.schema(), execution.planner()
    frame = planner.query(statement, statement.body)
    names = [f.name for f in schema.fields]
    columns = target_columns(statement.columns, names) if statement.columns else names
    planned = schema_of(frame)
    if len(columns) != len(planned):
        raise NotSupportedError(f"the query has {len(planned)} columns and {len(columns)} are to be filled")
    text = RemoteText(execution, planner)
    rows = text.query(statement, statement.body, planned)
    values = _typed(planned, columns, schema, execution)
    into = table_name(text, found, execution)
    listed = ", ".join(map(quoted, columns))
    send(f"INSERT INTO {into} ({listed}) SELECT {', '.join(values)} FROM ({rows})", text, execution, found)
    return summed(made_by(found, execution), "added-records")


def _typed(planned: pa.Schema, columns: Sequence[str], schema: Schema, execution: Execution) -> list[str]:
    """The columns c0, c1, … of a query with the types of those they go to."""
    zone = execution.session.settings.time_zone
    values = []
    for at, (name, given) in enumerate(zip(columns, planned, strict=True)):
        type = assigned_type(given.type, arrow_type_of(schema.find_field(name).field_type, zone), name)
        values.append(f"CAST(`c{at}` AS {type})")
    return values


def _create(statement: CreateTableAs, execution: Execution) -> int:
    from pinakes.engine.capability import table_changes
    from pinakes.engine.handlers.taken import check_free
    from pinakes.engine.handlers.temporary import check_location
    from pinakes.engine.places import Found

    named = any(term.name for term in statement.partitioning)
    if statement.sorting or statement.defined or statement.primary_key or not statement.with_data or named:
        raise unsaid("CREATE TABLE AS with typed columns, a key, SORTED BY, WITH NO DATA or named partition fields")
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    table_changes(place.mount)
    check_location(statement.location, place, execution.session.guard.files)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return 0
    check_free(existing, "TABLE", replace=statement.or_replace)
    planner = execution.planner()
    frame = planner.query(statement, statement.body)
    old = None if existing is None else resolver.fresh(existing)
    spec = spec_from_query(statement, schema_of(frame), execution, old)
    text = RemoteText(execution, planner)
    rows = text.query(statement, statement.body, schema_of(frame))
    names = [f.name for f in spec.schema.fields]
    values = _typed(schema_of(frame), names, spec.schema, execution)
    select = ", ".join(f"{value} AS {quoted(name)}" for value, name in zip(values, names, strict=True))
    found = existing or Found(place, name, "TABLE")
    create = "CREATE OR REPLACE TABLE" if existing is not None else "CREATE TABLE"
    properties = ", ".join(f"{_text(key)} = {_text(value)}" for key, value in _properties(spec.properties).items())
    location = "" if statement.location is None else f" LOCATION {_text(statement.location)}"
    sql = (
        f"{create} {table_name(text, found, execution)} USING iceberg{_partitioned(spec.partitioning, spec.schema)}"
        f"{location} TBLPROPERTIES ({properties}) AS SELECT {select} FROM ({rows})"
    )
    send(sql, text, execution, found)
    forget_catalog(place.mount.catalog)
    return summed(made_by(found, execution), "added-records")


def _properties(given: object) -> dict[str, str]:
    assert isinstance(given, dict)
    return {"format-version": "2", **given}


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


# --- rows that are changed -------------------------------------------------------------------------------------------


def _delete(statement: Delete, execution: Execution) -> int:
    if statement.source is not None:
        raise unsaid("DELETE with USING")
    change, text = _changing(statement, execution)
    where = _where(statement, change, text)
    send(f"DELETE FROM {target_name(change, text)} AS {ALIAS}{where}", text, execution, change.found)
    return counted_before(change, text, where, execution)


def _update(statement: Update, execution: Execution) -> int:
    from pinakes.engine.handlers.update import assigned, value_types

    if statement.source is not None:
        raise unsaid("UPDATE with FROM")
    change, text = _changing(statement, execution)
    values = assigned(statement.assignments, change)
    types = value_types(change, values)
    where = _where(statement, change, text)
    sets = _assigned(values, {name: types[name] for name in values}, change, text, change.sql)
    send(f"UPDATE {target_name(change, text)} AS {ALIAS} SET {sets}{where}", text, execution, change.found)
    return counted_before(change, text, where, execution)


def _changing(statement: Delete | Update | Merge, execution: Execution) -> tuple[Rewrite, RemoteText]:
    check_branch(statement.target.name)
    change = Rewrite.of(execution, statement, statement.target)
    return change, RemoteText(execution, change.planner)


def _where(statement: Delete | Update, change: Rewrite, text: RemoteText) -> str:
    if statement.where is None:
        return ""
    condition = change.text(statement.where)
    change.planner.plan(f"SELECT 1 FROM {change.sql} WHERE {condition}\n", statement)  # its errors are told here
    (found,) = text.parts(f"SELECT ({condition}\n) AS w FROM {change.sql}", statement)
    return f" WHERE {found}"


def _assigned(
    values: dict[str, str], types: dict[str, pa.DataType], change: Rewrite, text: RemoteText, over: str
) -> str:
    listed = ", ".join(f"({sql}\n) AS v{at}" for at, sql in enumerate(values.values()))
    found = text.parts(f"SELECT {listed} FROM {over}", change.statement)
    casts = [
        f"{quoted(name)} = CAST({value} AS {assigned_type(types[name], change.type_of(name), name)})"
        for name, value in zip(values, found, strict=True)
    ]
    return ", ".join(casts)


def _merge(statement: Merge, execution: Execution) -> int:
    from pinakes.engine.remote_merge import merged

    change, text = _changing(statement, execution)
    send(merged(statement, change, text, target_name(change, text)), text, execution, change.found)
    made = made_by(change.found, execution, change)
    return sum(summed(made, f"spark.merge-into.num-target-rows-{what}") for what in ("inserted", "updated", "deleted"))


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
