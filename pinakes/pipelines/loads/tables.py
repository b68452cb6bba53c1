"""A table that a load writes: rows are staged, where they are not visible, and then published exactly once.

This is Iceberg's write-audit-publish: a staged snapshot carries the batch as its `wap.id`, and Iceberg does not publish
a second snapshot with an id that is in the table's history, however many processes try concurrently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pinakes.caches.caching_catalog import forget_catalog
from pinakes.core.errors import NotFoundError, NotSupportedError, PinakesError
from pinakes.core.iceberg_metadata import summary_number, summary_value
from pinakes.core.names import Name, quote
from pinakes.engine.iceberg.write.checks import refuse_checked
from pinakes.engine.remote.text import quoted, quoted_text
from pinakes.pipelines.loads.ledger import REPLACE

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

    from pinakes.pipelines.loads.context import LoadContext

WAP_ID = "wap.id"
ATTEMPT, ABANDON = "pinakes.load-attempt", "pinakes.load-abandoned"
_PUBLISHED, _SOURCE = "published-wap-id", "source-snapshot-id"
_WAP, _SESSION_WAP = "write.wap.enabled", "spark.wap.id"


class Landed(NamedTuple):
    """The snapshot by which a batch is in the table's history. If `is_abandoned`, it has no rows and only prevents the
    batch from being published."""

    snapshot: Snapshot
    is_abandoned: bool


class Target:
    """`name` is catalog, schema and table; the catalog is named by its alias."""

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

    # --- metadata
    # ------------------------------------------------------------------------------------------------------

    def metadata(self) -> TableMetadata | None:
        """Returns the current metadata; None if the table does not exist."""
        try:
            return self._context.session.resolver.described(self._name)[1].handle.metadata
        except NotFoundError:
            return None

    def uuid(self) -> str:
        """Returns the id that distinguishes it from other tables of the same name."""
        return str(self.known().table_uuid)

    def known(self) -> TableMetadata:
        found = self.metadata()
        if found is None:
            raise NotFoundError(f"table {self.shown} was dropped while it was loaded: run the pipeline again")
        return found

    def ensure(self, columns: str) -> TableMetadata:
        """Creates the table with these columns if it does not exist, and enables staging."""
        found = self.metadata()
        if found is None:
            self._make(columns)
            found = self.known()
        self._context.session.resolver.table(self._name)  # raises without the privilege to change it
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
        """Returns the snapshot that published a batch, also if the table was rolled back since."""
        metadata = self.known()
        by_id = {s.snapshot_id: s for s in metadata.snapshots}
        seen = {entry.snapshot_id for entry in metadata.snapshot_log} | {metadata.current_snapshot_id}
        for snapshot in metadata.snapshots:
            if summary_value(snapshot, _PUBLISHED) == batch:
                source = by_id.get(summary_number(snapshot, _SOURCE))
                return Landed(snapshot, summary_value(source or snapshot, ABANDON) is not None)
            if summary_value(snapshot, WAP_ID) == batch and snapshot.snapshot_id in seen:
                return Landed(snapshot, summary_value(snapshot, ABANDON) is not None)
        return None

    def is_whole_since(self, sequence: int) -> bool:
        """Whether all snapshots after this sequence number still exist: only then is a missing batch known to be
        unpublished."""
        numbers = {s.sequence_number for s in self.known().snapshots}
        return all(number in numbers for number in range(sequence + 1, self.last_sequence() + 1))

    def last_sequence(self) -> int:
        """Returns the sequence number of the last snapshot, published or staged; it only grows."""
        return int(getattr(self.known(), "last_sequence_number", 0))

    def has(self, snapshot_id: int | None) -> bool:
        return any(s.snapshot_id == snapshot_id for s in self.known().snapshots)

    def stage(self, frame: Any, batch: str, attempt: str, mode: str, **more: str) -> Snapshot:
        """Writes rows as a snapshot that is not visible."""
        refuse_checked(self.known().properties, "a load of a pipeline")
        properties = {ATTEMPT: attempt, **more}

        def write() -> None:
            writer = frame.writeTo(self.sql)
            for key, value in properties.items():
                writer = writer.option(f"snapshot-property.{key}", value)
            if mode == REPLACE:
                from pinakes.spark.dataframes import functions

                writer.overwrite(functions.lit(True))
            else:
                writer.append()

        with self._staging(batch):
            self._context.on_spark(write)
        return next(s for s in reversed(self.known().snapshots) if summary_value(s, ATTEMPT) == attempt)

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
        """Publishes a staged snapshot, unless the batch is in the table's history. Returns None if that is impossible
        because the table has changed under a snapshot that replaces all of it."""
        name = quoted_text(".".join(quoted(part) for part in self.name[1:]))
        catalog = quoted(self._context.catalogs[self.name[0]])
        try:
            self._run(f"CALL {catalog}.system.cherrypick_snapshot({name}, {snapshot_id})")
        except PinakesError as error:
            found = self.landed(batch)  # another process was faster, or it was published before
            if found is None and "fast-forward" not in str(error.__cause__):
                raise
            return found
        return self.landed(batch)

    def abandon(self, batch: str, attempt: str) -> Landed:
        """Ensures that a batch is never published: an empty snapshot takes its place in the history, unless the batch
        is there already."""
        empty = self._context.spark.table(self.sql).limit(0)
        staged = self.stage(empty, batch, attempt, "append", **{ABANDON: "true"})
        found = self.publish(staged.snapshot_id, batch)
        assert found is not None
        return found

    def _run(self, sql: str) -> None:
        self._context.on_spark(lambda: self._context.spark.sql(sql))
