"""Subqueries that are computed once: how much of them, where their rows are kept, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from pinakes.core.errors import ExecutionError, QueryCanceled, QueryTimeout, WriteFailed
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.engine import Engine
from pinakes.engine.execution.tracker import State
from pinakes.engine.planning.optimize import compute
from pinakes.engine.planning.optimize.compute import Computed
from pinakes.engine.planning.optimize.kept_rows import KeptRows
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from tests.engine.support import an_engine, do, in_order, in_thread, info_of, rows, wait_until

TWICE = "WITH c AS (SELECT k, sum(v) AS n FROM t GROUP BY k) SELECT a.n, b.n FROM c a JOIN c b ON a.k = b.k"
ENDLESS = "WITH c AS (SELECT sum(value % 7) AS n FROM range(100000000000)) SELECT a.n FROM c a, c b"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "spill").mkdir()
    with an_engine(tmp_path / "lake", spill_dir=str(tmp_path / "spill")) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    session = engine.session()
    do(session, "CREATE TABLE t (k INT, v INT, s VARCHAR) PARTITIONED BY (k)")
    do(session, "INSERT INTO t SELECT x % 10, x, 'v' || x FROM unnest(range(0, 1000)) AS u(x)")
    return session


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Computed]:
    """What was computed once."""
    found: list[Computed] = []
    original = compute._provider

    def watched(execution: Execution, *rest: object) -> object:
        provided = original(execution, *rest)  # type: ignore[arg-type]
        found.append(provided[-1])
        return provided

    monkeypatch.setattr(compute, "_provider", watched)
    return found


# --- how much ----------------------------------------------------------------------------------------------------


def test_only_what_the_uses_take_is_computed(session: Session, computed: list[Computed]) -> None:
    text = "WITH c AS (SELECT k, sum(v) AS n, max(s) AS m FROM t GROUP BY k) SELECT a.n, b.k FROM c a, c b"
    assert len(rows(session, f"{text} WHERE a.k IN (1, 2) AND b.k = 7 AND b.n > 0")) == 2
    assert [(c.uses, c.rows, c.demand.names) for c in computed] == [(2, 3, ("k", "n"))]


def test_conditions_narrow_the_files_of_its_tables(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinakes.engine.iceberg.scan import prune

    chosen: list[int] = []
    original = prune.Pruner.files
    monkeypatch.setattr(
        prune.Pruner, "files", lambda self, scans: chosen.append(len(found := original(self, scans))) or found
    )
    found = rows(session, f"{TWICE} WHERE a.k IN (3, 4) AND b.k IN (3, 4) AND b.n > 0")
    assert (len(found), chosen) == (2, [2])


def test_one_that_reads_another(session: Session, computed: list[Computed]) -> None:
    """The first is computed for the second and for the statement: 1 and 2 for one, 5 for the other."""
    text = (
        "WITH a AS (SELECT k, sum(v) AS n FROM t GROUP BY k), b AS (SELECT k, n, count(*) AS c FROM a GROUP BY k, n) "
        "SELECT x.k, y.n FROM b x JOIN b y ON x.k = y.k WHERE x.k IN (1, 2) UNION ALL SELECT k, n FROM a WHERE k = 5"
    )
    plain = "SELECT k, sum(v) FROM t WHERE k IN (1, 2, 5) GROUP BY k"
    assert in_order(rows(session, text)) == in_order(rows(session, plain))
    assert [(c.name, c.rows) for c in computed] == [("a", 3), ("b", 2)]


def test_what_is_taken_is_known_beside_rows_in_memory(session: Session, computed: list[Computed]) -> None:
    session.temporary.put("mine", Rows(pa.table({"k": [1, 2]})))
    text = "WITH c AS (SELECT k, 10 / min(k) AS n FROM t GROUP BY k) SELECT a.n FROM mine JOIN c a ON a.k = mine.k"
    assert in_order(rows(session, f"{text} JOIN c b ON b.k = a.k WHERE a.k > 0 AND b.k > 0")) == [(5,), (10,)]
    assert [c.uses for c in computed] == [2]


def test_what_is_taken_by_an_expression_beside_rows_in_memory_is_not_known(
    session: Session, computed: list[Computed]
) -> None:
    """Such a plan can't be serialised, and a row that no use takes may fail: nothing is computed once."""
    session.temporary.put("mine", Rows(pa.table({"k": [1, 2]})))
    text = "WITH c AS (SELECT k, 10 / min(k) AS n FROM t GROUP BY k) SELECT k FROM mine"
    least, most = (f"(SELECT {f}(n) FROM c WHERE k > 0 AND k < 5)" for f in ("min", "max"))
    assert in_order(rows(session, f"{text} WHERE k < {least} AND k < {most}")) == [(1,)]
    assert computed == []


