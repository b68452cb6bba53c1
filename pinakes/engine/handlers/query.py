"""SELECT [DISTINCT] … [FROM …] [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n] [OFFSET n], and VALUES (…), …
alone; WITH name AS (query), … may stand before: the rows come as they are found. A table may be a file: FROM 'x.csv'.

Planned and streamed by DataFusion.
"""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Query


def query(statement: Query, execution: Execution) -> Result:
    return execution.stream(execution.planner().query(statement))
