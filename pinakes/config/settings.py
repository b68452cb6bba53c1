"""Settings that a session changes with SET: one frozen field per setting, each with its default and doc.

A new setting is one more field here; SET, RESET and SHOW SESSION read the fields. The defaults of a session come from
the engine's configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from pinakes.config.model import MOST_PARTITIONS, MOST_ROWS, EngineConfig
from pinakes.core import machine
from pinakes.core.errors import InvalidArgument, SettingNotFound, listing
from pinakes.core.suggestions import did_you_mean
from pinakes.core.values import documented, duration, one_of, time_zone, truth, whole


class SettingRow(NamedTuple):
    """A row of SHOW SESSION."""

    name: str
    value: str
    default: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Settings:
    time_zone: str = documented(
        time_zone,
        "Time zone of the session: a name, or an offset such as +02:00",
        "UTC",
    )
    statement_timeout: float = documented(
        duration, "Time after which a statement is cancelled, in seconds or as '5min'; 0 disables it", 0.0
    )
    target_partitions: int = documented(
        whole(1, MOST_PARTITIONS),
        "Number of partitions of a query that run in parallel",
        factory=machine.processors,
        shown="the number of processors",
    )
    batch_size: int = documented(whole(1, MOST_ROWS), "Rows per batch", 32_768)
    partition_overwrite_mode: str = documented(
        one_of("static", "dynamic"),
        "Rows that INSERT OVERWRITE replaces in a partitioned table: those of PARTITION (…), or all rows without it "
        "(static), or only the partitions that contain new rows (dynamic)",
        "static",
    )
    python_scan: bool = documented(
        truth,
        "Whether queries can read Python variables as tables; only used in Python",
        True,
        shown="true",
    )

    engine: str = documented(
        one_of("local", "spark", "auto"),
        "Engine that runs queries and changes: local is this process, spark is Spark (docs/how-to/run-on-spark.md), "
        "auto chooses by the estimated size of a statement's input",
        "local",
    )
    dialect: str = documented(
        one_of("pinakes", "trino", "duckdb", "postgres", "spark"),
        "Dialect of SQL that statements are written in (docs/how-to/use-dialects.md); postgres is read as pinakes is",
        "pinakes",
    )
    metadata_errors: str = documented(
        one_of("rows", "fail"),
        "What happens if a catalog fails while metadata is read: rows in system.metadata.errors, or the query fails",
        "rows",
    )
    metadata_timeout: float = documented(
        duration,
        "Time-out for each response of a catalog when system tables are read, in seconds or as '5s'",
        10.0,
    )

    result_cache: bool = documented(
        truth,
        "Whether to cache results of deterministic queries that read only Iceberg tables",
        False,
        shown="false",
    )

    @classmethod
    def of(cls, engine: EngineConfig) -> Settings:
        """Returns the defaults of a session under this configuration."""
        return cls(
            engine.time_zone,
            engine.statement_timeout,
            engine.target_partitions,
            engine.batch_size,
            result_cache=engine.result_cache,
        )

    def with_value(self, name: str, text: object) -> Settings:
        """Returns the settings with one changed, as SET does."""
        key = known(name)
        parse = next(f.metadata["parse"] for f in fields(self) if f.name == key)
        try:
            return replace(self, **{key: parse(text)})
        except ValueError as error:
            raise InvalidArgument(f"{key} must be {error}, not {text!r}") from error

    def with_default(self, name: str | None, defaults: Settings) -> Settings:
        """Returns the settings with one (None: all) as in `defaults`, as RESET does."""
        if name is None:
            return defaults
        key = known(name)
        return replace(self, **{key: getattr(defaults, key)})

    def rows(self, defaults: Settings) -> list[SettingRow]:
        """Returns the rows of SHOW SESSION."""
        return [
            row_of(f.name, getattr(self, f.name), getattr(defaults, f.name), f.metadata["doc"]) for f in fields(self)
        ]


_TYPES: dict[type, str] = {str: "varchar", bool: "boolean", int: "bigint", float: "double"}
"""SQL names of the types of settings."""


def row_of(name: str, value: object, default: object, doc: str) -> SettingRow:
    return SettingRow(name, shown(value), shown(default), _TYPES[type(value)], doc)


def known(name: str) -> str:
    """Returns the canonical name of a setting, matched regardless of case."""
    names = [f.name for f in fields(Settings)]
    if name.lower() not in names:
        raise SettingNotFound(
            f"setting {name!r} does not exist; available: {listing(names, most=len(names))}.{did_you_mean(name, names)}"
        )
    return name.lower()


def shown(value: object) -> str:
    """Formats a value for SHOW SESSION in a form that SET reads back."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
