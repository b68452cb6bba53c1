"""Native scans against the plain path: whatever a table went through, and whatever is asked, the rows are the same.

Each case is a table with a random history and one random condition. The rows that pyiceberg's own reader gives of data
files, in memory, but those that are known to be deleted, are the truth; the scan of all files, the narrowed one, older
snapshots and what is left by a DELETE must agree with it. A failure tells its seed and its number.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from pinakes.core.catalog import IcebergTable
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.iceberg.scan import prune
from pinakes.engine.iceberg.scan import table as scans
from pinakes.engine.iceberg.scan.dataset import IcebergDataset
from pinakes.engine.iceberg.scan.tasks import plan
from pinakes.engine.session import Session
from tests.engine.scan_conditions import condition, query
from tests.engine.scan_tables import Made, make
from tests.engine.support import an_engine, chance, do, how_many, seed_of

CONDITIONS = 50
QUERIES = 5
"""Of the conditions: those that come from elsewhere in a query."""
TABLES = how_many(16, 1000)
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
            except Exception as error:
                raise AssertionError(f"table {number} of PINAKES_SEED={seed}: {error}") from error
    assert sum(some for some, _ in chosen) < 0.9 * sum(every for _, every in chosen), "hardly anything was left out"


def _one_table(session: Session, r: Random, number: int) -> None:
    session.run(f"SET time_zone = '{r.choice(ZONES)}'").read_all()
    made = make(session, f"t{number}", r)
    truth, schema = made.truth(), made.table.handle.schema()
    assert _rows(session.run(f"SELECT * FROM {made.name}").read_all()) == _rows(truth), "the rows of the whole table"
    assert _rows(_plain(session, made.table)) == _rows(truth), "the rows that changes see"
    _check_pyiceberg(made)
    asked = [condition(truth, schema, r) for _ in range(CONDITIONS - QUERIES)]
    for sql, ids in zip(asked, _expected(session, truth, asked), strict=True):
        found = _ids(session.run(f"SELECT id FROM {made.name} WHERE {sql}").read_all())
        if found != ids:
            _check_query(made, truth, f"SELECT id FROM {{t}} WHERE {sql}")
    for _ in range(QUERIES):
        _check_query(made, truth, query(truth, schema, r))
    _check_history(made, r)
    if r.random() < 0.5:
        _check_delete(made, truth, condition(truth, schema, r))


def _check_query(made: Made, truth: pa.Table, sql: str) -> None:
    found = _ids(made.session.run(sql.replace("{t}", made.name)).read_all())
    right = _ids(_in_memory(made.session, truth, sql.replace("{t}", "mem")))
    assert found == right, f"{sql}\n{found} and not {right}"


def _check_pyiceberg(made: Made) -> None:
    """pyiceberg reads the same, where it can: it refuses deletes by equality."""
    if any(task.deletes.equality for task in plan(made.table)):
        return
    found = made.table.handle.scan(selected_fields=("id",)).to_arrow()
    assert _ids(found) == sorted(made.left), "what pyiceberg reads"


def _check_history(made: Made, r: Random) -> None:
    snapshot, left = r.choice(made.steps)
    found = made.session.run(f"SELECT id FROM {made.name} FOR VERSION AS OF {snapshot}").read_all()
    assert _ids(found) == sorted(left), f"the rows of the snapshot {snapshot}"


def _check_delete(made: Made, truth: pa.Table, sql: str) -> None:
    """A change takes away what it is to, brings nothing back, and loses nothing."""
    right = _ids(_in_memory(made.session, truth, f"SELECT id FROM mem WHERE ({sql}) IS NOT TRUE"))
    do(made.session, f"DELETE FROM {made.name} WHERE {sql}")
    found = _ids(made.session.run(f"SELECT id FROM {made.name}").read_all())
    assert found == right, f"after DELETE … WHERE {sql}\n{found} and not {right}"


def _plain(session: Session, table: IcebergTable) -> pa.Table:
    """All rows as the plain path reads them."""
    dataset = IcebergDataset(table, session.settings.time_zone)
    batches = [b for task in dataset.tasks for b in dataset.read(task, dataset.schema.names)]
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
