"""Changes on a remote engine: INSERT, CREATE TABLE AS, DELETE, UPDATE and MERGE, one commit each, as in this engine.

Names, types and texts are those of the local change (`engine/commands/`, `engine/iceberg/write/rewrite.py`); the
statement for the remote engine is composed of their translations. Its snapshot has the query's id as a property, by
which it is found: then cached metadata of the table is dropped, and the rows are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.iceberg_metadata import summary_number
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.assignments import assigned, filled_columns, value_types
from pinakes.engine.iceberg.write.checks import refuse_checked
from pinakes.engine.iceberg.write.rewrite import Rewrite
from pinakes.engine.remote.create_table import create, typed
from pinakes.engine.remote.engine_selection import run_remotely
from pinakes.engine.remote.sending import (
    ALIAS,
    check_branch,
    counted_before,
    made_by,
    send,
    table_name,
    target_name,
    unsaid,
)
from pinakes.engine.remote.text import RemoteText, quoted
from pinakes.parser.spark.assignment import assigned_type
from pinakes.parser.statements import CreateTableAs, Delete, Insert, Merge, Update

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.statement_context import Execution

Change = Insert | CreateTableAs | Delete | Update | Merge


def change_remotely(statement: Change, execution: Execution) -> int | None:
    """The number of rows that a change on another engine changed; None if it is to be carried out here."""
    return run_remotely(lambda: _change(statement, execution), execution)


def _change(statement: Change, execution: Execution) -> int:
    if isinstance(statement, Update | Delete | Merge) and statement.leading is not None:
        raise unsaid(f"{statement.kind.upper()} with WITH before it")
    if not isinstance(statement, CreateTableAs) and statement.returned is not None:
        raise unsaid("RETURNING, other than RETURNING count(*),")
    if isinstance(statement, Insert) and statement.conflict is not None:
        raise unsaid("INSERT with ON CONFLICT")
    match statement:
        case Insert():
            return _insert(statement, execution)
        case CreateTableAs():
            return create(statement, execution)
        case Delete():
            return _delete(statement, execution)
        case Update():
            return _update(statement, execution)
        case Merge():
            return _merge(statement, execution)


# --- rows that are added ---------------------------------------------------------------------------------------------


def _insert(statement: Insert, execution: Execution) -> int:
    if statement.partition or statement.body is None:
        raise unsaid("INSERT with PARTITION or DEFAULT VALUES")
    found, table = execution.resolver.table(statement.target.name)
    check_branch(statement.target.name)
    refuse_checked(table.handle.properties, "Spark")
    schema, planner = table.handle.schema(), execution.planner()
    planned = schema_of(planner.query(statement, statement.body).frame)
    columns = filled_columns(statement, schema, planned)
    text = RemoteText(execution, planner)
    rows = text.query(statement, statement.body, planned)
    values = typed(planned, columns, schema, execution)
    into = _into(statement, table, table_name(text, found, execution), execution)
    listed = ", ".join(map(quoted, columns))
    send(f"{into} ({listed}) SELECT {', '.join(values)} FROM ({rows})", text, execution, found)
    return summary_number(made_by(found, execution), "added-records")


def _into(statement: Insert, table: IcebergTable, name: str, execution: Execution) -> str:
    """How rows are written: appended, in place of all rows, or of those in the same partitions."""
    if not statement.overwrite:
        return f"INSERT INTO {name}"
    mode = execution.session.settings.partition_overwrite_mode
    if mode == "static" or table.handle.spec().is_unpartitioned():
        return f"INSERT OVERWRITE {name}"
    return f"INSERT OVERWRITE {name} WITH ('overwrite-mode' = 'dynamic')"


# --- rows that are changed -------------------------------------------------------------------------------------------


def _delete(statement: Delete, execution: Execution) -> int:
    if statement.source is not None:
        raise unsaid("DELETE with USING")
    change, text = _changing(statement, execution)
    where = _where(statement, change, text)
    send(f"DELETE FROM {target_name(change, text)} AS {ALIAS}{where}", text, execution, change.found)
    return counted_before(change, text, where, execution)


def _update(statement: Update, execution: Execution) -> int:
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
    if not isinstance(statement, Delete):
        refuse_checked(change.table.handle.properties, "Spark")
    return change, RemoteText(execution, change.planner)


def _where(statement: Delete | Update, change: Rewrite, text: RemoteText) -> str:
    if statement.where is None:
        return ""
    condition = change.text(statement.where)
    change.planner.plan(f"SELECT 1 FROM {change.sql} WHERE {condition}\n", statement)  # reports its errors here
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
    from pinakes.engine.remote.merge import merged

    change, text = _changing(statement, execution)
    send(merged(statement, change, text, target_name(change, text)), text, execution, change.found)
    made = made_by(change.found, execution, change)
    counts = (f"spark.merge-into.num-target-rows-{what}" for what in ("inserted", "updated", "deleted"))
    return sum(summary_number(made, count) for count in counts)