def test_explain_runs_nothing(session: Session, computed: list[Computed]) -> None:
    text = "WITH c AS (SELECT k, 1 / min(k) AS n FROM t GROUP BY k) SELECT a.n FROM c a JOIN c b ON a.k = b.k"
    told = rows(session, f"EXPLAIN {text}")
    assert [kind for kind, _ in told] == ["computed once: c", "logical_plan", "physical_plan"]
    assert [c.rows for c in computed] == [None]
    with pytest.raises(ExecutionError, match="division by zero"):
        rows(session, text)


def test_explain_analyze_shows_the_rows(session: Session) -> None:
    told = dict(rows(session, f"EXPLAIN ANALYZE {TWICE}"))
    assert told["computed once: c"].startswith("2 uses, columns k, n: 10 rows\n")


# --- where -------------------------------------------------------------------------------------------------------


def test_many_rows_are_kept_in_a_file(
    session: Session, computed: list[Computed], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = rows(session, TWICE)
    monkeypatch.setattr(compute, "IN_MEMORY", 10)
    assert in_order(rows(session, TWICE)) == in_order(plain)
    assert [c.is_in_file for c in computed] == [False, True]


def open_files(directory: Path) -> list[str]:
    """Those that this process has open, also if they have no name any more."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the listing itself
            found.append(str(link.readlink()))
    return [name for name in found if name.startswith(str(directory))]


def test_nothing_of_the_file_is_left(
    engine: Engine, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "IN_MEMORY", 10)
    result = session.run(TWICE)
    assert not list((tmp_path / "spill").rglob("tmp*"))
    result.close()
    failing = "WITH c AS (SELECT k, 1 / k AS n FROM t GROUP BY k) SELECT a.n FROM c a JOIN c b ON a.k = b.k"
    with pytest.raises(ExecutionError):
        rows(session, failing)
    assert not list((tmp_path / "spill").rglob("tmp*"))
    assert open_files(tmp_path / "spill") == []


def test_a_place_that_is_not_there(tmp_path: Path) -> None:
    batch = pa.record_batch({"a": list(range(100))})
    with pytest.raises(WriteFailed, match=r"cannot be kept in .*nowhere: No such file"):
        KeptRows(batch.schema, [batch], str(tmp_path / "nowhere"), in_memory=10)


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    batches = [pa.record_batch({"a": [i, None], "s": [f"text {i}", None]}) for i in range(5)]
    for limit in (0, 1 << 20):
        kept = KeptRows(batches[0].schema, iter(batches), str(tmp_path), in_memory=limit)
        assert (kept.is_in_file, kept.rows) == (limit == 0, 10)
        assert in_order([tuple(r.values()) for r in kept.frame(3, "c").to_pylist()]) == in_order(
            [tuple(r.values()) for r in pa.Table.from_batches(batches).to_pylist()]
        )
    none = KeptRows(batches[0].schema, [], None)
    assert none.frame(3, "c").to_pylist() == []


# --- when it is stopped ------------------------------------------------------------------------------------------


def test_cancel_while_it_is_computed(engine: Engine) -> None:
    session = engine.session()
    reading = in_thread(lambda: rows(session, ENDLESS))
    wait_until(lambda: any(q.state == State.RUNNING for q in engine.tracker.snapshot()), "it is computed")
    session.cancel()
    with pytest.raises(QueryCanceled):
        reading()
    assert info_of(engine, "100000000000").state == State.CANCELED
    assert rows(session, "SELECT 1") == [(1,)]


def test_time_out_while_it_is_computed(engine: Engine) -> None:
    session = engine.session()
    do(session, "SET statement_timeout = 0.3")
    with pytest.raises(QueryTimeout):
        rows(session, ENDLESS)
