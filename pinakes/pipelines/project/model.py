"""The declarations of a project: tables with their flows, views, loads, and expectations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pinakes.parser.spark.pipeline_files import Action, Constraint
from pinakes.pipelines.project.problem import Where

if TYPE_CHECKING:
    from pinakes.pipelines.loads import Load

Key = tuple[str, ...]
"""Catalog, namespace and name of a table; a temporary view has its name only."""
Kind = Literal["materialized_view", "table", "temporary_view"]
KINDS: Mapping[str, str] = {
    "materialized_view": "materialized view",
    "table": "incremental table",
    "temporary_view": "temporary view",
    "load": "load",
}
Expectation = Constraint
OWNER = "pinakes.pipeline"
"""The table property that names the pipeline which owns the table."""
ACTIONS: tuple[Action, ...] = ("warn", "drop", "fail")


@dataclass(frozen=True, slots=True)
class Read:
    """A table reference of a query. With `is_stream` it reads only new rows."""

    parts: tuple[str, ...]
    is_stream: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """A query that fills a table: Spark SQL, or a Spark plan that a Python function built."""

    name: str
    where: Where
    sql: str | None = None
    plan: Any = field(default=None, repr=False)
    reads: tuple[Read, ...] = ()
    fingerprint: str = ""
    """A hash of the query."""

    @property
    def streams(self) -> tuple[Read, ...]:
        return tuple(read for read in self.reads if read.is_stream)


@dataclass(slots=True)
class Dataset:
    """A table or view of the pipeline. Flows are added while files are read."""

    key: Key
    kind: Kind
    where: Where
    flows: list[Flow] = field(default_factory=list)
    columns: str | None = None
    comment: str | None = None
    partitions: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    """Spark settings while the table is updated."""

    @property
    def name(self) -> str:
        return ".".join(self.key)

    @property
    def label(self) -> str:
        return self.key[-1]


@dataclass(frozen=True, slots=True)
class LoadStep:
    """A load of the spec."""

    load: Load
    where: Where

    @property
    def key(self) -> Key:
        return self.load.target

    @property
    def name(self) -> str:
        return ".".join(self.key)


Step = Dataset | LoadStep


@dataclass(frozen=True, slots=True)
class Spec:
    """The parsed spec of a pipeline."""

    path: Path
    name: str
    catalog: str
    namespace: tuple[str, ...]
    configuration: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    loads: tuple[LoadStep, ...] = ()
    expectations: Mapping[str, tuple[Expectation, ...]] = field(default_factory=dict)
    expected_at: Mapping[str, Where] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.path.parent

    def key_of(self, parts: tuple[str, ...]) -> Key:
        """Resolves a name. A name of one or two parts is in the pipeline's own catalog."""
        if len(parts) == 1:
            return (self.catalog, *self.namespace, *parts)
        return (self.catalog, *parts) if len(parts) == 2 else parts

    def shown(self, key: Key) -> str:
        """Returns the shortest unambiguous name."""
        home = (self.catalog, *self.namespace)
        return key[-1] if key[:-1] == home or len(key) == 1 else ".".join(key)
