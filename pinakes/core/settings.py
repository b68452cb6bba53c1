"""Settings that a session changes with SET: one frozen field per setting, each with its default and doc.

A new setting is one more field here; SET, RESET and SHOW SESSION read the fields. The defaults of a session come from
the engine's configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from pinakes.core import machine
from pinakes.core.config import MOST_PARTITIONS, MOST_ROWS, EngineConfig
from pinakes.core.errors import InvalidArgument, SettingNotFound, listing
from pinakes.core.suggestions import meant
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
        "Time zone in which the session reads and shows times with a zone: a name, or an offset like +02:00",
        "UTC",
    )
    statement_timeout: float = documented(
        duration, "Time after which a statement is stopped, in seconds or as '5min'; 0 is never", 0.0
    )
    target_partitions: int = documented(
        whole(1, MOST_PARTITIONS),
        "Number of parts that a query is run in at the same time",
        factory=machine.processors,
        shown="the number of processors",
    )
    batch_size: int = documented(whole(1, MOST_ROWS), "Rows per batch within a query", 32_768)
    partition_overwrite_mode: str = documented(
        one_of("static", "dynamic"),
        "What INSERT OVERWRITE replaces in a partitioned table: all that PARTITION (…) names, which without it is the "
        "whole table (static), or only the partitions that the new rows are in (dynamic)",
        "static",
    )
    python_scan: bool = documented(
        truth,
        "Whether Python variables stand for tables that no catalog has; of use in Python only",
        True,
        shown="true",
    )

    engine: str = documented(
        one_of("local", "spark", "auto"),
        "Engine that runs queries and changes: local is this process, spark a Spark (docs/spark.md), auto the one that "
        "fits what a statement is estimated to read",
        "local",
    )
    metadata_errors: str = documented(
        one_of("rows", "fail"),
        "What happens when a catalog can't tell its metadata: rows in system.metadata.errors, or the query fails",
        "rows",
    )
    metadata_timeout: float = documented(
        duration,
        "Time that a catalog may take for each answer when system tables are read, in seconds or as '5s'",
        10.0,
    )

    result_cache: bool = documented(
        truth,
        "Whether results are remembered, of queries that read Iceberg tables only and can't change but with them",
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
        raise SettingNotFound(f"setting {name!r} does not exist; these do: {listing(names)}.{meant(name, names)}")
    return name.lower()


def shown(value: object) -> str:
    """Formats a value for SHOW SESSION in a form that SET reads back."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
