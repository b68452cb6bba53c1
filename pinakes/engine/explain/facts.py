"""The facts of EXPLAIN FULL as one tree, which `rows.py` and `document.py` format without further lookups.

None means unknown: a figure that requires running the statement, or that the planner cannot estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["iceberg", "files", "memory", "view"]


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The hits and misses of a cache."""

    hits: int = 0
    misses: int = 0


@dataclass(frozen=True, slots=True)
class Files:
    """The number of data files of a table: in total, and after each pruning step."""

    total: int
    after_partitions: int
    after_bounds: int


@dataclass(frozen=True, slots=True)
class RowGroups:
    """The row groups of the opened files, and those that their statistics did not rule out."""

    total: int
    matched: int


@dataclass(frozen=True, slots=True)
class Scan:
    """A relation that the statement reads."""

    table: str
    kind: Kind
    scans: int | None = None
    """The number of scans in the plan; 0 if the optimiser found that no row is needed."""
    snapshot_id: int | None = None
    files: Files | None = None
    pruning: str | None = None
    """The reason why files were pruned or not."""
    rows: int | None = None
    """The row count of the files to read, from the metadata."""
    bytes_total: int | None = None
    bytes_planned: int | None = None
    bytes_read: int | None = None
    row_groups: RowGroups | None = None
    filters: tuple[str, ...] | None = None
    """The remaining predicate of each scan, as SQL; "" for none."""
    delete_files: int | None = None
    native_files: int | None = None
    schema_groups: int | None = None
    """The number of different sets of column names among the native files: each is a separate scan."""
    plain_files: dict[str, int] | None = None
    """The number of files that pyiceberg reads, by reason."""
    is_read: bool = True
    """False if no file is opened: the metadata is sufficient, or no row is needed."""
    caches: dict[str, CacheUse] = field(default_factory=dict)
    paths: tuple[str, ...] = field(default=(), repr=False)
    """The paths of the files to read."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The planner's estimate for an operator."""

    rows: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Actual:
    """The measurements of an operator."""

    rows: int
    seconds: float
    spilled_bytes: int


_NOTHING = ("PlaceholderRowExec", "EmptyExec")


@dataclass(frozen=True, slots=True)
class Operator:
    """A node of DataFusion's physical plan."""

    name: str
    detail: str
    inputs: tuple[Operator, ...]
    estimate: Estimate | None = None
    actual: Actual | None = None
    table: str | None = None
    """The table that it scans, if known."""

    @property
    def reads(self) -> bool:
        """Whether an operator below it reads files or rows."""
        if self.inputs:
            return any(one.reads for one in self.inputs)
        return self.name not in _NOTHING and (self.name != "DataSourceExec" or "file_groups=" in self.detail)

    @property
    def estimated_cost(self) -> int | None:
        """The number of rows to process: those of its inputs, or its own if it has none."""
        known = [o.estimate for o in self.inputs or (self,)]
        return sum(e.rows for e in known if e is not None) if all(known) else None

    @property
    def actual_cost(self) -> int | None:
        known = [o.actual for o in self.inputs or (self,)]
        return sum(a.rows for a in known if a is not None) if all(known) else None


@dataclass(frozen=True, slots=True)
class Shared:
    """A subquery that is used several times and computed once, before the rest of the statement."""

    name: str
    uses: int
    rows: int | None
    root: Operator


@dataclass(frozen=True, slots=True)
class ResultCacheUse:
    """Whether the result is cached, so that nothing would be run, with an explanation."""

    answers: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explained:
    analyzed: bool
    engine: str
    why_engine: str
    seconds: dict[str, float]
    """The time of each phase."""
    scans: tuple[Scan, ...]
    shared: tuple[Shared, ...]
    root: Operator
    caches: dict[str, CacheUse]
    result_rows: int | None = None
    result_cache: ResultCacheUse | None = None
    """None if the result cache is off."""
