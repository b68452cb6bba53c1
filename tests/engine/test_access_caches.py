"""What is remembered lets nobody past the guard: plans, opened tables and manifests that were made for somebody else,
or for the same user under other rights."""

from __future__ import annotations

import gc
import json
import sqlite3
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import CatalogConfig, Config, EngineConfig
from pinakes.core.errors import PermissionDenied
from pinakes.core.identity import Identity
from pinakes.engine.binding.relation import Relation
from pinakes.engine.catalogs.authorization.guard import Guard
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.engine.catalogs.authorization.rules import PROCEDURES
from pinakes.engine.engine import Engine
from pinakes.engine.procedures.registry import RUNTIME
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows

ADMIN = Identity("ann", roles=frozenset({"admin"}))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    config = Config(engine=replace(EngineConfig(), data=str(tmp_path / "lake")))
    with open_engine(config, Policy(("attach",))) as engine:
        do(engine.session(ADMIN), "CREATE TABLE t AS SELECT 1 AS x")
        do(engine.session(ADMIN), "CREATE VIEW v AS SELECT x FROM t")
        yield engine


def plan_hits(engine: Engine) -> int:
    return next(stats.hits for stats in engine.caches.stats() if stats.name == "plans")


class Changing(Guard):
    """Lets all relations pass, until some are withheld, or shown otherwise."""

    withheld: frozenset[str] = frozenset()
    shown: Relation | None = None

    def relation(self, relation: Relation) -> Relation:
        if relation.path[-1] in self.withheld:
            raise PermissionDenied(f"{relation.path[-1]} is withheld")
        return replace(relation, provider=self.shown.provider) if self.shown is not None else relation


def changing(session: Session) -> Changing:
    session._guard = guard = Changing(session.identity, session.engine.policy, session.engine.files)
    return guard


@pytest.mark.parametrize("withheld", ["t", "v"])
def test_a_known_plan_asks_the_guard_for_each_relation_again(engine: Engine, withheld: str) -> None:
    session = engine.session(ADMIN)
    guard = changing(session)
    before = plan_hits(engine)
    assert [rows(session, "SELECT x FROM v") for _ in range(3)] == [[(1,)]] * 3
    assert plan_hits(engine) > before
    guard.withheld = frozenset({withheld})
    with pytest.raises(PermissionDenied, match=f"{withheld} is withheld"):
        session.run("SELECT x FROM v")
    guard.withheld = frozenset()
    assert rows(session, "SELECT x FROM v") == [(1,)]


def test_nor_does_a_result_that_is_remembered_answer(engine: Engine) -> None:
    session = engine.session(ADMIN)
    guard = changing(session)
    do(session, "SET result_cache = on")
    assert [rows(session, "SELECT x FROM t") for _ in range(2)] == [[(1,)]] * 2
    guard.withheld = frozenset({"t"})
    with pytest.raises(PermissionDenied):
        session.run("SELECT x FROM t")


def test_what_the_guard_shows_otherwise_is_planned_each_time(engine: Engine) -> None:
    """So will it be with row filters: neither is such a plan kept, nor is the one from before given out."""
    session = engine.session(ADMIN)
    do(session, "CREATE TABLE other AS SELECT 2 AS x")
    guard = changing(session)
    assert [rows(session, "SELECT x FROM t") for _ in range(2)] == [[(1,)]] * 2
    seen: list[Relation] = []
    guard.relation = lambda relation: (seen.append(relation), relation)[1]  # type: ignore[method-assign]
    assert rows(session, "SELECT x FROM other") == [(2,)]
    del guard.relation  # type: ignore[method-assign]
    guard.shown = seen[0]
    assert [rows(session, "SELECT x FROM t") for _ in range(2)] == [[(2,)]] * 2
    guard.shown = None
    assert rows(session, "SELECT x FROM t") == [(1,)]


