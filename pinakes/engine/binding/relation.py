"""A table or view as a plan refers to it: the provider that DataFusion reads, the text that names it, its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from datafusion import Table as Provider

from pinakes.core.catalog import IcebergTable, ViewDefinition
from pinakes.core.names import Namespace, dotted, quote, undotted
from pinakes.engine.datafusion.determinism import is_repeatable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.files.paths import File
    from pinakes.engine.iceberg.scan.file_integrity import Watched
    from pinakes.engine.iceberg.scan.table import IcebergScan
    from pinakes.engine.planning.optimize.shared import Shared
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.pushdown.placeholder_scan import Placeholder
    from pinakes.engine.system.scan import SystemScan
    from pinakes.engine.workers.scan import WorkerScan
    from pinakes.providers.vgi.attachment import Attachment

ROOT = "$root"
"""The schema that stands for the empty namespace (an empty identifier cannot be written)."""

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Relation:
    key: Key
    provider: Provider
    columns: tuple[str, ...]
    table: IcebergTable | None = None
    alias: str | None = None
    """What it goes by in planned text, whatever the statement calls it: the target of a change has such a name."""
    full_name: tuple[str, ...] = ()
    """The name behind a key that is not one."""
    scan: IcebergScan | None = None
    """Its provider is a placeholder, and this is pruned before the plan is run (`engine/pushdown/scan_pushdown.py`)."""
    system: SystemScan | None = None
    """Its provider is a placeholder, and its rows are read before the plan is run."""
    worker: WorkerScan | None = None
    """Its provider is a placeholder; the worker is called with the pushed predicates before the plan is run."""
    source: Attachment | None = None
    """The worker that its rows come from."""
    shared: Shared | None = None
    """Its provider is a placeholder, and its rows are computed before the plan is run
    (`engine/planning/optimize/shared.py`)."""
    files: tuple[File, ...] = ()
    """Those that it consists of, if it is files."""
    has_statistics: bool = True
    """DataFusion's conclusions from the statistics of these files are correct."""
    watched: tuple[Watched, ...] = ()
    """The data files of a table that DataFusion reads: they must exist, complete, while rows are read."""
    is_plain: bool = False
    """Some data files of a table go through pyiceberg's reader."""
    is_restricted: bool = False
    """The user may read less than there is."""
    view_plan: Plan | None = None
    """Of a view: the plan that its provider was made from."""
    view: ViewDefinition | None = None
    found: ResolvedTable | None = None
    """Of a view: where it is."""
    is_steady: bool = True
    """False of a view that gives something else each time, though its tables are the same."""
    steps: int = 1
    """Of a view: the operators of its plan, which stands in the plan wherever the view is read."""
    known_types: Mapping[str, pa.DataType] | None = None
    """The types of its columns, if they were read from the provider before."""

    @property
    def is_repeatable(self) -> bool:
        """Whether it has the same rows when one statement reads it twice."""
        if self.worker is not None or self.view_plan is None:
            return self.worker is None and self.is_steady
        return is_repeatable(self.view_plan.frame.logical_plan().display_indent())

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        """The types of its columns, as DataFusion has them."""
        return self.known_types or {field.name: field.type for field in self.provider.schema}

    @property
    def placeholder(self) -> Placeholder | None:
        """What its provider reads while a statement is planned."""
        source = self.scan or self.system or self.worker or self.shared
        return None if source is None else source.placeholder

    @property
    def is_placeholder(self) -> bool:
        """It can be planned with, and not be read."""
        return (self.scan or self.system or self.worker or self.shared) is not None

    @property
    def sql(self) -> str:
        """Its full name, quoted, as it stands in planned text."""
        return ".".join(map(quote, self.key))

    @property
    def path(self) -> tuple[str, ...]:
        """Catalog, namespace levels and name."""
        return self.full_name or path_of(self.key)

    @property
    def has_odd_columns(self) -> bool:
        """Some column is not what DataFusion makes of an unquoted identifier."""
        names = "".join(self.columns)
        return names != names.lower() or not names.isascii()


def path_of(key: Key) -> tuple[str, ...]:
    catalog, namespace, name = key
    return (catalog, *(() if namespace == ROOT else undotted(namespace)), name)


def key_of(catalog: str, namespace: Namespace, name: str) -> Key:
    return (catalog, dotted(namespace) or ROOT, name)
