"""UPDATE table [AS alias] SET column = expression, … [FROM …] [WHERE …]: the rows that match change, in one commit.

The files that hold matching rows are written anew, or the rows are marked and written once more, as the table wants it
(`write.update.mode`).
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from pinakes.core.errors import ColumnExists, ColumnNotFound, NotSupportedError, listing
from pinakes.core.names import match, quote
from pinakes.engine.commands.counted import counted
from pinakes.engine.commands.remote_dispatch import elsewhere
from pinakes.engine.iceberg.write.cast_errors import naming_misfits
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.matching import matching
from pinakes.engine.iceberg.write.merge import Clause, merge_into
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite
from pinakes.engine.iceberg.write.shape import cast
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Assignment, Update


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
    change.narrow(change.wanted(f"{change.sql}{where}"))
    types = value_types(change, values)
    places = change.places(f"{change.sql}{where}")
    if not places.num_rows:
        return 0
    touched = change.touched(places)
    select = ", ".join(_value(change, c, values, types) for c in change.columns)
    select += change.changed_lineage(TARGET)
    with naming_misfits(change, [(values, touched)]):
        changed = change.planner.plan(f"SELECT {select} FROM {touched}", statement)
        change.apply(places, execution.batches(changed), on_read=on_read)
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


def assigned(assignments: Sequence[Assignment], change: Rewrite) -> dict[str, str]:
    """The SQL text of each assigned value, by the exact name of its column."""
    values: dict[str, str] = {}
    for assignment in assignments:
        if len(assignment.column) > 1 and match(assignment.column[0], change.columns, "column") is not None:
            raise NotSupportedError("fields within a column cannot be set alone; set the whole column")
        part = assignment.column[-1]
        name = match(part, change.columns, "column")
        if name is None:
            raise ColumnNotFound(f"column {part} does not exist; there is: {listing(change.columns)}")
        if name in values:
            raise ColumnExists(f"column {part} is set twice")
        values[name] = change.text(assignment.value)
    return values


def value_types(change: Rewrite, values: dict[str, str]) -> dict[str, pa.DataType]:
    """The types that DataFusion finds for the values."""
    if not values:
        return {}
    text = ", ".join(f"({sql}\n) AS {quote(name)}" for name, sql in values.items())
    frame = change.planner.plan(f"SELECT {text} FROM {change.sql}", change.statement)
    return {f.name: f.type for f in schema_of(frame)}


def _value(change: Rewrite, column: str, values: dict[str, str], types: dict[str, pa.DataType]) -> str:
    if column not in values:
        return f"{quote(TARGET)}.{quote(column)}"
    new = cast(f"({values[column]}\n)", types[column], change.type_of(column))
    return f"{new} AS {quote(column)}"
