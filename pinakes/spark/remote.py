"""Spark as the remote engine of `engine/remote/interface.py`. Read this first.

RemoteStatement -> a server (`local_server.py`, or the one of the configuration) -> a session on it (`connect.py`) with
the settings of the catalogs (`catalogs.py`) -> a thread that runs the statement (`running.py`) -> rows, through files
for large results (`spool.py`)
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.core.errors import NotSupportedError
from pinakes.engine.remote.interface import HandedOver, RemoteCatalog, RemoteNode, RemoteStatement, RemoteTask
from pinakes.spark.catalogs import jars_of, settings_of
from pinakes.spark.errors import translating
from pinakes.spark.jars import ALWAYS, Jars
from pinakes.spark.running import Running
from pinakes.spark.spool import Spool, conformed, sent

if TYPE_CHECKING:
    from pinakes.config.spark import SparkConfig
    from pinakes.engine.execution.query import Query
    from pinakes.spark.connect import Connected, Sessions
    from pinakes.spark.local_server import LocalServer
    from pinakes.spark.ui import Ui

_KEPT = 200
"""Number of ended statements whose tasks are kept."""
_SIGNED = "spark.sql.iceberg.snapshot-property."


@dataclass(slots=True)
class Server:
    """A running Spark: started here, or provided by the user."""

    sessions: Sessions
    spool: Spool | None
    ui: Ui | None
    jars: Jars
    local: LocalServer | None = None

    @property
    def is_running(self) -> bool:
        return self.local is None or self.local.is_running

    def close(self) -> None:
        self.sessions.close()
        if self.local is not None:
            self.local.stop()


@dataclass(slots=True)
class _Past:
    """An ended statement. Once all its tasks have ended, they are cached and not requested again."""

    query_id: str
    user: str
    ui: Ui
    known: list[RemoteTask] | None = None

    def tasks(self) -> list[RemoteTask]:
        if self.known is not None:
            return self.known
        found = self.ui.tasks(self.query_id, self.user)
        if found and all(task.ended is not None for task in found):
            self.known = found
        return found


class SparkEngine:
    """The remote engine on Spark. `base` is the directory for temporary files; None means the system's default."""

    name = "spark"

    def __init__(self, config: SparkConfig, base: str | None = None) -> None:
        self._config = config
        self._base = base
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._servers: list[Server] = []
        self._live: dict[str, tuple[Query, Server]] = {}
        self._past: deque[_Past] = deque(maxlen=_KEPT)

    # --- statements ------------------------------------------------------------------------------------------------

    def run(self, statement: RemoteStatement) -> Iterator[pa.RecordBatch]:
        with self._session(statement) as (server, connected):
            spool = server.spool if statement.is_large else None
            work = _direct if spool is None else _spooled(spool, statement.query.query_id)
            running = Running(connected, statement.query, lambda: work(connected, statement.sql))
            for batch in running.batches():
                yield conformed(batch, statement.schema)

    def change(self, statement: RemoteStatement) -> pa.Table:
        with self._session(statement) as (_, connected), connected.writing:
            signature = {f"{_SIGNED}{key}": value for key, value in statement.signature.items()}
            for key, value in signature.items():
                connected.spark.conf.set(key, value)
            try:
                running = Running(connected, statement.query, lambda: _command(connected, statement.sql))
                found = list(running.batches())
                return pa.Table.from_batches(found) if found else statement.schema.empty_table()
            finally:
                for key in signature if connected.is_alive() else ():
                    connected.spark.conf.unset(key)

    @contextmanager
    def _session(self, statement: RemoteStatement) -> Iterator[tuple[Server, Connected]]:
        """Opens a session in which the statement can run: with its catalogs and the rows that are handed over."""
        with ExitStack() as stack:
            opened = self.opened(statement.query, statement.place, statement.catalogs)
            server, connected = stack.enter_context(opened)
            with translating():
                for rows in statement.handed_over:
                    stack.enter_context(_handed_over(server, connected, rows, statement.query))
            yield server, connected

    @contextmanager
    def opened(
        self, query: Query, place: str, catalogs: Sequence[RemoteCatalog], more: Jars = frozenset()
    ) -> Iterator[tuple[Server, Connected]]:
        """Opens a Spark session with these catalogs, on a server with the jars for them and `more`."""
        settings = {k: v for catalog in catalogs for k, v in settings_of(catalog).items()}
        server = self._server(ALWAYS.union(more, *(jars_of(catalog) for catalog in catalogs)), query)
        with ExitStack() as stack:
            with translating():
                connected = stack.enter_context(server.sessions.using(place, settings))
            self._live[query.query_id] = query, server
            stack.callback(self._ended, query, server)
            yield server, connected

    def _ended(self, query: Query, server: Server) -> None:
        """Keeps the ended statement: Spark still knows its tasks, which are requested on demand."""
        self._live.pop(query.query_id, None)  # a query with two sessions ends more than once
        if server.ui is not None and all(past.query_id != query.query_id for past in self._past):
            self._past.append(_Past(query.query_id, query.user, server.ui))

    # --- nodes and tasks
    # -----------------------------------------------------------------------------------------------

    def nodes(self) -> Sequence[RemoteNode]:
        return [n for server in list(self._servers) if server.ui is not None for n in server.ui.nodes()]

    def tasks(self) -> Sequence[RemoteTask]:
        live = [s.ui.tasks(q.query_id, q.user) for q, s in list(self._live.values()) if s.ui is not None]
        return [task for tasks in [*(past.tasks() for past in list(self._past)), *live] for task in tasks]

    # --- servers ---------------------------------------------------------------------------------------------------

    def _server(self, jars: Jars, query: Query) -> Server:
        """Returns a server with these jars; starts one if there is none. Ended servers are replaced."""
        with self._starting:
            for gone in [server for server in self._servers if not server.is_running]:
                self._servers.remove(gone)
                gone.close()
            found = next((s for s in self._servers if s.local is None or jars <= s.jars), None)
            if found is None:
                known = frozenset().union(*(s.jars for s in self._servers))
                found = self._remote() if self._config.remote else self._started(jars | known, query)
                self._servers.append(found)
            return found

    def _started(self, jars: Jars, query: Query) -> Server:
        from pinakes.spark.connect import Sessions
        from pinakes.spark.local_server import Starting, start
        from pinakes.spark.ui import Ui

        _check_installed()
        local = start(self._config, jars, self._base, Starting(query.report, query.check))
        query.report("")
        spool = Spool(self._config.spool or str(local.spool))
        return Server(Sessions(local.url, lambda: local.is_running), spool, Ui(local.ui, spark_version()), jars, local)

    def _remote(self) -> Server:
        from pinakes.spark.connect import Sessions
        from pinakes.spark.ui import Ui

        _check_installed()
        assert self._config.remote is not None
        spool = None if self._config.spool is None else Spool(self._config.spool)
        ui = None if self._config.ui is None else Ui(self._config.ui, spark_version())
        return Server(Sessions(self._config.remote), spool, ui, frozenset())

    def release(self, place: str) -> None:
        for server in list(self._servers):
            server.sessions.release(place)

    def close(self) -> None:
        with self._starting:
            servers, self._servers = self._servers, []
        for server in servers:
            server.close()


