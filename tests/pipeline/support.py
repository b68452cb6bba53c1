"""The same statement on both engines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psutil
import pyarrow as pa

from pinakes.core.errors import NotSupportedError
from pinakes.engine.session import Session
from pinakes.parser.statements import Query

PATIENCE = 400.0
"""Seconds that a test waits for something before it fails: processes of Java are slow to start on a busy machine."""

VALUES = """CREATE TABLE p AS SELECT * FROM (VALUES
  (CAST(1 AS INT), CAST(10 AS BIGINT), 2.5, CAST(1.25 AS DECIMAL(15,2)), 'Hello World', DATE '2024-01-07',
   TIMESTAMP '2024-02-29 13:14:15.678901', true),
  (-7, -3, -1.5, CAST(-2.35 AS DECIMAL(15,2)), 'äöü ß', DATE '1969-12-31', TIMESTAMP '1969-07-20 20:17:40', false),
  (0, 0, 0.0, CAST(0 AS DECIMAL(15,2)), '', DATE '2000-02-29', TIMESTAMP '2000-01-01 00:00:00', NULL),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (2147483647, 9007199254740993, 1e10, CAST(9999999.99 AS DECIMAL(15,2)), E'a,b,c\\nd', DATE '2024-12-31',
   TIMESTAMP '2024-12-31 23:59:59', true),
  (5, 4, 0.5, CAST(0.05 AS DECIMAL(15,2)), '  padded  ', DATE '1999-07-04', TIMESTAMP '2023-03-26 02:30:00', false)
) AS t(i, l, x, q, s, d, ts, b)"""


def javas(under: int, running: str) -> list[psutil.Process]:
    """The processes of Java below a process, however deep, that have a word in their command."""
    found = []
    for process in psutil.Process(under).children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if process.name() == "java" and running in " ".join(process.cmdline()):
                found.append(process)
    return found


def beside(call: Callable[[], Any]) -> Future[Any]:
    """A call on a thread of its own."""
    with_one = ThreadPoolExecutor(1)
    try:
        return with_one.submit(call)
    finally:
        with_one.shutdown(wait=False)


def eventually(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """What `condition` gives once it gives something true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited in vain for {what}")


def on_spark(session: Session, sql: str, parameters: Any = None) -> pa.Table:
    session.run("SET engine = 'spark'").read_all()
    try:
        return session.run(sql, parameters).read_all()
    finally:
        session.run("SET engine = 'local'").read_all()


def refusal(session: Session, sql: str, parameters: Any = None) -> str | None:
    """Why a query is not let through to Spark; None if it is. Nothing is run."""
    from pinakes.engine.datafusion.plan_schema import schema_of
    from pinakes.engine.remote.text import RemoteText
    from pinakes.engine.session import as_mapping
    from pinakes.engine.statement_context import Execution

    statement = session.engine.caches.statements.classify(sql)
    assert isinstance(statement, Query)
    query = session.engine.tracker.start("test", "", 0)
    execution = Execution(session, query, sql, as_mapping(parameters))
    try:
        planner = execution.planner()
        schema = schema_of(planner.query(statement).frame)
        RemoteText(execution, planner).query(statement, None, schema)
    except NotSupportedError as error:
        return error.message
    finally:
        execution.scope.close()
        query.end()
    return None


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


def differences(here: pa.Table, there: pa.Table) -> list[str]:
    """The columns whose values are not the same, with both."""
    assert here.schema.equals(there.schema), (here.schema, there.schema)
    found = []
    for at, name in enumerate(here.column_names):
        ours, theirs = here.column(at).to_pylist(), there.column(at).to_pylist()
        if len(ours) != len(theirs) or not all(map(same, ours, theirs)):
            found.append(f"{name}: {ours} here, {theirs} on Spark")
    return found