def test_a_plan_is_not_given_to_a_user_whose_roles_have_changed(engine: Engine) -> None:
    session = engine.session(ADMIN)
    before = plan_hits(engine)
    assert [rows(session, "SELECT x FROM t") for _ in range(2)] == [[(1,)]] * 2
    assert plan_hits(engine) == before + 1
    session.renew(Identity("ann"))
    assert rows(session, "SELECT x FROM t") == [(1,)]
    assert plan_hits(engine) == before + 1


def test_kept_relations_hold_no_session(engine: Engine) -> None:
    session = engine.session(ADMIN)
    assert rows(session, "SELECT x FROM v") == [(1,)]
    gone = weakref.ref(session)
    session.close()
    del session
    gc.collect()
    assert gone() is None


def test_every_procedure_of_the_engine_has_a_rule() -> None:
    assert set(PROCEDURES) == set(RUNTIME)


@pytest.mark.parametrize(
    "sql",
    [
        "CALL system.runtime.flush_cache('all')",
        "SET GLOBAL cache.plans.max_entries = 5",
        "RESET GLOBAL cache.plans.max_entries",
    ],
)
def test_what_concerns_everybody_is_for_administrators(engine: Engine, sql: str) -> None:
    with pytest.raises(PermissionDenied, match=r"for administrators here.*global_settings"):
        engine.session(Identity("bob")).run(sql)
    do(engine.session(ADMIN), sql)
    with open_engine(Config(), Policy(("global_settings",))) as lenient:
        do(lenient.session(Identity("bob")), sql)


# --- files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def pointed(tmp_path: Path) -> Path:
    """A catalog in `inside`, whose table names the manifests of another one's, which lie in `outside`."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    with an_engine(tmp_path / "lake") as engine:
        session = engine.session(ADMIN)
        for name, place in (("theirs", outside), ("mine", inside)):
            do(session, f"ATTACH '{place}' AS {name} (TYPE sqlite)")
            do(session, f"CREATE SCHEMA {name}.s")
            do(session, f"CREATE TABLE {name}.s.t AS SELECT 1 AS x")
        for value in range(2, 8):  # so many files that those are left out which their statistics rule out
            do(session, f"INSERT INTO theirs.s.t VALUES ({value})")
    (database,) = inside.glob("*.db")
    with sqlite3.connect(database) as direct:
        (location,) = direct.execute("SELECT metadata_location FROM iceberg_tables").fetchone()
    direct.close()
    theirs = max(outside.rglob("*.metadata.json"), key=_snapshots)
    ours = Path(location.removeprefix("file://"))
    ours.write_text(theirs.read_text())
    return tmp_path


def _snapshots(path: Path) -> int:
    return len(json.loads(path.read_text()).get("snapshots", ()))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM mine.s.t",
        "SELECT count(*) FROM mine.s.t",
        "SELECT x FROM mine.s.t WHERE x > 500",
        'SELECT * FROM mine.s."t$files"',
        "SHOW STATS FOR mine.s.t",
        "EXPLAIN FULL SELECT x FROM mine.s.t WHERE x > 500",
        "TRUNCATE TABLE mine.s.t",
        "DELETE FROM mine.s.t WHERE x = 1",
    ],
)
def test_manifests_that_another_catalog_may_read_are_not_given_to_one_that_may_not(sql: str, pointed: Path) -> None:
    inside, outside = pointed / "inside", pointed / "outside"
    settings = replace(EngineConfig(), data=str(pointed / "lake"), allowed_paths=(str(inside),))
    config = Config(engine=settings, catalogs={"theirs": CatalogConfig("theirs", "sqlite", str(outside))})
    with open_engine(config) as engine:
        session = engine.session(ADMIN)
        assert rows(session, "SELECT count(*) FROM theirs.s.t WHERE x > 0") == [(7,)]  # now they are remembered
        do(session, f"ATTACH '{inside}' AS mine (TYPE sqlite)")
        with pytest.raises(PermissionDenied):
            session.run(sql).read_all()
