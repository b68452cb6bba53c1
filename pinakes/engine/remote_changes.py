"""Changes on another engine: INSERT, CREATE TABLE AS, DELETE, UPDATE and MERGE, each one commit there as it is here.

Names, types and texts are those that the change has here (`handlers/`, `write/rewrite.py`); what the other engine is
told is put together from their translations. Its snapshot is signed as ours are, and by that signature it is found
again: then what is remembered here of the table is forgotten, and the rows are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.caches.catalog import forget_catalog, forget_table
from pinakes.core.errors import NotSupportedError
from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.core.names import Name
from pinakes.engine.choice import AUTO, LOCAL, check_possible, hindrance, judged, size_of, wanted_engine
from pinakes.engine.remote_query import estimated, remote_statement
from pinakes.engine.remote_text import RemoteText, quoted
from pinakes.engine.schemas import schema_of
from pinakes.engine.write.definition import spec_from_query
from pinakes.engine.write.rewrite import TARGET, Rewrite
from pinakes.parser.spark.assignment import assigned_type
from pinakes.parser.statements import CreateTableAs, Delete, Insert, Merge, Update

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.snapshots import Snapshot

    from pinakes.engine.execution import Execution
    from pinakes.engine.places import Found, Place

Change = Insert | CreateTableAs | Delete | Update | Merge

_ALIAS = quoted(TARGET)
_NOTHING = pa.schema([])


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
        raise _unsaid("INSERT with OVERWRITE, PARTITION, BY NAME or DEFAULT VALUES")
    from pinakes.engine.handlers.insert import target_columns

    found, table = execution.resolver.table(statement.target.name)
    _check_branch(statement.target.name)
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
    into = _table(text, found, execution)
    listed = ", ".join(map(quoted, columns))
    _send(f"INSERT INTO {into} ({listed}) SELECT {', '.join(values)} FROM ({rows})", text, execution, found)
    return _summed(_made(found, execution), "added-records")


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
        raise _unsaid("CREATE TABLE AS with typed columns, a key, SORTED BY, WITH NO DATA or named partition fields")
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
        f"{create} {_table(text, found, execution)} USING iceberg{_partitioned(spec.partitioning, spec.schema)}"
        f"{location} TBLPROPERTIES ({properties}) AS SELECT {select} FROM ({rows})"
    )
    _send(sql, text, execution, found)
    forget_catalog(place.mount.catalog)
    return _summed(_made(found, execution), "added-records")


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
        raise _unsaid("DELETE with USING")
    change, text = _changing(statement, execution)
    where = _where(statement, change, text)
    _send(f"DELETE FROM {_target(change, text)} AS {_ALIAS}{where}", text, execution, change.found)
    return _counted_before(change, text, where, execution)


def _update(statement: Update, execution: Execution) -> int:
    from pinakes.engine.handlers.update import assigned, value_types

    if statement.source is not None:
        raise _unsaid("UPDATE with FROM")
    change, text = _changing(statement, execution)
    values = assigned(statement.assignments, change)
    types = value_types(change, values)
    where = _where(statement, change, text)
    sets = _assigned(values, {name: types[name] for name in values}, change, text, change.sql)
    _send(f"UPDATE {_target(change, text)} AS {_ALIAS} SET {sets}{where}", text, execution, change.found)
    return _counted_before(change, text, where, execution)


def _changing(statement: Delete | Update | Merge, execution: Execution) -> tuple[Rewrite, RemoteText]:
    _check_branch(statement.target.name)
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
    _send(merged(statement, change, text, _target(change, text)), text, execution, change.found)
    made = _made(change.found, execution, change)
    return sum(_summed(made, f"spark.merge-into.num-target-rows-{what}") for what in ("inserted", "updated", "deleted"))


# --- sending, and what came of it ------------------------------------------------------------------------------------


def _send(sql: str, text: RemoteText, execution: Execution, found: Found) -> None:
    remote = execution.session.engine.remote
    assert remote is not None
    found.place.mount.check_writable()
    execution.query.engine = remote.name
    place = found.place
    try:
        remote.change(remote_statement(execution, text, sql, _NOTHING))
    finally:
        forget_table(place.mount.catalog, place.namespace, found.name)


def _made(found: Found, execution: Execution, change: Rewrite | None = None) -> Snapshot | None:
    """The snapshot that this statement made; None if it had nothing to change. One that only drops whole files is not
    signed: then it is the first that came after what the change read."""
    metadata = execution.resolver.fresh(found).handle.metadata
    for snapshot in reversed(metadata.snapshots):
        if snapshot.summary is not None and snapshot.summary["pinakes.query-id"] == execution.query.query_id:
            return snapshot
    before = None if change is None else change.table.handle.current_snapshot()
    if before is None:
        return None
    unsigned = [s for s in metadata.snapshots if s.summary is not None and s.summary["pinakes.query-id"] is None]
    return next((s for s in unsigned if s.parent_snapshot_id == before.snapshot_id), None)


def _summed(snapshot: Snapshot | None, key: str) -> int:
    return int((snapshot.summary[key] if snapshot is not None and snapshot.summary is not None else None) or 0)


def _counted_before(change: Rewrite, text: RemoteText, where: str, execution: Execution) -> int:
    """How many rows met the condition, in the very state of the table that was changed."""
    made = _made(change.found, execution, change)
    if made is None or made.parent_snapshot_id is None:
        return 0
    now = _target(change, text)
    old = f"{now} VERSION AS OF {made.parent_snapshot_id}"
    then = where.replace(f"{now} AS ", f"{old} AS ")  # a condition may ask the table itself
    return _count(f"SELECT count(*) AS `c0` FROM {old} AS {_ALIAS}{then}", text, execution)


def _count(sql: str, text: RemoteText, execution: Execution) -> int:
    remote = execution.session.engine.remote
    assert remote is not None
    schema = pa.schema([("count", pa.int64())])
    rows = remote.run(remote_statement(execution, text, sql, schema, is_large=False))
    return sum(value for batch in rows for value in batch.column(0).to_pylist() if value is not None)


def _table(text: RemoteText, found: Found, execution: Execution) -> str:
    """The name of a table that may not be there yet."""
    place: Place = found.place
    remote = text.catalog(place.mount.name)
    if remote is None:
        raise _unsaid(f"a change in catalog {place.mount.name}")
    text.add(remote)
    return ".".join(quoted(part) for part in (remote.name, *place.namespace, found.name))


def _target(change: Rewrite, text: RemoteText) -> str:
    found = text.table(change.relation)
    if found is None:
        raise _unsaid(f"a change of {change.found}")
    return found


def _check_branch(name: Name) -> None:
    if name.branch is not None:
        raise _unsaid("a change of a branch")


def _unsaid(what: str) -> NotSupportedError:
    return NotSupportedError(f"{what} can't run on Spark. SET engine = 'local'.")


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
