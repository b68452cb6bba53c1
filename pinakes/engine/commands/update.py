"""UPDATE table [AS alias] SET column = expression, … [FROM …] [WHERE …]: the rows that match change, in one commit.

The files that hold matching rows are written anew, or the rows are marked and written once more, as the table wants it
(`write.update.mode`).
"""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.names import quote
from pinakes.engine.commands.counted import counted
from pinakes.engine.commands.remote_dispatch import elsewhere
from pinakes.engine.iceberg.write.assignments import assigned, value_types
from pinakes.engine.iceberg.write.cast_errors import naming_misfits
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.matching import matching
from pinakes.engine.iceberg.write.merge import Clause, merge_into
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite
from pinakes.engine.iceberg.write.shape import cast, planned_type, type_name
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Update

FEW_ROWS = 10_000
"""Rows of a small table: to read them all takes no longer than a plan that shows which files can be left out."""


def update(statement: Update, execution: Execution) -> Result:
    rows = elsewhere(statement, execution)
    if rows is not None:
        return counted(statement, "UPDATE", rows)
    found = execution.resolver.find(statement.target.name, kind="TABLE")
    change = _update if statement.source is None else _update_from
    return counted(statement, "UPDATE", again(lambda: change(statement, execution), found))


def _update(statement: Update, execution: Execution) -> int:
    change = Rewrite.of(execution, statement, statement.target)
    on_read = change.is_merge_on_read("update")
    values = assigned(statement.assignments, change)
    where = f" WHERE {change.text(statement.where)}\n" if statement.where is not None else ""
    is_small = not change.scan.is_worth_narrowing and sum(change.files.row_counts) <= FEW_ROWS
    change.narrow(range(len(change.files)) if is_small else change.wanted(f"{change.sql}{where}"))
    types = value_types(change, values)
    places = change.places(f"{change.sql}{where}")
    if not places.num_rows:
        return 0
    touched = change.touched(places)
    select = ", ".join(_value(change, c, values, types) for c in change.columns)
    sql = f"SELECT {select}{change.changed_lineage(TARGET)} FROM {touched}"
    # The rows that stay come with the others, if their columns are of one type: a nested value gets its own when it is
    # written.
    complete = not on_read and all(type_name(planned_type(change.type_of(c))) is not None for c in values)
    _, left = change.divided(places)
    if complete and left.num_rows:
        sql += f" UNION ALL {change.untouched(left)}"
    with naming_misfits(change, [(values, touched)]):
        rows = execution.batches(change.planner.plan(sql, statement))
        change.apply(places, rows, on_read=on_read, complete=complete)
    return int(places.num_rows)


def _update_from(statement: Update, execution: Execution) -> int:
    """A join decides which rows change, as in MERGE: a row that is met twice is an error."""
    change = Rewrite.of(execution, statement, statement.target)
    on_read = change.is_merge_on_read("update")
    assert statement.source is not None
    source = change.text(statement.source)
    on = "TRUE"
    if statement.where is not None:
        on = change.text(statement.where)
    plain = "(" not in statement.source.of(statement.text)  # tables alone give the same rows whenever they are asked
    change.narrow(matching(change, source, source if plain else None, on))
    clause = Clause("MATCHED", "UPDATE", None, assigned(statement.assignments, change))
    return merge_into(change, source, on, [clause], on_read=on_read)


def _value(change: Rewrite, column: str, values: dict[str, str], types: dict[str, pa.DataType]) -> str:
    if column not in values:
        return f"{quote(TARGET)}.{quote(column)}"
    new = cast(f"({values[column]}\n)", types[column], change.type_of(column))
    return f"{new} AS {quote(column)}"
