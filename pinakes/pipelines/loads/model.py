"""The definition of a load in a project, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Format = Literal["csv", "json", "parquet", "arrow"]
FORMATS: tuple[Format, ...] = ("csv", "json", "parquet", "arrow")

BadRecords = Literal["keep", "fail", "drop"]
BAD_RECORDS: tuple[BadRecords, ...] = ("keep", "fail", "drop")
"""keep: into the table `<target>_bad_records` with the reason; fail: the load fails at the first; drop: only
counted."""

Evolution = Literal["fail", "add", "ignore"]
EVOLUTIONS: tuple[Evolution, ...] = ("fail", "add", "ignore")
"""A column of a file that the table lacks is an error, is added to the table, or is ignored."""

Changed = Literal["fail", "load", "ignore"]
CHANGES: tuple[Changed, ...] = ("fail", "load", "ignore")
"""A loaded file whose size or time has changed is an error, is loaded again, or is ignored."""


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
    """A table or a query of another database. The credentials are in a secret (type basic), given by name. With a
    `cursor`, a column that only grows, only rows beyond the last value are loaded; otherwise all rows replace those of
    the table.

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
    """`target` is catalog, schema and table; the catalog is named by its alias. `columns` are those of the table as SQL
    ("a INT, b STRING"); None infers them from the first load."""

    target: tuple[str, str, str]
    source: FileSource | JdbcSource
    columns: str | None = None
    bad_records: BadRecords = "keep"
    schema_evolution: Evolution | None = None
    """None means "fail" for inferred columns and "ignore" for declared ones."""
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
    """A problem of a load: `where` is the part of the definition, `message` the problem and its solution."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plan of a load. `resumed` are files of a batch that was started and not finished."""

    new: tuple[str, ...]
    resumed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    loaded: int = 0
    """Number of files that were loaded before and are not opened again."""
    bytes: int = 0
    """Total size of the files to load."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """`rows` were loaded, `bad_rows` were not. `snapshot_id` is the table's current snapshot afterwards."""

    rows: int
    files: int
    bad_rows: int
    snapshot_id: int | None
    batches: tuple[str, ...] = ()
