"""Random Iceberg tables with a history, and what is left of their rows: told without code of ours that reads deletes.

Every row has a number (`id`), by which a table is known: all that were written, but those that are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import ManifestContent
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.table import FileScanTask
from pyiceberg.types import LongType, NestedField

from pinakes.core.arrays.conform import conform
from pinakes.core.catalog import IcebergTable, TableSpec
from pinakes.core.names import Name
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_equal, delete_positions_of, delete_vectors
from tests.engine.scan_cases import rows, some_type, transforms_of
from tests.engine.scan_history import DEFAULTS, evolve, partitionable
from tests.engine.support import do

SHORT_PATHS = {"write.object-storage.enabled": "true", "write.object-storage.partitioned-paths": "false"}
"""A long text that a table is partitioned by is no name of a directory."""


@dataclass
class Made:
    """A table, and what must be in it."""

    session: Session
    name: str
    version: int = 2
    written: int = 0
    gone: set[int] = field(default_factory=set)
    vectors: dict[str, set[int]] = field(default_factory=dict)
    """The rows of each data file that are deleted by their places: a vector has all of them."""
    with_vector: set[str] = field(default_factory=set)
    steps: list[tuple[int, set[int]]] = field(default_factory=list)
    """Every snapshot, and the rows that it has."""

    @property
    def table(self) -> IcebergTable:
        """As it is now; what is remembered of it goes."""
        return self.session.resolver.table(Name.of(self.name))[1]

    @property
    def left(self) -> set[int]:
        return set(range(self.written)) - self.gone

    def files(self) -> list[FileScanTask]:
        """The data files, deletes left aside."""
        handle = self.table.handle
        snapshot = handle.current_snapshot()
        assert snapshot is not None
        data = [m for m in snapshot.manifests(handle.io) if m.content == ManifestContent.DATA]
        return list(handle.scan()._manifest_planner.plan_files(data))

    def values(self, task: FileScanTask, *names: str) -> pa.Table:
        """All rows of a data file as pyiceberg reads them, deleted or not."""
        handle = self.table.handle
        schema = handle.schema().select(*names) if names else handle.schema()
        scan = ArrowScan(handle.metadata, handle.io, schema, AlwaysTrue())
        batches = list(scan._record_batches_from_scan_tasks_and_deletes([FileScanTask(task.file)], {}))
        return pa.concat_tables([pa.Table.from_batches([b]) for b in batches], promote_options="permissive")

    def truth(self) -> pa.Table:
        """The rows that are left, as queries see them."""
        shown = arrow_schema_of(self.table.handle.schema(), self.session.settings.time_zone)
        left = pa.array(self.left, pa.int64())
        batches = [b for task in self.files() for b in self.values(task).to_batches()]
        kept = [batch.filter(pc.is_in(batch.column("id"), left)) for batch in batches]
        return pa.Table.from_batches([conform(batch, shown) for batch in kept], shown)

    # --- changes --------------------------------------------------------------------------------------------------

    def append(self, r: Random) -> None:
        new = rows(self.table.handle, r, self.written)
        self.written += new.num_rows
        self.table.handle.append(new)

    def delete_places(self, r: Random) -> None:
        """Some rows of some data files of one partition, by a file of positions or by vectors."""
        files = self.files()
        first = r.choice(files)
        same = [f for f in files if f.file.spec_id == first.file.spec_id and f.file.partition == first.file.partition]
        chosen = [first, *r.sample([f for f in same if f is not first], min(len(same) - 1, r.choice([0, 0, 1, 2])))]
        doomed = [
            (f, set(r.sample(range(f.file.record_count), r.randint(1, min(2, f.file.record_count))))) for f in chosen
        ]
        for task, places in doomed:
            ids = self.values(task, "id").column("id").to_pylist()
            self.gone |= {ids[place] for place in places}
            self.vectors.setdefault(task.file.file_path, set()).update(places)
        if self.version == 3 and (r.random() < 0.7 or self._has_vector(chosen)):
            delete_vectors(self.table.handle, [(f, sorted(self.vectors[f.file.file_path])) for f in chosen])
            self.with_vector |= {f.file.file_path for f in chosen}
        else:
            delete_positions_of(self.table.handle, doomed, bounds=r.random() < 0.7)

    def _has_vector(self, files: Sequence[FileScanTask]) -> bool:
        """Then no file of positions may be written for it any more."""
        return any(f.file.file_path in self.with_vector for f in files)

    def delete_values(self, r: Random) -> None:
        """Rows that have some values in one or two columns, in a partition or in the whole table."""
        handle = self.table.handle
        columns = [f for f in handle.schema().fields if f.field_type.is_primitive]
        chosen = r.sample(columns, min(len(columns), r.choice([1, 1, 1, 2])))
        names = [f.name for f in chosen]
        files = self.files()
        unpartitioned = {i for i, spec in handle.metadata.specs().items() if spec.is_unpartitioned()}
        first = r.choice(files)
        everywhere = first.file.spec_id in unpartitioned or (bool(unpartitioned) and r.random() < 0.5)
        reached = [f for f in files if everywhere or _beside(f, first)]
        whole = rows(handle, r, r.randint(0, max(self.written - 1, 0)))
        keys = pa.concat_tables([whole.select(names).slice(0, 4), self._some_keys(first, whole.schema, names, r)])
        wanted = set(_keys(keys, names))
        for task in reached:
            found = self.values(task, "id", *names)
            pairs = zip(found.column("id").to_pylist(), _keys(found, names), strict=True)
            self.gone |= {i for i, key in pairs if key in wanted}
        delete_equal(handle, None if everywhere else first, keys, [f.field_id for f in chosen])

    def _some_keys(self, task: FileScanTask, schema: pa.Schema, names: list[str], r: Random) -> pa.Table:
        found = self.values(task, *names).select(names)
        target = pa.schema([schema.field(name) for name in names])
        row = found.slice(r.randrange(found.num_rows), 1)
        return pa.Table.from_batches([conform(b, target) for b in row.to_batches()], target)

    def remember(self) -> None:
        snapshot = self.table.handle.current_snapshot()
        if snapshot is not None:
            self.steps.append((snapshot.snapshot_id, self.left))


def _beside(one: FileScanTask, other: FileScanTask) -> bool:
    return one.file.spec_id == other.file.spec_id and one.file.partition == other.file.partition


def _keys(found: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    columns = [[_comparable(v) for v in found.column(name).to_pylist()] for name in names]
    return list(zip(*columns, strict=True))


def _comparable(v: Any) -> Any:
    return float.hex(v) if isinstance(v, float) else v


def make(session: Session, name: str, r: Random) -> Made:
    """A table that went through some changes."""
    fields = [NestedField(1, "id", LongType(), required=False)]
    fields += [NestedField(i, f"c{i}", some_type(r), required=False) for i in range(2, r.randint(4, 8))]
    schema = assign_fresh_schema_ids(Schema(*fields))
    made = Made(session, name, r.choice([2, 2, 3, 3]))
    catalog: Any = session.catalogs.get("lake").catalog
    spec = TableSpec(schema, _spec(schema, r), {"format-version": str(made.version), **SHORT_PATHS})
    catalog.create_table(("default",), name, spec)
    for step in range(r.randint(2, 8)):
        if step and r.random() < 0.4:
            evolve(made.table.handle, r, step)
        if made.version == 3 and r.random() < 0.2:
            kind, default = r.choice(DEFAULTS)
            do(session, f"ALTER TABLE {name} ADD COLUMN d{step} {kind} DEFAULT {default}")
        made.append(r)
        if r.random() < 0.25:
            made.delete_places(r)
        if r.random() < 0.15:
            made.delete_values(r)
        made.remember()
    return made


def _spec(schema: Schema, r: Random) -> PartitionSpec:
    able = [f for f in schema.fields if f.field_id > 1 and partitionable(f.field_type)]
    chosen = r.sample(able, min(len(able), r.choice([0, 0, 1, 2])))
    return PartitionSpec(
        *(PartitionField(f.field_id, 1000 + i, transforms_of(f.field_type, r), f"p{i}") for i, f in enumerate(chosen))
    )
