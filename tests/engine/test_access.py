"""The one place where what is asked is held against who asks: every kind of statement, relation and question passes it.

A new kind of statement or table function without a decision in `engine/catalogs/authorization/rules.py` fails here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.core.access.privileges import PRIVILEGES
from pinakes.core.errors import PermissionDenied, PinakesError
from pinakes.core.identity import Identity
from pinakes.engine.binding.relation import Relation
from pinakes.engine.catalogs.authorization.guard import Guard
from pinakes.engine.catalogs.authorization.policy import EMBEDDED, Policy
from pinakes.engine.catalogs.authorization.rules import RULES, TABLE_FUNCTIONS
from pinakes.engine.datafusion.functions import functions
from pinakes.engine.describe import describe
from pinakes.engine.driver_metadata import asking
from pinakes.engine.engine import Engine
from pinakes.engine.files.access import FileAccess
from pinakes.engine.session import Session
from pinakes.parser import classify, statements
from pinakes.parser.calls import READERS
from pinakes.parser.statements import Planned, Statement
from pinakes.providers.files import FilesCatalog
from tests.parser.cases import CASES

KINDS = [
    kind.__name__
    for kind in (getattr(statements, name) for name in statements.__all__)
    if isinstance(kind, type)
    and issubclass(kind, Statement)
    and kind not in (Statement, Planned, statements.Returning, statements.Conflict)
]
EXAMPLES = {kind: sql for sql, kind, _ in reversed(CASES)}


class Seen(PermissionDenied):
    """What the watchful guard raises."""


class Watchful(Guard):
    """Refuses some kinds of statements, and notes the relations that it lets pass."""

    def __init__(self, identity: Identity, policy: Policy, everywhere: FileAccess) -> None:
        super().__init__(identity, policy, everywhere)
        self.refused: set[str] = set()
        self.relations: list[str] = []
        self.questions: list[str] = []

    def statement(self, statement: Statement) -> None:
        if statement.kind in self.refused:
            raise Seen(statement.kind)
        super().statement(statement)

    def relation(self, relation: Relation) -> Relation:
        self.relations.append(relation.path[-1])
        return relation

    def metadata(self, what: str) -> None:
        self.questions.append(what)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(parse_config(f"[engine]\ndata = '{tmp_path / 'lake'}'", tmp_path)) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session(Identity("ann", roles=frozenset({"admin"})))


@pytest.fixture
def guard(session: Session, engine: Engine) -> Watchful:
    watchful = Watchful(session.identity, EMBEDDED, engine.files)
    session._guard = watchful
    return watchful


def do(session: Session, sql: str) -> None:
    session.run(sql).read_all()


# --- nothing is left out -----------------------------------------------------------------------------------------


def test_every_kind_of_statement_has_a_rule() -> None:
    assert set(RULES) == set(KINDS)


def test_every_function_of_rows_has_a_rule() -> None:
    known = {f.name for f in functions() if f.kind == "table"} | {name.lower() for name in READERS} | {"search"}
    assert set(TABLE_FUNCTIONS) == known


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_checked_before_anything_is_done(kind: str, session: Session, guard: Watchful) -> None:
    """EXAMPLES name tables that do not exist: whoever looks first raises another error."""
    guard.refused.add(kind)
    sql = EXAMPLES[kind]
    assert classify(sql).kind == kind
    with pytest.raises(Seen, match=kind):
        session.run(sql)
    with pytest.raises(Seen, match=kind):
        describe(session, sql)
    assert guard.relations == []


def test_a_kind_without_a_rule_is_refused(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(RULES, "ShowCatalogs")
    with pytest.raises(PinakesError, match="no privilege is defined for ShowCatalogs"):
        session.run("SHOW CATALOGS")


@pytest.mark.parametrize(
    ("sql", "inner"),
    [
        ("EXECUTE p", "Query"),
        ("EXPLAIN SELECT 1", "Query"),
        ("EXPLAIN FULL SELECT 1", "Query"),
        ("EXPLAIN FULL CREATE TABLE t AS SELECT 1 AS x", "CreateTableAs"),
    ],
)
def test_a_statement_in_a_statement_is_checked(sql: str, inner: str, session: Session, guard: Watchful) -> None:
    do(session, "PREPARE p AS SELECT 1")
    guard.refused.add(inner)
    with pytest.raises(Seen, match=inner):
        session.run(sql)
    with pytest.raises(Seen, match=inner):
        describe(session, sql)


# --- relations ---------------------------------------------------------------------------------------------------


@pytest.fixture
def tables(session: Session, tmp_path: Path) -> Path:
    for sql in (
        "CREATE TABLE t AS SELECT 1 AS x",
        "CREATE TABLE u AS SELECT 1 AS x",
        "CREATE VIEW v AS SELECT x FROM t",
        "CREATE VIEW w AS SELECT x FROM v",
        "CREATE TEMP TABLE own AS SELECT 1 AS x",
    ):
        do(session, sql)
    (tmp_path / "f.csv").write_text("x\n1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("sql", "read"),
    [
        ("SELECT x FROM t", {"t"}),
        ("SELECT x FROM w", {"w", "v", "t"}),
        ("SELECT x FROM t WHERE x IN (SELECT x FROM u)", {"t", "u"}),
        ("WITH c AS (SELECT x FROM u) SELECT x FROM c", {"u"}),
        ("SELECT x FROM own", {"own"}),
        ("SELECT * FROM t FOR VERSION AS OF main", {"t"}),
        ("EXPLAIN SELECT x FROM w", {"w", "v", "t"}),
        ("EXPLAIN FULL SELECT x FROM w", {"w", "v", "t"}),
        ("DESCRIBE SELECT x FROM v", {"v", "t"}),
        ("SUMMARIZE w", {"w", "v", "t"}),
        ("COPY (SELECT x FROM v) TO '{tmp}/out.csv'", {"v", "t"}),
        ("COPY t TO '{tmp}/out.csv'", {"t"}),
        ("CREATE TABLE n AS SELECT x FROM v", {"v", "t"}),
        ("CREATE VIEW n AS SELECT x FROM v", {"v", "t"}),
        ("INSERT INTO u SELECT x FROM v", {"v", "t"}),
        ("UPDATE u SET x = 2 WHERE x IN (SELECT x FROM v)", {"u", "v", "t"}),
        ("DELETE FROM u WHERE x IN (SELECT x FROM v)", {"u", "v", "t"}),
        ("MERGE INTO u USING v ON u.x = v.x WHEN MATCHED THEN DELETE", {"u", "v", "t"}),
        ("SELECT * FROM system.runtime.queries", {"queries"}),
        ("SELECT * FROM information_schema.tables", {"tables"}),
        ('SELECT * FROM lake.default."t$snapshots"', {"t$snapshots"}),
        ("SELECT * FROM '{tmp}/f.csv'", {"f"}),
        ("SELECT * FROM read_csv('{tmp}/f.csv')", {"read_csv"}),
        ("SELECT * FROM system.metadata.search('t')", {"search"}),
    ],
)
def test_every_relation_is_passed_on_by_the_guard(
    sql: str, read: set[str], session: Session, tables: Path, guard: Watchful
) -> None:
    do(session, sql.format(tmp=tables))
    found = {name.partition("@")[0] for name in guard.relations}
    assert read <= found


def test_a_prepared_statement_passes_when_it_is_described(session: Session, tables: Path, guard: Watchful) -> None:
    describe(session, "SELECT x FROM w")
    assert {"w", "v", "t"} <= set(guard.relations)


def test_what_drivers_ask_outside_of_sql_passes(session: Session, guard: Watchful) -> None:
    with asking(session, "GetCatalogs") as metadata:
        metadata.catalogs()
    assert guard.questions == ["GetCatalogs"]


# --- who is who --------------------------------------------------------------------------------------------------


def test_an_embedded_engine_lets_everybody_do_everything() -> None:
    assert EMBEDDED.everybody_may == frozenset(PRIVILEGES)


@pytest.mark.parametrize("power", PRIVILEGES)
def test_administrators_have_every_power_and_others_what_is_configured(power: str) -> None:
    nothing, this = Policy(()), Policy((power,))
    admin, bob = Identity("ann", roles=frozenset({"admin"})), Identity("bob", roles=frozenset({"analyst"}))
    assert nothing.may(admin, power)
    assert not nothing.may(bob, power)
    assert this.may(bob, power)
    with pytest.raises(PermissionDenied, match=f"for administrators here.*{power}"):
        nothing.require(bob, power, "this")


@pytest.mark.parametrize("starts", [True, lambda location: location.startswith("run ")])
def test_catalogs_that_start_programs(starts: object, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FilesCatalog, "RUNS_COMMANDS", starts, raising=False)
    with open_engine(engine.config, Policy(("attach", "local_files"))) as server:
        with pytest.raises(PermissionDenied, match=r"start a program.*worker_commands"):
            server.session(Identity("bob")).run("ATTACH 'run rm -rf /x' AS x (TYPE files, VERIFY false)")
        admin = server.session(Identity("ann", roles=frozenset({"admin"})))
        do(admin, "ATTACH 'run rm -rf /x' AS x (TYPE files, VERIFY false)")


def test_a_session_takes_over_new_roles_and_stays_that_of_its_user(engine: Engine, tmp_path: Path) -> None:
    with open_engine(engine.config, Policy(())) as server:
        session = server.session(Identity("bob"))
        with pytest.raises(PermissionDenied):
            session.run(f"ATTACH '{tmp_path}/x' AS x (TYPE sqlite)")
        session.renew(Identity("bob", "token", frozenset({"admin"})))
        do(session, f"ATTACH '{tmp_path}/x' AS x (TYPE sqlite)")
        assert session.catalogs.get("x").identity.token == "token"
        session.renew(Identity("bob"))
        with pytest.raises(PermissionDenied):
            session.run(f"ATTACH '{tmp_path}/y' AS y (TYPE sqlite)")
        with pytest.raises(PinakesError, match="stays that of its user"):
            session.renew(Identity("ann"))
