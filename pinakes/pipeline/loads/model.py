"""What a load is, as a project says it, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Format = Literal["csv", "json", "parquet", "arrow"]
FORMATS: tuple[Format, ...] = ("csv", "json", "parquet", "arrow")

BadRecords = Literal["keep", "fail", "drop"]
BAD_RECORDS: tuple[BadRecords, ...] = ("keep", "fail", "drop")
"""Into the table `<target>_bad_records` with their reason; or the load fails at the first; or they are only counted."""

Evolution = Literal["fail", "add", "ignore"]
EVOLUTIONS: tuple[Evolution, ...] = ("fail", "add", "ignore")
"""A column of a file that the table has not: an error, a new column of the table, or left out."""

Changed = Literal["fail", "load", "ignore"]
CHANGES: tuple[Changed, ...] = ("fail", "load", "ignore")
"""A file that was loaded and has another size or time now: an error, loaded once more, or left alone."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files of one format. `path` is a file, a directory or a pattern, on this machine or in an object store (s3://).

    `options` are those of the format: for csv `delimiter`, `header`, `quote`, `escape`, `comment`, `nullValue`,
    `encoding`, `multiLine`, `dateFormat`, `timestampFormat`; for json `multiLine`, `dateFormat`, `timestampFormat`.
    """

    path: str
    format: Format
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JdbcSource:
    """A table or a query of another database. Who logs in there is said by the name of a secret (type basic), never
    here. With a `cursor`, a column that only grows, only rows beyond the last one are loaded; without, all of them take
    the place of those that are there.

    `options`: `fetchsize`, and to read in parallel `partitionColumn`, `lowerBound`, `upperBound`, `numPartitions`.
    """

    url: str
    table: str | None = None
    query: str | None = None
    secret: str | None = None
    cursor: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Load:
    """`target` is catalog, schema and table, by the alias that the catalog is mounted under. `columns` are those of the
    table as SQL ("a INT, b STRING"); None has them inferred from what is loaded first."""

    target: tuple[str, str, str]
    source: FileSource | JdbcSource
    columns: str | None = None
    bad_records: BadRecords = "keep"
    schema_evolution: Evolution | None = None
    """None is "fail" for columns that are inferred, and "ignore" for those that are given."""
    changed_files: Changed = "fail"

    @property
    def name(self) -> str:
        return ".".join(self.target)

    @property
    def evolution(self) -> Evolution:
        return self.schema_evolution or ("fail" if self.columns is None else "ignore")

    @property
    def bad_target(self) -> tuple[str, str, str]:
        catalog, schema, table = self.target
        return catalog, schema, f"{table}_bad_records"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a load: `where` is the part of it, `message` what and how to mend it."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a load would do now. `resumed` are files of a batch that was begun and not finished."""

    new: tuple[str, ...]
    resumed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    loaded: int = 0
    """Files that are found, were loaded before, and are not opened again."""
    bytes: int = 0
    """Of those that would be loaded."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """`rows` came into the table, `bad_rows` did not. `snapshot_id` is the table's afterwards."""

    rows: int
    files: int
    bad_rows: int
    snapshot_id: int | None
    batches: tuple[str, ...] = ()
