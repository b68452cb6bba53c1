"""The context of a load: a Pinakes session, which resolves names, files and secrets, and a Spark session, which reads
and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pinakes.core.errors import NotSupportedError
from pinakes.engine.remote.text import quoted, remote_catalog
from pinakes.pipelines.loads.ledger import Ledger
from pinakes.spark.jars import Jars
from pinakes.spark.remote import SparkEngine
from pinakes.spark.running import call_on_spark

if TYPE_CHECKING:
    from pinakes.engine.execution.query import Query
    from pinakes.engine.remote.interface import RemoteCatalog
    from pinakes.engine.session import Session
    from pinakes.spark.connect import Connected
    from pinakes.spark.dataframes import SparkSession
    from pinakes.spark.spool import Spool

Answer = TypeVar("Answer")
_S3 = ("s3://", "s3a://", "s3n://")


@dataclass(frozen=True, slots=True)
class LoadContext:
    """`catalogs` maps the alias of a mounted catalog to its name in Spark. `reached` is called after each completed
    step."""

    session: Session
    connected: Connected
    query: Query
    spool: Spool | None
    catalogs: Mapping[str, str]
    reached: Callable[[str], None] = lambda _: None

    @property
    def spark(self) -> SparkSession:
        return self.connected.spark

    def on_spark(self, call: Callable[[], Answer]) -> Answer:
        """Runs `call` on Spark; canceling the query cancels it there, too."""
        return call_on_spark(self.connected, self.query, call)

    def remote_name(self, target: Sequence[str]) -> str:
        """Returns the table's name in Spark SQL."""
        return ".".join(quoted(part) for part in (self.catalogs[target[0]], *target[1:]))


@contextmanager
def open_context(
    session: Session,
    aliases: Sequence[str],
    *,
    query: Query | None = None,
    jars: Jars = frozenset(),
    reached: Callable[[str], None] = lambda _: None,
) -> Iterator[LoadContext]:
    """Opens a context for loads into these catalogs; starts Spark if it is not running. `jars` are `jars_for(loads)`.

    The Spark session is used for loads only: while a load stages its rows, every write in that session would be staged.
    """
    engine = _spark(session)
    own = session.engine.tracker.start(session.identity.user, "pipeline") if query is None else query
    place = f"{session.session_id}.loads.{own.query_id}"
    try:
        catalogs = {alias: _catalog(session, alias) for alias in dict.fromkeys(aliases)}
        with engine.opened(own, place, list(catalogs.values()), jars) as (server, connected):
            names = {alias: catalog.name for alias, catalog in catalogs.items()}
            yield LoadContext(session, connected, own, server.spool, names, reached)
    except BaseException as error:
        if query is None:
            own.end(error)
        raise
    finally:
        engine.release(place)
    if query is None:
        own.end()


def _spark(session: Session) -> SparkEngine:
    engine = session.engine.remote
    if not isinstance(engine, SparkEngine):
        raise NotSupportedError("a pipeline runs on Spark, and no Spark is joined to this engine")
    return engine


def _catalog(session: Session, alias: str) -> RemoteCatalog:
    found = remote_catalog(session, alias)
    if found is None:
        raise NotSupportedError(
            f"catalog '{alias}' keeps no Iceberg tables that Spark could write: a load goes into one that does."
        )
    return replace(found, on_s3=Ledger(session, alias).location().startswith(_S3))
