"""EXPLAIN [ANALYZE] FULL [FORMAT JSON] query: which files of each table it reads and why, what is at hand in caches,
and each operator with its estimates; with ANALYZE it is run, and what came of it stands beside.

INSERT, CREATE TABLE AS and COPY … TO are explained by the query in them, and never carried out.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.engine.commands.explained import query_in
from pinakes.engine.explain.collect import Explaining
from pinakes.engine.explain.document import document
from pinakes.engine.explain.rows import SCHEMA, rows
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ExplainFull

_JSON = pa.schema([("plan", pa.string())])
_FORMATS = ("TEXT", "JSON")


def explain_full(statement: ExplainFull, execution: Execution) -> Result:
    """Planned at once, run when the result is read."""
    is_json = _format(statement) == "JSON"
    explaining = Explaining.of(execution, statement, query_in(statement, execution), analyze=statement.analyze)
    return Result(_JSON if is_json else SCHEMA, _told(explaining, is_json=is_json))


def _told(explaining: Explaining, *, is_json: bool) -> Iterator[pa.RecordBatch]:
    if explaining.analyzed:
        explaining.run()
    facts = explaining.facts()
    if is_json:
        yield pa.record_batch([pa.array([document(facts)])], schema=_JSON)
        return
    columns = zip(*rows(facts), strict=True)
    yield pa.record_batch([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)


def _format(statement: ExplainFull) -> str:
    wanted = (statement.format or "TEXT").upper()
    if wanted not in _FORMATS:
        raise InvalidArgument(f"EXPLAIN FULL has no format {wanted}; there is: {', '.join(_FORMATS)}")
    return wanted
