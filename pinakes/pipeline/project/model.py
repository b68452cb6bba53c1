"""What a project declares: tables with the flows that fill them, views, loads, and what rows are expected to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pinakes.parser.spark.pipeline_files import Action, Constraint
from pinakes.pipeline.project.problem import Where

if TYPE_CHECKING:
    from pinakes.pipeline.loads import Load

Key = tuple[str, ...]
"""Catalog, namespace and name of a table; a temporary view is its name alone."""
Kind = Literal["materialized_view", "table", "temporary_view"]
KINDS: Mapping[str, str] = {
    "materialized_view": "materialized view",
    "table": "incremental table",
    "temporary_view": "temporary view",
    "load": "load",
}
Expectation = Constraint
OWNER = "pinakes.pipeline"
"""The property of a table that names the pipeline which makes it."""
ACTIONS: tuple[Action, ...] = ("warn", "drop", "fail")


@dataclass(frozen=True, slots=True)
class Read:
    """A table as a query names it: what is new in it, if it `is_stream`."""

    parts: tuple[str, ...]
    is_stream: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """A query that gives rows to a table: Spark's SQL, or a plan of Spark's that a Python function made."""

    name: str
    where: Where
    sql: str | None = None
    plan: Any = field(default=None, repr=False)
    reads: tuple[Read, ...] = ()
    fingerprint: str = ""
    """The same as long as the query is."""

    @property
    def streams(self) -> tuple[Read, ...]:
        return tuple(read for read in self.reads if read.is_stream)


@dataclass(slots=True)
class Dataset:
    """A table or view of the pipeline. Flows are added as they are found."""

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
    """Settings of Spark while it is made."""

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
    """The file that names a pipeline."""

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
        """A name of one or two parts is in the pipeline's own catalog."""
        if len(parts) == 1:
            return (self.catalog, *self.namespace, *parts)
        return (self.catalog, *parts) if len(parts) == 2 else parts

    def shown(self, key: Key) -> str:
        """A name as short as it is clear."""
        home = (self.catalog, *self.namespace)
        return key[-1] if key[:-1] == home or len(key) == 1 else ".".join(key)
