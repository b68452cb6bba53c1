"""What EXPLAIN FULL knows of a statement: one tree of facts. `rows.py` and `document.py` show it; nothing is looked up
any more by then.

None stands for what is not known: a figure that only running the statement tells, or that the planner can't estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["iceberg", "files", "memory", "view"]


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How often a cache had what it was asked for, and how often not."""

    hits: int = 0
    misses: int = 0


@dataclass(frozen=True, slots=True)
class Files:
    """The data files of a table: all of them, and those that remain after each step."""

    total: int
    after_partitions: int
    after_bounds: int


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Those of the files that were opened, and those that their statistics did not rule out."""

    total: int
    matched: int


@dataclass(frozen=True, slots=True)
class Scan:
    """A relation that the statement reads."""

    table: str
    kind: Kind
    scans: int | None = None
    """How often the plan reads it; 0 if the optimiser found that no row of it is needed."""
    snapshot_id: int | None = None
    files: Files | None = None
    pruning: str | None = None
    """Why files were left out, or were not."""
    rows: int | None = None
    """Of the files that are read, by the metadata."""
    bytes_total: int | None = None
    bytes_planned: int | None = None
    bytes_read: int | None = None
    row_groups: RowGroups | None = None
    filters: tuple[str, ...] | None = None
    """The condition of each scan that rows are still tested by, as SQL; "" for one without."""
    delete_files: int | None = None
    native_files: int | None = None
    schema_groups: int | None = None
    """In how many ways the native files name their columns: each is a scan of its own."""
    plain_files: dict[str, int] | None = None
    """The files that go through pyiceberg's reader, counted by the reason."""
    is_read: bool = True
    """False if no file is opened: the metadata answers, or no row is needed."""
    caches: dict[str, CacheUse] = field(default_factory=dict)
    paths: tuple[str, ...] = field(default=(), repr=False)
    """Those of the files that are read."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of an operator before it runs."""

    rows: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Actual:
    """What an operator did."""

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
    """The table that it scans, if it does and that is known."""

    @property
    def reads(self) -> bool:
        """Whether something below it reads files or rows."""
        if self.inputs:
            return any(one.reads for one in self.inputs)
        return self.name not in _NOTHING and (self.name != "DataSourceExec" or "file_groups=" in self.detail)

    @property
    def estimated_cost(self) -> int | None:
        """The rows that it has to go through: those of its inputs, or its own where it has none."""
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
    """Whether the result is at hand, so that nothing would be run; if not, what is to be said of that."""

    answers: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explained:
    analyzed: bool
    engine: str
    why_engine: str
    seconds: dict[str, float]
    """Of each phase that there was."""
    scans: tuple[Scan, ...]
    shared: tuple[Shared, ...]
    root: Operator
    caches: dict[str, CacheUse]
    result_rows: int | None = None
    result_cache: ResultCacheUse | None = None
    """None where results are not remembered."""
