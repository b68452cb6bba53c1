"""A table as it was: the relation behind FOR VERSION AS OF and FOR TIMESTAMP AS OF."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument
from pinakes.engine.binding.relation import Relation, path_of
from pinakes.engine.iceberg.scan.time_travel import at_time, at_version, version_of
from pinakes.parser import classify
from pinakes.parser.splice import Edit, splice
from pinakes.parser.statements import AsOf, Planned, Query, TableRef

if TYPE_CHECKING:
    from pinakes.engine.binding.binder import Relations
    from pinakes.engine.statement_context import Execution


def as_of(relations: Relations, ref: TableRef, clause: AsOf, statement: Planned) -> Relation:
    """A table as it was. It is another relation than the table as it is."""
    worker = _of_worker(relations, ref, clause, statement) if ref.call is None else None
    if worker is not None:
        return worker
    now = relations.glanced(ref.name) if ref.call is None else None
    if now is None or now.table is None:
        raise InvalidArgument(f"{ref.name} has no versions: AS OF is for tables of a catalog")
    if clause.kind == "version":
        then = at_version(now.table, version_of(_version(relations.execution, clause, statement)))
    else:
        then = at_time(now.table, _moment(relations.execution, clause, statement))
    metadata = then.handle.metadata
    name = f"{now.key[2]}@{metadata.current_snapshot_id}:{metadata.current_schema_id}"
    key = (now.key[0], now.key[1], name)
    known = relations.known(key)
    return known or relations.add(replace(relations.iceberg(key, then), full_name=now.path))


def _of_worker(relations: Relations, ref: TableRef, clause: AsOf, statement: Planned) -> Relation | None:
    """A table of a worker: the version or time is passed to the worker, which interprets it."""
    found = relations.worker_table(ref.name)
    if found is None:
        return None
    from pinakes.engine.workers.tables import worker_relation

    key, table = found
    if clause.kind == "version":
        at = ("VERSION", str(_version(relations.execution, clause, statement)))
    else:
        at = ("TIMESTAMP", _moment(relations.execution, clause, statement).isoformat())
    then = (key[0], key[1], f"{key[2]}@{at[0]}:{at[1]}")
    known = relations.known(then)
    return known or relations.add(replace(worker_relation(relations, then, table, at), full_name=path_of(key)))


def _version(execution: Execution, clause: AsOf, statement: Planned) -> object:
    written = clause.value.of(statement.text)
    if written.isidentifier():
        return written
    if written.startswith('"'):
        return written[1:-1].replace('""', '"')
    return _constant(execution, clause, statement, "{}")


def _moment(execution: Execution, clause: AsOf, statement: Planned) -> datetime:
    moment = _constant(execution, clause, statement, "CAST({} AS TIMESTAMPTZ)")
    if not isinstance(moment, datetime):
        raise InvalidArgument("FOR TIMESTAMP AS OF needs a time, such as TIMESTAMP '2024-01-31 12:00:00'")
    return moment


def _constant(execution: Execution, clause: AsOf, statement: Planned, form: str) -> object:
    """The value of the clause's operand, which may hold parameters."""
    edits = [Edit(p.span.start, p.span.end, f"${p.name}") for p in statement.placeholders]
    within = [e for e in edits if clause.value.start <= e.start and e.end <= clause.value.end]
    source = classify(f"SELECT {form.format(splice(statement.text, within, clause.value).text)} AS v")
    if not isinstance(source, Query) or source.tables:
        raise InvalidArgument(f"AS OF needs a constant, not {clause.value.of(statement.text)}")
    return execution.collect(execution.planner().query(source)).column(0)[0].as_py()