def spark_version() -> str:
    from pyspark import __version__

    return str(__version__)


def _check_installed() -> None:
    try:
        import pyspark.sql.connect.session  # noqa: F401
    except ImportError as error:
        raise NotSupportedError(
            f"running statements on Spark needs pyspark with Connect ({error}): pip install 'pinakes[spark]'"
        ) from error


# --- execution -------------------------------------------------------------------------------------------------------


def _direct(connected: Connected, sql: str) -> Iterator[pa.RecordBatch]:
    """Streams the rows over the connection."""
    from pinakes.spark.connect import sql_plan

    client = connected.spark.client
    for found in client.to_table_as_iterator(sql_plan(sql).to_proto(client), {}):
        if isinstance(found, pa.Table):
            yield from found.to_batches()


def _spooled(spool: Spool, name: str) -> Callable[[Connected, str], Iterator[pa.RecordBatch]]:
    """Transfers the rows through files, so that no process holds all of them."""

    def work(connected: Connected, sql: str) -> Iterator[pa.RecordBatch]:
        try:
            _frame(connected, sql).write.mode("overwrite").parquet(spool.uri(name))
            yield from spool.read(name)
        finally:
            spool.remove(name)

    return work


def _frame(connected: Connected, sql: str) -> Any:
    from pyspark.sql.connect.dataframe import DataFrame

    from pinakes.spark.connect import sql_plan

    return DataFrame(sql_plan(sql), connected.spark)


def _command(connected: Connected, sql: str) -> Iterator[pa.RecordBatch]:
    """Runs a command. `sql` executes it immediately and returns its result."""
    answer = connected.spark.sql(sql)
    return iter(answer.toArrow().to_batches())


@contextmanager
def _handed_over(server: Server, connected: Connected, rows: HandedOver, query: Query) -> Iterator[None]:
    name = f"{query.query_id}-{rows.name}"
    if server.spool is not None:
        server.spool.write(name, rows)
        frame = connected.spark.read.parquet(server.spool.uri(name))
    else:
        frame = sent(connected.spark, rows)
    frame.createOrReplaceTempView(rows.name)
    try:
        yield
    finally:
        connected.spark.catalog.dropTempView(rows.name)
        if server.spool is not None:
            server.spool.remove(name)
