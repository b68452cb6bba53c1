"""The workspace of a run: a Pinakes session, and a Spark session with the catalogs of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.core.errors import NotSupportedError
from pinakes.engine.remote.text import quoted, remote_catalog
from pinakes.parser.spark.references import respelled
from pinakes.pipelines.project.check import catalogs_of
from pinakes.pipelines.project.model import Flow, Key, Read
from pinakes.pipelines.project.plans import Named, renamed
from pinakes.pipelines.runs.tables import head_of, table_of
from pinakes.spark.errors import translating
from pinakes.spark.remote import SparkEngine
from pinakes.spark.running import call_on_spark

if TYPE_CHECKING:
    from pinakes.engine.execution.query import Query
    from pinakes.engine.session import Session
    from pinakes.parser.spark.references import Reference
    from pinakes.pipelines.project.graph import Graph
    from pinakes.spark.connect import Connected
    from pinakes.spark.jars import Jars
    from pinakes.spark.remote import Server

T = TypeVar("T")


@dataclass(slots=True)
class Workspace:
    session: Session
    graph: Graph
    query: Query
    server: Server
    connected: Connected
    names: dict[str, str] = field(default_factory=dict)
    """Spark's name of each catalog, by its alias."""

    @property
    def spark(self) -> Any:
        return self.connected.spark

    def spark_name(self, key: Key, *more: str) -> str:
        if len(key) == 1:
            return quoted(key[0])
        return ".".join(quoted(part) for part in (self.names[key[0]], *key[1:], *more))

    def on_spark(self, work: Callable[[], T]) -> T:
        """Runs a call on Spark; canceling the run cancels it there, too."""
        with translating():
            return call_on_spark(self.connected, self.query, work)

    @contextmanager
    def set_to(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Sets the Spark settings of a table (`spark_conf`) for the block."""
        conf = self.connected.spark.conf
        with translating():
            before = {key: conf.get(key, None) for key in settings}
            for key, value in settings.items():
                conf.set(key, value)
        try:
            yield
        finally:
            with translating():
                for key, old in before.items():
                    conf.unset(key) if old is None else conf.set(key, old)

    def frame(self, flow: Flow, pins: dict[Key, int | None], streams: dict[Key, dict[str, str]]) -> Any:
        """Returns the rows of a flow: each table at its current snapshot, which is recorded in `pins`, and streams with
        these read options."""
        from pinakes.spark.connect import sql_plan
        from pinakes.spark.dataframes import DataFrame

        names = _Names(self, pins, streams)
        if flow.sql is not None:
            return DataFrame(sql_plan(respelled(flow.sql, names.in_sql)), self.connected.spark)
        return DataFrame(ready(renamed(flow.plan, names.in_plan, names.in_sql)), self.connected.spark)


@dataclass(slots=True)
class _Names:
    workspace: Workspace
    pins: dict[Key, int | None]
    streams: dict[Key, dict[str, str]]

    def in_plan(self, read: Read, is_pinned: bool) -> Named:
        key = self.workspace.graph.meaning(read)
        return self.workspace.spark_name(key), {} if is_pinned else self._options(key, read)

    def in_sql(self, found: Reference) -> str:
        read = Read(found.parts, found.is_stream)
        key = self.workspace.graph.meaning(read)
        name = self.workspace.spark_name(key)
        options = {} if found.is_pinned else self._options(key, read)
        if "versionAsOf" in options:
            name += f" VERSION AS OF {options['versionAsOf']}"
        elif options:
            name += f" WITH ({', '.join(f'{k!r} = {v!r}' for k, v in options.items())})"
        return name if found.has_alias or len(key) == 1 or found.is_pinned else f"{name} AS {quoted(key[-1])}"

    def _options(self, key: Key, read: Read) -> dict[str, str]:
        if len(key) == 1:
            return {}
        if read.is_stream:
            return self.streams[key]
        if key not in self.pins:
            table = table_of(self.workspace.session, key)
            head = None if table is None else head_of(table)
            self.pins[key] = None if head is None else head.snapshot_id
        snapshot = self.pins[key]
        return {} if snapshot is None else {"versionAsOf": str(snapshot)}


def ready(relation: Any) -> Any:
    """Wraps an existing plan."""
    from pinakes.spark.dataframes import LogicalPlan

    class Ready(LogicalPlan):
        def __init__(self) -> None:
            super().__init__(None)

        def plan(self, session: Any) -> Any:
            return relation

    return Ready()


@contextmanager
def opened(graph: Graph, session: Session, query: Query, more: Jars = frozenset()) -> Iterator[Workspace]:
    """Opens a workspace; starts Spark if necessary."""
    session.guard.spark()
    engine = session.engine.remote
    if not isinstance(engine, SparkEngine):
        raise NotSupportedError("pipelines run on Spark: pip install 'pinakes[spark]'")
    names: dict[str, str] = {}
    catalogs = []
    for name in catalogs_of(graph):
        found = remote_catalog(session, name)
        assert found is not None, "it was checked"
        names[name] = found.name
        catalogs.append(_with_storage(found, session, graph))
    _distinct(names)
    with engine.opened(query, session.session_id, catalogs, more) as (server, connected):
        with translating():
            for key, value in graph.spec.configuration.items():
                connected.spark.conf.set(key, value)
        yield Workspace(session, graph, query, server, connected, names)


def _with_storage(catalog: Any, session: Session, graph: Graph) -> Any:
    """Determines from the tables' locations whether the catalog uses an object store."""
    from dataclasses import replace

    keys = [*graph.steps, *(key for key, _ in graph.sources())]
    here = [key for key in keys if len(key) > 1 and key[0] == catalog.opening.alias]
    for key in here:
        table = table_of(session, key)
        if table is not None:
            return replace(catalog, on_s3=table.handle.metadata.location.startswith(("s3://", "s3a://", "s3n://")))
    warehouse = str(catalog.opening.options.get("WAREHOUSE") or catalog.opening.location)
    return replace(catalog, on_s3=warehouse.startswith(("s3://", "s3a://")))


def _distinct(names: dict[str, str]) -> None:
    known: Sequence[str] = list(names.values())
    for alias, name in names.items():
        if known.count(name) > 1:
            raise NotSupportedError(
                f"two catalogs of the pipeline carry the name {name!r} in their databases, one is {alias!r}, and Spark "
                f"knows catalogs by it."
            )
