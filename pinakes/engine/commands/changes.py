"""Changing rows: INSERT, UPDATE, DELETE, MERGE, TRUNCATE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyiceberg.schema import Schema

from pinakes.core.engines import LOCAL
from pinakes.core.errors import ColumnExists, ExecutionError, NotSupportedError, PinakesError
from pinakes.core.names import match, quote
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.scan.snapshot import files_of
from pinakes.engine.iceberg.write.append import append
from pinakes.engine.iceberg.write.assignments import (
    assigned,
    clause_of,
    filled_columns,
    remaining_columns,
    target_columns,
    value_types,
)
from pinakes.engine.iceberg.write.cast_errors import misfit, naming_misfits
from pinakes.engine.iceberg.write.commit import again, begin, commit
from pinakes.engine.iceberg.write.conflict import insert_or_update
from pinakes.engine.iceberg.write.full_file_delete import fully_deleted_files, live_rows
from pinakes.engine.iceberg.write.insert_overwrite import replace_all, replace_partitions, replace_where
from pinakes.engine.iceberg.write.loaded import forget
from pinakes.engine.iceberg.write.matching import matching
from pinakes.engine.iceberg.write.merge import Clause, merge_into
from pinakes.engine.iceberg.write.ordered import is_ordered, wrapped
from pinakes.engine.iceberg.write.overwrite import Files, overwrite
from pinakes.engine.iceberg.write.returning import Returned
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite, at_hand
from pinakes.engine.iceberg.write.shape import cast, planned_type, positions, shaped, type_name
from pinakes.engine.iceberg.write.static_partition import static_values
from pinakes.engine.iceberg.write.values import value_casts
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.splice import Edit
from pinakes.parser.statements import Conflict, Delete, Insert, Merge, Truncate, Update
from pinakes.parser.value_rows import value_rows


def insert(statement: Insert, execution: Execution) -> Result:
    """INSERT INTO | OVERWRITE table [PARTITION (column [= constant], …)] [(columns)] [BY NAME] query | VALUES (…), … |
    DEFAULT VALUES [ON CONFLICT [(columns)] DO NOTHING | DO UPDATE SET … [WHERE …]] [RETURNING count(*) | expression
    [AS name], … | *]: adds rows, or replaces rows, in one commit.

    Rows are streamed into new files. RETURNING returns the new rows, with their defaults, up to 64 MB; INSERT OVERWRITE
    has only RETURNING count(*). WITH may stand before the statement.

    ON CONFLICT compares new rows with all rows of the table by the named columns, or by the primary key. DO NOTHING
    leaves out new rows whose key exists; DO UPDATE changes the existing rows, and `excluded` is the new row. NULL in a
    key is equal to nothing. The new rows are kept in memory, up to 256 MB.
    """
    return _change_rows(statement, execution, "INSERT", partial(_insert, statement, execution))


def _insert(statement: Insert, execution: Execution, returned: Returned | None) -> int:
    try:
        if statement.conflict is not None:
            return _insert_on_conflict(statement, statement.conflict, execution, returned)
        return _write_rows(statement, execution, returned)
    except ExecutionError as error:
        message = _misfit_message(statement, execution)
        if message is None:
            raise
        raise ExecutionError(message) from error


def _misfit_message(statement: Insert, execution: Execution) -> str | None:
    """Names the value that does not fit its column, if that is what failed: the plan's error names neither column nor
    row."""
    _, table = execution.resolver.table(statement.target.name)
    schema, static = table.handle.schema(), static_values(statement, execution, table.handle)
    if statement.body is None:
        return None
    planner = execution.planner()
    try:
        body = planner.rewrite(statement, statement.body).text
        arrow = schema_of(planner.plan(body, statement).frame)
        sources = positions(filled_columns(statement, schema, arrow, static), arrow)
        return misfit(execution, planner, body, sources, schema)
    except PinakesError:
        return None  # DEFAULT and streams can't be planned this way: the original error is raised


def _write_rows(statement: Insert, execution: Execution, returned: Returned | None) -> int:
    found, table = execution.resolver.table(statement.target.name)
    execution.query.touch(found.place.mount.name)
    static = static_values(statement, execution, table.handle)
    rows, ordered = _insert_rows(statement, execution, table.handle.schema(), static)
    if returned is not None:
        returned.start(found, table)
        rows = returned.watch(rows, "INSERT")
    if not statement.overwrite:
        return append(table, found, rows, partial(_before_commit, execution, returned), ordered=ordered)
    if table.handle.spec().is_unpartitioned():
        return replace_all(table, found, rows, execution.query.check, ordered=ordered)
    if execution.session.settings.partition_overwrite_mode == "dynamic":
        return replace_partitions(table, found, rows, execution.query.check)
    if static:
        return replace_where(statement, execution, static, rows)
    return replace_all(table, found, rows, execution.query.check)


def _insert_on_conflict(statement: Insert, conflict: Conflict, execution: Execution, returned: Returned | None) -> int:
    change = Rewrite.of(execution, conflict, statement.target, returned)
    rows, _ = _insert_rows(statement, execution, change.table.handle.schema(), {})
    return insert_or_update(change, conflict, rows)


def _before_commit(execution: Execution, returned: Returned | None) -> None:
    if returned is not None:
        returned.compute()
    execution.query.check()


def _insert_rows(
    statement: Insert, execution: Execution, schema: Schema, static: Mapping[str, str]
) -> tuple[Iterator[pa.RecordBatch], bool]:
    """The rows with the table's columns, and whether the query orders them. `static` has the constants that PARTITION
    gives, by column."""
    planner = execution.planner()
    zone = execution.session.settings.time_zone
    given = {name: (sql, arrow_type_of(schema.find_field(name).field_type, zone)) for name, sql in static.items()}
    if statement.body is None:
        return execution.batches(planner.plan(f"SELECT {shaped(schema, given, zone)}", statement)), False
    body = planner.rewrite(statement, statement.body, also=_value_casts(statement, schema, zone, static))
    if value_rows(statement):
        types = planner.types(body.text, statement, body.locate)
        arrow = pa.schema([(f"column{i}", type) for i, type in enumerate(types, 1)])
        source, ordered = f"(\n{body.text}\n)", False
    else:
        frame = planner.plan(body.text, statement, body.locate).frame
        arrow, source, ordered = schema_of(frame), wrapped(body.text, frame), is_ordered(frame)
    columns = filled_columns(statement, schema, arrow, static)
    aliases = ", ".join(f'"c{i}"' for i in range(len(columns)))
    before = f"SELECT {shaped(schema, {**positions(columns, arrow), **given}, zone)} FROM "
    lines = before.count("\n") + 1
    plan = planner.plan(
        f'{before}{source} AS "src"({aliases})', statement, lambda line, column: body.locate(line - lines, column)
    )
    return execution.batches(plan), ordered


def _value_casts(statement: Insert, schema: Schema, zone: str, static: Mapping[str, str]) -> list[Edit]:
    if statement.by_name:
        return []
    names = remaining_columns(schema, static)
    duplicates = [name for name in static if any(match(part, [name], "column") for part in statement.columns)]
    if duplicates:
        raise ColumnExists(f"column {duplicates[0]} has its value in PARTITION already: leave it out of the columns")
    columns = target_columns(statement.columns, names) if statement.columns else names
    return value_casts(statement, columns, schema, zone)


_FEW_ROWS = 10_000
"""Rows of a small table: reading all of them takes no longer than planning which files can be pruned."""


def update(statement: Update, execution: Execution) -> Result:
    """UPDATE table [AS alias] SET column = expression, … [FROM …] [WHERE …] [RETURNING …]: changes the matching
    rows in one commit.

    RETURNING returns the new values of the table's columns, not those of FROM. WITH may stand before the statement.
    Files with matching rows are rewritten. With merge-on-read (table property `write.update.mode`), the old rows are
    marked as deleted and the new rows are added.
    """
    change = _update if statement.source is None else _update_from
    return _change_rows(statement, execution, "UPDATE", partial(change, statement, execution))


def _update(statement: Update, execution: Execution, returned: Returned | None) -> int:
    change = Rewrite.of(execution, statement, statement.target, returned)
    on_read = change.is_merge_on_read("update")
    values = assigned(statement.assignments, change)
    where = f" WHERE {change.text(statement.where)}\n" if statement.where is not None else ""
    is_small = not change.scan.is_worth_narrowing and sum(change.files.row_counts) <= _FEW_ROWS
    change.narrow(range(len(change.files)) if is_small else change.wanted(f"{change.sql}{where}"))
    types = value_types(change, values)
    places = change.places(f"{change.sql}{where}")
    if not places.num_rows:
        return 0
    touched = change.touched(places)
    select = ", ".join(_updated_value(change, c, values, types) for c in change.columns)
    sql = f"SELECT {select}{change.changed_lineage(TARGET)} FROM {touched}"
    # Unchanged rows are read with the changed ones if the types agree. A nested value is cast when it is written.
    # Rows to return are read alone.
    complete = (
        not on_read and returned is None and all(type_name(planned_type(change.type_of(c))) is not None for c in values)
    )
    _, left = change.divided(places)
    if complete and left.num_rows:
        sql += f" UNION ALL {change.untouched(left)}"
    with naming_misfits(change, [(values, touched)]):
        rows = execution.batches(change.plan(sql))
        if returned is not None:
            rows = returned.watch(rows, "UPDATE")
        change.apply(places, rows, on_read=on_read, complete=complete)
    return int(places.num_rows)


def _update_from(statement: Update, execution: Execution, returned: Returned | None) -> int:
    """A join decides which rows change, as in MERGE: it is an error if a row matches twice."""
    change = Rewrite.of(execution, statement, statement.target, returned)
    on_read = change.is_merge_on_read("update")
    assert statement.source is not None
    source = change.text(statement.source)
    on = "TRUE"
    if statement.where is not None:
        on = change.text(statement.where)
    plain = "(" not in statement.source.of(statement.text)  # tables alone return the same rows each time
    change.narrow(matching(change, source, source if plain else None, on))
    clause = Clause("MATCHED", "UPDATE", None, assigned(statement.assignments, change))
    return merge_into(change, source, on, [clause], on_read=on_read)


def _updated_value(change: Rewrite, column: str, values: dict[str, str], types: dict[str, pa.DataType]) -> str:
    if column not in values:
        return f"{quote(TARGET)}.{quote(column)}"
    new = cast(f"({values[column]}\n)", types[column], change.type_of(column))
    return f"{new} AS {quote(column)}"


def delete(statement: Delete, execution: Execution) -> Result:
    """DELETE FROM table [AS alias] [USING …] [WHERE …] [RETURNING …]: deletes the matching rows in one commit.

    RETURNING returns the deleted rows. WITH may stand before the statement.
    Files whose rows all match according to the metadata are removed without reading them. Other files with matching
    rows are rewritten, or with merge-on-read (table property `write.delete.mode`) the rows are marked as deleted.
    """
    return _change_rows(statement, execution, "DELETE", partial(_delete, statement, execution))


def _delete(statement: Delete, execution: Execution, returned: Returned | None) -> int:
    change = Rewrite.of(execution, statement, statement.target, returned)
    on_read = change.is_merge_on_read("delete")
    source = f"{change.text(statement.source)}\n CROSS JOIN " if statement.source is not None else ""
    where = f" WHERE {change.text(statement.where)}\n" if statement.where is not None else ""
    matched = f"{source}{change.sql}{where}"
    candidates = set(change.wanted(matched))
    whole = set() if returned is not None else _fully_deleted_files(statement, change, candidates)
    change.narrow(candidates - whole)
    places = change.places(matched)
    count = int(places.num_rows) + live_rows(change, whole)
    if count:
        if returned is not None:
            change.return_old(places)
        change.apply(places, whole=whole, on_read=on_read)
    return count


def _fully_deleted_files(statement: Delete, change: Rewrite, candidates: set[int]) -> set[int]:
    if statement.source is not None:
        return set()
    if statement.where is None:
        return fully_deleted_files(change, candidates, None)
    # A condition that reads other tables can't be negated to find the rows that stay.
    return set() if statement.tables else fully_deleted_files(change, candidates, change.text(statement.where))


def merge(statement: Merge, execution: Execution) -> Result:
    """MERGE INTO table [AS alias] USING table | (query) [AS alias] ON condition WHEN [NOT] MATCHED [BY SOURCE] [AND
    condition] THEN UPDATE SET column = expression, … | DELETE | INSERT [(columns)] VALUES (…) | DO NOTHING …
    [RETURNING …]: changes, deletes and adds rows in one commit.

    RETURNING returns the new or deleted rows of the table; merge_action() is INSERT, UPDATE or DELETE. WITH may stand
    before the statement.
    """
    return _change_rows(statement, execution, "MERGE", partial(_merge, statement, execution))


_UNSTEADY = re.compile(r"\b(rand|random|uuid|gen_random_uuid|uuid_generate_v4|uuidv4|uuidv7)\s*\(", re.IGNORECASE)


def _check_leading(statement: Update | Delete | Merge) -> None:
    """Refuses random values in the WITH before a statement: each query of a change computes the WITH for itself."""
    text = statement.leading.of(statement.text) if statement.leading is not None else ""
    found = _UNSTEADY.search(text)
    if found:
        raise NotSupportedError(
            f"{found.group(1).lower()}() can't stand in the WITH of a change, where it would be computed more than "
            f"once: store its rows with CREATE TABLE … AS first"
        )


def _merge(statement: Merge, execution: Execution, returned: Returned | None) -> int:
    change = Rewrite.of(execution, statement, statement.target, returned)
    on_read = change.is_merge_on_read("merge")
    source = _merge_source(statement, change)
    on = change.text(statement.on)
    files = set(matching(change, change.text(statement.source), source, on))
    clauses = [clause_of(c, statement, change, source) for c in statement.clauses]
    unmatched = [c.condition for c in clauses if c.when == "NOT MATCHED BY SOURCE"]
    if unmatched:  # also the files that can hold a row which such a clause takes
        where = "TRUE" if None in unmatched else " OR ".join(f"({condition}\n)" for condition in unmatched)
        files |= set(change.wanted(f"{change.sql} WHERE {where}"))
    change.narrow(files)
    return merge_into(change, source, on, clauses, on_read=on_read)


def _merge_source(statement: Merge, change: Rewrite) -> str:
    """The source as text of a FROM clause. A query runs once and its rows are kept, since they are used several times
    and a second run might return others. A table is read at one snapshot anyway."""
    text = change.text(statement.source)
    table = any(ref.span.start == statement.source.start for ref in statement.tables)
    if table or statement.source_alias is None:
        return text
    rows = change.execution.collect(change.plan(f"SELECT * FROM {text}"))
    return f"{change.planner.add(at_hand(rows, 'source')).sql} AS {quote(statement.source_alias.exact)}"


def truncate(statement: Truncate, execution: Execution) -> Result:
    """TRUNCATE [TABLE] name: deletes all rows in one commit.

    Only metadata is read and written. Files loaded by COPY INTO can be loaded again.
    """
    found = execution.resolver.find(statement.name, kind="TABLE")

    def empty() -> None:
        _, table = execution.resolver.table(statement.name)
        if len(files_of(table, execution.session.manifests)):
            transaction = begin(table)
            forget(transaction)
            overwrite(transaction, Files(everything=True))
            commit(transaction, found.place, found.name)

    again(empty, found)
    return Result.done("TRUNCATE")


def _change_rows(
    statement: Insert | Update | Delete | Merge,
    execution: Execution,
    tag: str,
    change: Callable[[Returned | None], int],
) -> Result:
    """Runs a change on the selected engine, and here again after a lost race. The result is the number of rows: a row
    of it for RETURNING count(*), else with the tag; or the rows of RETURNING."""
    if not isinstance(statement, Insert):
        _check_leading(statement)
    count = _change_remotely(statement, execution)
    returned = Returned.of(statement, execution)
    if count is None:
        count = again(partial(change, returned), execution.resolver.find(statement.target.name, kind="TABLE"))
    if returned is not None:
        return returned.result(count)
    if not statement.returning:
        return Result.done(tag, count)
    result = Result.rows(pa.schema([("count", pa.int64())]), [(count,)])
    result.count = count
    return result


def _change_remotely(statement: Insert | Update | Delete | Merge, execution: Execution) -> int | None:
    if execution.engine.engine == LOCAL:
        return None
    from pinakes.engine.remote.changes import change_remotely

    return change_remotely(statement, execution)
