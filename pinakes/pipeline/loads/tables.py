"""A table that a load writes: rows are staged, where nobody sees them, and then published, once.

Iceberg's own way to write, audit and publish: a staged snapshot carries the batch as its `wap.id`, and Iceberg does not
publish a second one with an id that the table's history has, however many try at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pinakes.caches.catalog import forget_catalog
from pinakes.core.errors import NotFoundError, NotSupportedError, PinakesError
from pinakes.core.names import Name, quote
from pinakes.core.snapshots import said, said_number
from pinakes.engine.remote.text import quoted, quoted_text
from pinakes.pipeline.loads.history import REPLACE

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

    from pinakes.pipeline.loads.context import LoadContext

WAP_ID = "wap.id"
ATTEMPT, ABANDON = "pinakes.load-attempt", "pinakes.load-abandoned"
_PUBLISHED, _SOURCE = "published-wap-id", "source-snapshot-id"
_WAP, _SESSION_WAP = "write.wap.enabled", "spark.wap.id"


class Landed(NamedTuple):
    """The snapshot by which a batch is in the table's history. One that `is_abandoned` holds no row: it stands there so
    that the batch can never be published."""

    snapshot: Snapshot
    is_abandoned: bool


class Target:
    """`name` is catalog, schema and table, by the alias of the catalog."""

    def __init__(self, context: LoadContext, name: tuple[str, str, str]) -> None:
        self._context = context
        self._name = Name.of(*name)
        self.name = name
        self.shown = ".".join(name)
        self.sql = context.remote_name(name)

    @property
    def key(self) -> str:
        """Its name in the ledger of its catalog."""
        return ".".join(self.name[1:])

    # --- what it is ------------------------------------------------------------------------------------------------

    def metadata(self) -> TableMetadata | None:
        """As it is now; None if it does not exist."""
        try:
            return self._context.session.resolver.described(self._name)[1].handle.metadata
        except NotFoundError:
            return None

    def uuid(self) -> str:
        """Tells it from another table of its name, before or after it."""
        return str(self.known().table_uuid)

    def known(self) -> TableMetadata:
        found = self.metadata()
        if found is None:
            raise NotFoundError(f"table {self.shown} was dropped while it was loaded: run the pipeline again")
        return found

    def ensure(self, columns: str) -> TableMetadata:
        """The table, made with these columns if it is not there, and ready to be staged into."""
        found = self.metadata()
        if found is None:
            self._make(columns)
            found = self.known()
        self._context.session.resolver.table(self._name)  # who may not change it is told so here
        if found.format_version < 2:
            raise NotSupportedError(
                f"table {self.shown} has Iceberg's format 1, which can't tell whether a load was interrupted. "
                f"ALTER TABLE {self.shown} SET PROPERTIES 'format-version' = '2'."
            )
        if found.properties.get(_WAP) != "true":
            self._run(f"ALTER TABLE {self.sql} SET TBLPROPERTIES ('{_WAP}' = 'true')")
            found = self.known()
        return found

    def _make(self, columns: str) -> None:
        session = self._context.session
        session.run(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(map(quote, self.name[:-1]))}", queues=False).read_all()
        properties = f"'format-version' = '2', '{_WAP}' = 'true'"
        self._run(f"CREATE TABLE IF NOT EXISTS {self.sql} ({columns}) USING iceberg TBLPROPERTIES ({properties})")
        forget_catalog(session.catalogs.get(self.name[0]).catalog)

    def add_columns(self, columns: Mapping[str, str]) -> None:
        listed = ", ".join(f"{quoted(name)} {type}" for name, type in columns.items())
        self._run(f"ALTER TABLE {self.sql} ADD COLUMNS ({listed})")

    # --- batches ---------------------------------------------------------------------------------------------------

    def landed(self, batch: str) -> Landed | None:
        """The snapshot that published a batch, also if the table was set back to an earlier one since."""
        metadata = self.known()
        by_id = {s.snapshot_id: s for s in metadata.snapshots}
        seen = {entry.snapshot_id for entry in metadata.snapshot_log} | {metadata.current_snapshot_id}
        for snapshot in metadata.snapshots:
            if said(snapshot, _PUBLISHED) == batch:
                source = by_id.get(said_number(snapshot, _SOURCE))
                return Landed(snapshot, said(source or snapshot, ABANDON) is not None)
            if said(snapshot, WAP_ID) == batch and snapshot.snapshot_id in seen:
                return Landed(snapshot, said(snapshot, ABANDON) is not None)
        return None

    def is_whole_since(self, sequence: int) -> bool:
        """Whether every snapshot after this sequence number is still known: then what is not there never was."""
        numbers = {s.sequence_number for s in self.known().snapshots}
        return all(number in numbers for number in range(sequence + 1, self.last_sequence() + 1))

    def last_sequence(self) -> int:
        """The number of its last snapshot, seen or staged; it only grows."""
        return int(getattr(self.known(), "last_sequence_number", 0))

    def has(self, snapshot_id: int | None) -> bool:
        return any(s.snapshot_id == snapshot_id for s in self.known().snapshots)

    def stage(self, frame: Any, batch: str, attempt: str, mode: str, **more: str) -> Snapshot:
        """Write rows as a snapshot that nobody sees."""
        properties = {ATTEMPT: attempt, **more}

        def write() -> None:
            writer = frame.writeTo(self.sql)
            for key, value in properties.items():
                writer = writer.option(f"snapshot-property.{key}", value)
            if mode == REPLACE:
                from pyspark.sql.connect.functions import lit

                writer.overwrite(lit(True))
            else:
                writer.append()

        with self._staging(batch):
            self._context.on_spark(write)
        return next(s for s in reversed(self.known().snapshots) if said(s, ATTEMPT) == attempt)

    @contextmanager
    def _staging(self, batch: str) -> Iterator[None]:
        conf = self._context.spark.conf
        with self._context.connected.writing:
            self._context.on_spark(lambda: conf.set(_SESSION_WAP, batch))
            try:
                yield
            finally:
                self._context.on_spark(lambda: conf.unset(_SESSION_WAP))

    def publish(self, snapshot_id: int, batch: str) -> Landed | None:
        """Let everybody see a staged snapshot, unless the batch is in the table's history; None if it can't be, since
        the table changed under a snapshot that replaces all of it."""
        name = quoted_text(".".join(quoted(part) for part in self.name[1:]))
        catalog = quoted(self._context.catalogs[self.name[0]])
        try:
            self._run(f"CALL {catalog}.system.cherrypick_snapshot({name}, {snapshot_id})")
        except PinakesError as error:
            found = self.landed(batch)  # another was faster, or it had happened before
            if found is None and "fast-forward" not in str(error.__cause__):
                raise
            return found
        return self.landed(batch)

    def abandon(self, batch: str, attempt: str) -> Landed:
        """Take care that a batch is never published by anybody: an empty snapshot takes its place in the history,
        unless it is there already."""
        empty = self._context.spark.table(self.sql).limit(0)
        staged = self.stage(empty, batch, attempt, "append", **{ABANDON: "true"})
        found = self.publish(staged.snapshot_id, batch)
        assert found is not None
        return found

    def _run(self, sql: str) -> None:
        self._context.on_spark(lambda: self._context.spark.sql(sql))
