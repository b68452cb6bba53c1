"""Two users with different rights on one warm process: neither ever sees a name that only the other may see.

Nessie decides who sees what (`tests/servers/nessie.py`): what has `aliceonly` in its name is hidden from bob, what has
`bobonly` from alice. Every system table that there is gets asked, so a new one is covered as soon as it is declared.
What the users type has neither mark in it, so wherever one shows up it has leaked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pinakes.api.completion.completer import Completer
from pinakes.core.errors import PinakesError
from pinakes.core.identity import Identity
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.system_tables import registry
from tests.engine.support import an_engine, do, in_thread, rows
from tests.providers.kinds import new_name, store_secret
from tests.providers.tokens import token_of
from tests.servers.base import Facts

pytestmark = pytest.mark.slow

MARKS = {"alice": "aliceonly", "bob": "bobonly"}


@dataclass
class User:
    name: str
    session: Session
    completer: Completer
    heard: list[str] = field(default_factory=list)
    """All that this user was ever told."""
    failed: dict[str, str] = field(default_factory=dict)
    """The statements that were errors, with their codes."""

    @property
    def own(self) -> str:
        return MARKS[self.name]

    @property
    def foreign(self) -> str:
        return next(mark for user, mark in MARKS.items() if user != self.name)

    def ask(self, sql: str) -> str:
        """Rows with their header, or the error."""
        try:
            table = self.session.run(sql).read_all()
            self.heard.append(f"{sql}\n{table.schema.names}\n{table.to_pylist()}")
        except PinakesError as error:
            self.heard.append(f"{sql}\n{error.code}: {error}\n{error.__cause__}")
            self.failed[sql] = error.code
        self.heard += [f"{sql}\nwarning: {warning}" for warning in self.session.warnings]
        self.session.warnings.clear()
        return self.heard[-1]

    def complete(self, text: str) -> str:
        for _ in range(4):  # each turn knows one level more
            offered = self.completer.complete(text, len(text))
            self.heard.append(f"{text}⇥ {[c.text for c in offered]}")
            self.completer.settle(60)
        return self.heard[-1]


@dataclass
class SystemContext:
    shared: str
    alice: User
    bob: User

    @property
    def users(self) -> tuple[User, User]:
        return (self.alice, self.bob)


@pytest.fixture(scope="module")
def context(
    nessie_auth_server: Facts, keycloak_server: Facts, moto_server: Facts, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SystemContext]:
    with an_engine() as engine:
        shared = new_name("shared")
        admin = engine.session(Identity("admin", token_of(keycloak_server), frozenset({"admin"})))
        do(admin, store_secret(moto_server))
        common = "PASS_TOKEN true, VISIBILITY all, STORAGE_SECRET store, VIEWS true"
        do(admin, f"ATTACH '{nessie_auth_server['uri']}' AS lab (TYPE iceberg_rest, {common})")
        _fill(admin, shared)
        users = [_user(engine, keycloak_server, name, tmp_path_factory.mktemp(name)) for name in MARKS]
        yield SystemContext(shared, *users)


def _fill(admin: Session, shared: str) -> None:
    """In a namespace that both see, what one of them sees alone; and namespaces of their own."""
    do(admin, f"CREATE SCHEMA lab.{shared} WITH (owner = 'both')")
    for mark in MARKS.values():
        do(admin, f"CREATE SCHEMA lab.{shared}.sub_{mark}")
        do(admin, f"CREATE SCHEMA lab.{new_name(f'shared_{mark}')} WITH ('tag.team' = 'team_{mark}')")
        for place in (shared, f"{shared}.sub_{mark}"):
            table = f"lab.{place}.t_{mark}"
            columns = f"1 AS id, 'x' AS c_{mark}"
            do(admin, f"CREATE TABLE {table} WITH ('tag.owner' = 'tag_{mark}') AS SELECT {columns}")
            do(admin, f"COMMENT ON TABLE {table} IS 'comment_{mark}'")
            do(admin, f"COMMENT ON COLUMN {table}.id IS 'remark_{mark}'")
            do(admin, f"CREATE VIEW lab.{place}.v_{mark} AS SELECT c_{mark} FROM {table}")
    do(admin, f"CREATE TABLE lab.{shared}.t AS SELECT 1 AS id, 'y' AS word")
    do(admin, f"CREATE TABLE lab.{shared}.closed AS SELECT 1 AS id, 'y' AS locked")


def _user(engine: Engine, keycloak: Facts, name: str, place: Path) -> User:
    """A user with a catalog, a secret, a temporary table and a prepared statement of their own."""
    session = engine.session(Identity(name, token_of(keycloak, name)), source=f"client_{MARKS[name]}")
    mark = MARKS[name]
    do(session, f"ATTACH '{place}' AS mine_{mark} (TYPE sqlite, VISIBILITY user)")
    do(session, f"CREATE SCHEMA mine_{mark}.s_{mark}")
    do(session, f"CREATE TABLE mine_{mark}.s_{mark}.own_{mark} AS SELECT 1 AS own_{mark}")
    do(session, f"CREATE SECRET secret_{mark} (TYPE bearer, TOKEN 'token_{mark}')")
    do(session, f"CREATE TEMP TABLE temp_{mark} AS SELECT 1 AS temp_{mark}")
    do(session, f"PREPARE prepared_{mark} AS SELECT 'prepared_{mark}'")
    with suppress(PinakesError):
        do(session, f"SELECT failed_{mark} FROM mine_{mark}.s_{mark}.own_{mark}")
    return User(name, session, Completer(session))


def system_tables() -> Iterator[str]:
    """Every system table there is, in every place that it can be asked in."""
    for schema in registry.SCHEMAS:
        for name in registry.names(schema):
            yield f"{SYSTEM}.{schema}.{name}"
            if schema == INFORMATION_SCHEMA:
                yield f"{INFORMATION_SCHEMA}.{name}"
                yield f"lab.{INFORMATION_SCHEMA}.{name}"


def statements(shared: str) -> list[str]:
    """SHOW, DESCRIBE, SEARCH, and what is wrong in ways that make an error list what there is."""
    return [
        *(f"SELECT * FROM {table}" for table in system_tables()),
        *(f"SELECT count(*) AS n FROM {table}" for table in system_tables()),
        "SHOW CATALOGS",
        "SHOW SCHEMAS IN lab",
        f"SHOW SCHEMAS IN lab.{shared}",
        f"SHOW TABLES IN lab.{shared}",
        f"SHOW TABLES IN lab.{shared} LIKE '%only%'",
        f"SHOW VIEWS IN lab.{shared}",
        f"SHOW COLUMNS FROM lab.{shared}.t",
        f"SHOW CREATE TABLE lab.{shared}.t",
        f"SHOW CREATE SCHEMA lab.{shared}",
        f"SHOW STATS FOR lab.{shared}.t",
        "SHOW FUNCTIONS",
        "SHOW CACHES",
        "SHOW TABLES",
        "SHOW SECRETS",
        "SHOW SESSION",
        f"DESCRIBE lab.{shared}.t",
        f"DESCRIBE SCHEMA lab.{shared}",
        f"DESCRIBE lab.{shared}.closed",
        "SEARCH 'only'",
        "SEARCH 'only' IN lab",
        f"SEARCH 'only' IN lab.{shared}",
        "SELECT * FROM system.metadata.search('only')",
        "SELECT * FROM system.metadata.search('remark')",
        f"SELECT * FROM lab.{shared}.t_",
        f"SELECT * FROM lab.{shared}.t_onl",
        f'SELECT * FROM lab.{shared}."t_$snapshots"',
        f"SELECT wor FROM lab.{shared}.t",
        f"SELECT * FROM lab.{shared}.sub.t",
        f"SELECT * FROM lab.{shared}.closed",
        "SELECT * FROM lab.shared_.t",
        "SELECT * FROM min.s.own",
        "SELECT * FROM temp_",
        "SELECT * FROM temp.temp_",
        f"DROP VIEW lab.{shared}.v_",
        f"USE lab.{shared}_",
        "DETACH mine",
        "DROP SECRET secret_",
        "EXECUTE prepared_",
        "KILL '1'",
        "ATTACH 'x' AS a (TYPE iceberg_rest, SECRET secret_)",
    ]


def typed(shared: str) -> list[str]:
    return [
        "SELECT * FROM ",
        "SELECT * FROM lab.",
        f"SELECT * FROM lab.{shared}.",
        f"SELECT * FROM lab.{shared}.t_",
        f"SELECT  FROM lab.{shared}.t",
        "DETACH ",
        "DROP SECRET ",
        "USE lab.",
        "SELECT * FROM mine",
        "SELECT * FROM temp",
        f"SELECT * FROM lab.{shared}.sub",
    ]


def leaks(user: User) -> list[str]:
    return [text for text in user.heard if user.foreign in text]


def test_each_sees_their_own_and_nothing_of_the_other(context: SystemContext) -> None:
    """In turns, statement by statement, twice: then everything is warm, and the other one asks first."""
    for turn in (context.users, context.users[::-1]):
        for sql in statements(context.shared):
            for user in turn:
                user.ask(sql)
        for text in typed(context.shared):
            for user in turn:
                user.complete(text)
    for user in context.users:
        assert leaks(user) == []
        assert "INTERNAL_ERROR" not in user.failed.values()
        assert [sql for sql in user.failed if sql.endswith(tuple(system_tables()))] == []  # else nothing was asked


def test_both_at_the_same_time(context: SystemContext) -> None:
    def walk(user: User) -> None:
        for sql in statements(context.shared):
            user.ask(sql)

    for joined in [in_thread(lambda user=user: walk(user)) for user in context.users]:  # type: ignore[misc]
        joined()
    for user in context.users:
        assert leaks(user) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT catalog_name FROM system.metadata.catalogs",
        "SELECT schema_name FROM lab.information_schema.schemata",
        "SELECT table_name FROM lab.information_schema.tables",
        "SELECT column_name FROM lab.information_schema.columns",
        "SELECT comment FROM lab.information_schema.columns",
        "SELECT view_definition FROM lab.information_schema.views",
        "SELECT comment FROM system.metadata.table_comments",
        "SELECT tag_value FROM system.metadata.tags",
        "SHOW CATALOGS",
        "SHOW SCHEMAS IN lab",
        "SHOW TABLES IN lab.{shared}",
        "SHOW VIEWS IN lab.{shared}",
        "SHOW SECRETS",
        "SEARCH 'only'",
        "SELECT * FROM lab.{shared}.t_",
    ],
)
def test_each_does_see_their_own(context: SystemContext, sql: str) -> None:
    """Else nothing could leak, and nothing would be shown by the tests above."""
    for user in context.users:
        said = user.ask(sql.format(shared=context.shared)).split("\n", 1)[1]
        assert user.own in said
        assert user.foreign not in said


def test_each_is_offered_their_own(context: SystemContext) -> None:
    for user in context.users:
        assert user.own in user.complete(f"SELECT * FROM lab.{context.shared}.").split("⇥")[1]


def test_what_may_be_listed_and_not_loaded_is_no_failure(context: SystemContext) -> None:
    """Nessie answers a denied load with 500. The table is there for bob, its columns are not, and nothing failed."""
    where = f"WHERE table_catalog = 'lab' AND table_schema = '{context.shared}' AND table_name = 'closed'"
    bob, alice = context.bob.session, context.alice.session
    for _ in range(2):
        assert rows(bob, f"SELECT table_name FROM information_schema.tables {where}") == [("closed",)]
        assert rows(bob, f"SELECT column_name FROM information_schema.columns {where}") == []
        assert rows(alice, f"SELECT column_name FROM information_schema.columns {where}") == [("id",), ("locked",)]
        assert rows(bob, "SEARCH 'locked' IN lab") == []
        assert bob.warnings == []
    failed = rows(bob, f"SELECT * FROM system.metadata.errors WHERE schema_name = '{context.shared}'")
    assert failed == []
    with pytest.raises(PinakesError) as caught:
        bob.run(f"DESCRIBE lab.{context.shared}.closed")
    assert caught.value.code == "PERMISSION_DENIED"


def test_what_is_requested_by_name_is_not_there(context: SystemContext) -> None:
    """Whoever guesses a name learns no more than that nothing is there for them."""
    for user in context.users:
        for name in (f"t_{user.foreign}", f"v_{user.foreign}", f"t_{user.foreign}$snapshots"):
            with pytest.raises(PinakesError) as caught:
                user.session.run(f'SELECT * FROM lab.{context.shared}."{name}"').read_all()
            assert caught.value.code == "TABLE_NOT_FOUND"
        columns = f"SELECT * FROM information_schema.columns WHERE table_name = 't_{user.foreign}'"
        assert rows(user.session, columns) == []


def test_statements_of_others_are_not_shown(context: SystemContext) -> None:
    for user in context.users:
        found: list[Any] = rows(user.session, 'SELECT DISTINCT "user" FROM system.runtime.queries')
        assert found == [(user.name,)]
