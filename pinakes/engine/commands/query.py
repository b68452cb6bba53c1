"""SELECT [DISTINCT] … [FROM …] [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n] [OFFSET n], and VALUES (…), …
alone; WITH name AS (query), … may stand before: the rows come as they are found. A table may be a file: FROM 'x.csv'.

Planned by DataFusion, and streamed by it, or by another engine (`engine/remote/engine_selection.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.caches.reads import Reads
from pinakes.engine.execution.result_cache import remember, remembered
from pinakes.engine.execution.stale_file_retry import planned, watched
from pinakes.engine.planning.plan_cache import key_of, ready
from pinakes.engine.remote.engine_selection import LOCAL, wanted_engine
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Query

if TYPE_CHECKING:
    import pyarrow as pa
    from datafusion import DataFrame


def query(statement: Query, execution: Execution) -> Result:
    wanted = wanted_engine(statement, execution.session.settings)
    if wanted != LOCAL:
        from pinakes.engine.remote.query import remote_query

        found = remote_query(statement, execution, wanted)
        if found is not None:
            return found
    return _local(statement, execution)


def _local(statement: Query, execution: Execution) -> Result:
    key = key_of(statement, statement.text, execution)
    if key is None:
        (frame, schema), reads = planned(lambda reads: _anew(statement, execution, reads), execution)
        return Result(schema, watched(execution.read(frame, schema), reads))
    found, reads = planned(lambda reads: ready(statement, key, execution, reads), execution)
    result = Result(found.schema, watched(execution.read(found.frame, found.schema), reads))
    if found.versions is None or not execution.session.settings.result_cache:
        return result
    cache = execution.session.engine.caches.results
    known = remembered(cache, key, found.versions)
    if known is not None:
        return known
    return remember(result, cache, key, found.versions, found.mounts)


def _anew(statement: Query, execution: Execution, reads: Reads) -> tuple[DataFrame, pa.Schema]:
    """A plan that nobody will use again."""
    with reads.collecting():
        return execution.ready(execution.planner().query(statement))
