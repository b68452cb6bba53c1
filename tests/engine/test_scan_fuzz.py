"""Native scans against the plain path: whatever a table went through, and whatever is asked, the rows are the same.

Each case is a table with a random history and one random condition. What pyiceberg's own reader gives, in memory, is
the truth; the scan of all files and the narrowed one must agree with it. A failure tells its seed and its number.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.manifest import ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.types import LongType, NestedField

from pinakes.core.catalog import IcebergTable, TableSpec
from pinakes.core.names import Name
from pinakes.engine.scan import prune
from pinakes.engine.scan import table as scans
from pinakes.engine.scan.dataset import IcebergDataset
from pinakes.engine.session import Session
from pinakes.engine.sources import Rows
from tests.engine.delete_files import delete_equal, delete_positions
from tests.engine.scan_cases import DEFAULTS, condition, evolve, partitionable, rows, some_type, transforms_of
from tests.engine.support import an_engine, chance, do, how_many, seed_of

CONDITIONS = 50
TABLES = how_many(40, 1000)
GROUPS = 8
ZONES = ["UTC", "Europe/Berlin", "America/St_Johns"]


@pytest.fixture(autouse=True)
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Every table is narrowed; of how many files how many were chosen, each time."""
    monkeypatch.setattr(scans, "FEW", -1)
    found: list[tuple[int, int]] = []
    files = prune.Pruner.files

    def counted(self: prune.Pruner, wanted: Any) -> list[int]:
        numbers = files(self, wanted)
        found.append((len(numbers), len(self._files)))
        return numbers

    monkeypatch.setattr(prune.Pruner, "files", counted)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_a_narrowed_scan_gives_what_the_plain_path_gives(group: int, chosen: list[tuple[int, int]]) -> None:
    seed = seed_of("scan fuzz")
    with an_engine() as engine:
        session = engine.session()
        for number in range(group, TABLES, GROUPS):
            r = chance(seed, "scan", number)
            try:
                _one_table(session, r, number)
            except AssertionError as error:
                raise AssertionError(f"table {number} of PINAKES_SEED={seed}: {error}") from error
    assert sum(some for some, _ in chosen) < 0.9 * sum(every for _, every in chosen), "hardly anything was left out"


def _one_table(session: Session, r: Random, number: int) -> None:
    name = f"t{number}"
    session.run(f"SET time_zone = '{r.choice(ZONES)}'").read_all()
    table = _made(session, name, r)
    truth = _plain(session, table)
    assert _rows(session.run(f"SELECT * FROM {name}").read_all()) == _rows(truth), "the rows of the whole table"
    asked = [condition(truth, table.handle.schema(), r) for _ in range(CONDITIONS)]
    expected = _expected(session, truth, asked)
    for sql, ids in zip(asked, expected, strict=True):
        found = _ids(session.run(f"SELECT id FROM {name} WHERE {sql}").read_all())
        if found != ids:
            again = _ids(_in_memory(session, truth, f"SELECT id FROM mem WHERE {sql}"))
            assert found == again, f"{sql}\n{found} and not {again}"


def _made(session: Session, name: str, r: Random) -> IcebergTable:
    fields = [NestedField(1, "id", LongType(), required=False)]
    fields += [NestedField(i, f"c{i}", some_type(r), required=False) for i in range(2, r.randint(4, 8))]
    schema = Schema(*_renumbered(fields))
    partitioned = [f for f in schema.fields if f.field_id > 1 and partitionable(f.field_type)]
    chosen = r.sample(partitioned, min(len(partitioned), r.choice([0, 0, 1, 2])))
    spec = PartitionSpec(
        *(PartitionField(f.field_id, 1000 + i, transforms_of(f.field_type, r), f"p{i}") for i, f in enumerate(chosen))
    )
    version = r.choice(["2", "2", "3"])
    catalog: Any = session.catalogs.get("lake").catalog
    catalog.create_table(("default",), name, TableSpec(schema, spec, {"format-version": version}))
    first = 0
    for step in range(r.randint(2, 8)):
        _, table = session.resolver.table(Name.of(name))
        if step and r.random() < 0.4:
            evolve(table.handle, r, step)
            _, table = session.resolver.table(Name.of(name))
        if version == "3" and r.random() < 0.3:
            kind, default = r.choice(DEFAULTS)
            do(session, f"ALTER TABLE {name} ADD COLUMN d{step} {kind} DEFAULT {default}")
            _, table = session.resolver.table(Name.of(name))
        new = rows(table.handle, r, first)
        first += new.num_rows
        table.handle.append(new)
        if r.random() < 0.15:
            task = r.choice(list(table.handle.scan()._manifest_planner.plan_files(_data_manifests(table))))
            delete_positions(table.handle, task, r.sample(range(task.file.record_count), 1))
        if r.random() < 0.1:
            _delete_equal(session, name, r)
    return session.resolver.table(Name.of(name))[1]


def _delete_equal(session: Session, name: str, r: Random) -> None:
    """Rows of a partition that have one of some ids, or some values of another column, are gone."""
    _, table = session.resolver.table(Name.of(name))
    task = r.choice(list(table.handle.scan()._manifest_planner.plan_files(_data_manifests(table))))
    columns = [f for f in table.handle.schema().fields if f.field_type.is_primitive and f.name != "id"]
    chosen = [table.handle.schema().find_field("id")] if r.random() < 0.5 or not columns else [r.choice(columns)]
    whole = rows(table.handle, r, r.randint(0, 10))
    keys = whole.select([f.name for f in chosen])
    delete_equal(table.handle, task, keys, [f.field_id for f in chosen])


def _data_manifests(table: IcebergTable) -> list[ManifestFile]:
    snapshot = table.handle.current_snapshot()
    assert snapshot is not None
    return [m for m in snapshot.manifests(table.handle.io) if m.content == ManifestContent.DATA]


def _renumbered(fields: list[NestedField]) -> list[NestedField]:
    return list(assign_fresh_schema_ids(Schema(*fields)).fields)


def _plain(session: Session, table: IcebergTable) -> pa.Table:
    """All rows as pyiceberg reads them."""
    dataset = IcebergDataset(table, session.settings.time_zone)
    batches = [b for task in dataset.tasks() for b in dataset.read(task, dataset.schema.names)]
    return pa.Table.from_batches(batches, dataset.schema)


def _expected(session: Session, truth: pa.Table, asked: list[str]) -> list[list[int]]:
    """The ids that meet each condition, in one query for all."""
    columns = ", ".join(f"({sql}) IS TRUE AS p{i}" for i, sql in enumerate(asked))
    found = _in_memory(session, truth, f"SELECT id, {columns} FROM mem")
    return [_ids(found.filter(found.column(f"p{i}"))) for i in range(len(asked))]


def _in_memory(session: Session, truth: pa.Table, sql: str) -> pa.Table:
    return session.run(sql, lookup=lambda name: Rows(truth) if name == "mem" else None).read_all()


def _ids(found: pa.Table) -> list[int]:
    return sorted(found.column("id").to_pylist())


def _rows(found: pa.Table) -> list[str]:
    return sorted(repr(row) for row in found.to_pylist())
