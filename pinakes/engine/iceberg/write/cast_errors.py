"""Finds the value that a failed cast could not convert, since DataFusion's error names neither column nor row.

The query runs a second time, up to the row in question, with casts that return NULL instead of failing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema

from pinakes.core.errors import ExecutionError, PinakesError
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.rewrite import Rewrite
from pinakes.engine.iceberg.write.shape import misfits, positions
from pinakes.engine.planning.planner import Planner
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Planned, Query

_LONGEST = 60


def misfit(
    execution: Execution, planner: Planner, query: str, sources: Mapping[str, tuple[str, pa.DataType]], schema: Schema
) -> str | None:
    """Describes the first value that cannot be cast; None if there is none.

    `sources` maps each column of the table to the column of `src(c0, c1, …)` that fills it, and its type.
    """
    zone = execution.session.settings.time_zone
    types = {name: arrow_type_of(schema.find_field(name).field_type, zone) for name in sources}
    texts = {name: misfits(sql, source, types[name]) for name, (sql, source) in sources.items()}
    names = [name for name, text in texts.items() if text]
    if not names:
        return None
    select = ", ".join(f"{texts[name]} AS m{i}" for i, name in enumerate(names))
    aliases = ", ".join(f'"c{i}"' for i in range(len(sources)))
    sql = f'SELECT {select} FROM ({query}\n) AS "src"({aliases})'
    return _first(execution, planner, Query(text=sql, shown="INSERT"), {name: types[name] for name in names})


@contextmanager
def naming_misfits(change: Rewrite, sets: Iterable[tuple[Mapping[str, str], str]]) -> Iterator[None]:
    """Adds column and row to cast errors of the block.

    Each element of `sets` has new values by column of the target, and the FROM clause with WHERE that they are read
    from.
    """
    try:
        yield
    except ExecutionError as error:
        found_misfit = next(
            (found_misfit for values, source in sets if (found_misfit := _misfit_of(change, values, source))), None
        )
        if found_misfit is None:
            raise
        raise ExecutionError(found_misfit) from error


def _misfit_of(change: Rewrite, values: Mapping[str, str], source: str) -> str | None:
    body = f"SELECT {', '.join(f'({value}{chr(10)})' for value in values.values())} FROM {source}"
    try:
        plan = change.plan(body)
        sources = positions(list(values), schema_of(plan.frame))
        return misfit(
            change.execution, change.planner, f"{change.leading}{body}", sources, change.table.handle.schema()
        )
    except PinakesError:
        return None  # another part of the statement failed: keep its error


def _first(execution: Execution, planner: Planner, query: Planned, types: Mapping[str, pa.DataType]) -> str | None:
    before = 0
    for batch in execution.batches(planner.plan(query.text, query)):
        places = [pc.index(column.is_valid(), True).as_py() for column in batch.columns]
        found = min(
            ((place, name, n) for n, (place, name) in enumerate(zip(places, types, strict=True)) if place >= 0),
            default=None,
        )
        if found is not None:
            place, name, number = found
            value = batch.column(number)[place].as_py()
            shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
            kind = sql_name_of_arrow(types[name])
            return f"column {name!r} is {kind}, and {shown!r} does not fit, in row {before + place + 1}"
        before += batch.num_rows
    return None
