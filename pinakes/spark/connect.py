"""Spark Connect sessions: one or more for each Pinakes session, never shared between two.

A Spark session gets the settings of a catalog when a statement first uses it. Spark opens a catalog once per session,
so a catalog that was mounted again, possibly with other credentials, gets another Spark session.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

MOST = 4
"""Maximum number of Spark sessions per Pinakes session; the least recently used is closed first."""

_TRIES, _PAUSE = 9, 10_000
"""Maximum number of retries of an unresponsive server, and the maximum milliseconds between them."""

SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "lz4_raw",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.sources.partitionOverwriteMode": "static",
    # A text such as '${env:HOME}' is a literal: no statement reads variables, properties or the environment.
    "spark.sql.variable.substitute": "false",
    # No statement reads files by path, as in SELECT … FROM parquet.`/path`; such statements are also rejected earlier.
    "spark.sql.runSQLOnFiles": "false",
}
"""Settings of every session, regardless of the server's own: results depend on them."""


@dataclass(slots=True, eq=False)
class Connected:
    """A Spark session and the catalog settings that were sent to it."""

    spark: SparkSession
    settings_sent: dict[str, str] = field(default_factory=dict)
    in_use: int = 0
    writing: threading.Lock = field(default_factory=threading.Lock)
    """Held while a table is changed: the snapshot properties are settings of the session."""
    is_alive: Callable[[], bool] = lambda: True
    """Whether its Spark is running, where that is known: pyspark itself retries for ten minutes."""

    def takes(self, settings: Mapping[str, str]) -> bool:
        """Whether these settings can be added: each catalog is either unknown to the session or has the same
        settings."""
        mine, theirs = _by_catalog(self.settings_sent), _by_catalog(settings)
        return all(mine.get(catalog, settings_sent) == settings_sent for catalog, settings_sent in theirs.items())

    def send(self, settings: Mapping[str, str]) -> None:
        new = {key: value for key, value in settings.items() if key not in self.settings_sent}
        if new:
            _set(self.spark, new)
            self.settings_sent |= new

    def close(self) -> None:
        if self.is_alive():
            self.spark.client.release_session()
        self.spark.client.close()


class Sessions:
    """The sessions on one server, by owner."""

    def __init__(self, url: str, is_alive: Callable[[], bool] = lambda: True) -> None:
        self._url, self._is_alive = url, is_alive
        self._lock = threading.Lock()
        self._open: dict[str, list[Connected]] = {}

    @contextmanager
    def using(self, place: str, settings: Mapping[str, str]) -> Iterator[Connected]:
        """Holds a session of `place` with these settings for the block; it is not closed meanwhile."""
        found = self._taken(place, settings)
        try:
            yield found
        finally:
            with self._lock:
                found.in_use -= 1

    def _taken(self, place: str, settings: Mapping[str, str]) -> Connected:
        with self._lock:
            known = self._open.setdefault(place, [])
            found = next((c for c in reversed(known) if c.takes(settings)), None)
            if found is not None:
                known.remove(found)
                known.append(found)
                found.in_use += 1
        if found is None:
            found = Connected(_connected(self._url, self._is_alive), in_use=1, is_alive=self._is_alive)
            self._keep(place, found)
        found.send(settings)
        return found

    def _keep(self, place: str, new: Connected) -> None:
        with self._lock:
            known = self._open.setdefault(place, [])
            idle = [c for c in known if not c.in_use][: max(0, len(known) + 1 - MOST)]
            for old in idle:
                known.remove(old)
            known.append(new)
        for old in idle:
            old.close()

    def release(self, place: str) -> None:
        with self._lock:
            gone = self._open.pop(place, [])
        for session in gone:
            session.close()

    def close(self) -> None:
        with self._lock:
            gone, self._open = [c for known in self._open.values() for c in known], {}
        for session in gone:
            session.spark.client.close()


def _connected(url: str, is_alive: Callable[[], bool]) -> SparkSession:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    class Patience(DefaultPolicy):
        """Retries an unresponsive server for one minute instead of ten, and an ended one not at all."""

        def can_retry(self, e: BaseException) -> bool:
            return is_alive() and super().can_retry(e)

    logging.getLogger("SQLQueryContextLogger").disabled = True  # it writes statements and their errors to stderr
    spark = SparkSession.Builder().remote(url).create()
    spark.client.set_retry_policies([Patience(max_retries=_TRIES, max_backoff=_PAUSE)])
    _set(spark, SETTINGS)
    return spark


def _set(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Sends all settings in one request."""
    from pyspark.sql.connect.proto import ConfigRequest, KeyValue

    pairs = [KeyValue(key=key, value=value) for key, value in settings.items()]
    operation = ConfigRequest.Operation(set=ConfigRequest.Set(pairs=pairs, silent=False))
    spark.client.config(operation)


def _by_catalog(settings: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Groups the settings by `spark.sql.catalog.NAME`."""
    found: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        found.setdefault(".".join(key.split(".")[:4]), {})[key] = value
    return found


def sql_plan(text: str) -> Any:
    """Returns a query as an unexecuted plan: requesting its schema first would be one request more."""
    from pyspark.sql.connect.plan import SQL

    return SQL(text)
