"""SHOW and DESCRIBE: the rows of the system tables, by one listing per operation, and without a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import rows
from tests.system_tables.counting import CountingCatalog, engine_with


@pytest.fixture
def catalog() -> CountingCatalog:
    return CountingCatalog({("s1",): (["t1", "t2"], ["v1"]), ("s2",): ([], []), ("s1", "deep"): (["below"], [])})


@pytest.fixture
def engine(catalog: CountingCatalog) -> Iterator[Engine]:
    with engine_with(cat=catalog) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session()


PLACE = {"list_namespaces": 1}
"""What it takes to find out how a level that is not quoted is spelled."""
OBJECTS = {"list_tables": 1, "list_views": 1}
LOAD = {**PLACE, **OBJECTS, "load_table": 1}


@pytest.mark.parametrize(
    ("sql", "calls"),
    [
        ("SHOW CATALOGS", {}),
        ("SHOW SCHEMAS IN cat", {"list_namespaces": 1}),
        ("SHOW SCHEMAS IN cat LIKE 's%'", {"list_namespaces": 1}),
        ("SHOW SCHEMAS IN cat.s1", {"list_namespaces": 2}),
        ("SHOW TABLES IN cat.s1", {**PLACE, **OBJECTS}),
        ("SHOW TABLES IN cat.s1 ILIKE 'T_'", {**PLACE, **OBJECTS}),
        ('SHOW TABLES IN cat."s1"', {"namespace_exists": 1, **OBJECTS}),
        ("SHOW VIEWS IN cat.s1", {**PLACE, "list_views": 1}),
        ("SHOW COLUMNS FROM cat.s1.t1", LOAD),
        ("DESCRIBE cat.s1.t1", LOAD),
        ("SHOW CREATE TABLE cat.s1.t1", LOAD),
        ("SHOW SECRETS", {}),
        ("SHOW SESSION", {}),
        ("SHOW TABLES IN cat.information_schema", {}),
        ("DESCRIBE cat.information_schema.columns", {}),
    ],
)
def test_one_listing_per_operation_and_none_when_warm(
    session: Session, catalog: CountingCatalog, sql: str, calls: dict[str, int]
) -> None:
    assert rows(session, sql) or sql == "SHOW SECRETS"
    assert catalog.counts == Counter(calls)
    catalog.calls.clear()
    rows(session, sql)
    again = {**OBJECTS, "load_table": 1} if "CREATE" in sql else {}  # a definition is read as it is now
    assert catalog.counts == Counter(again)


@pytest.mark.parametrize(
    ("show", "select"),
    [
        ("SHOW CATALOGS", "SELECT catalog_name FROM system.metadata.catalogs"),
        (
            "SHOW SCHEMAS IN cat",
            "SELECT schema_name FROM cat.information_schema.schemata WHERE schema_name NOT LIKE '%.%'",
        ),
        (
            "SHOW SCHEMAS IN cat.s1",
            "SELECT schema_name FROM cat.information_schema.schemata WHERE schema_name LIKE 's1.%'",
        ),
        ("SHOW SCHEMAS IN system", "SELECT schema_name FROM system.information_schema.schemata"),
        (
            "SHOW TABLES IN cat.s1",
            "SELECT table_name FROM cat.information_schema.tables WHERE table_schema = 's1'",
        ),
        (
            "SHOW TABLES IN cat.information_schema",
            "SELECT table_name FROM cat.information_schema.tables WHERE table_schema = 'information_schema'",
        ),
        (
            "SHOW VIEWS IN cat.s1",
            "SELECT table_name FROM cat.information_schema.views WHERE table_schema = 's1'",
        ),
        (
            "SHOW COLUMNS FROM cat.s1.t1",
            "SELECT column_name, data_type, CASE is_nullable WHEN 'NO' THEN 'not null' ELSE '' END, "
            "coalesce(comment, '') FROM cat.information_schema.columns "
            "WHERE table_schema = 's1' AND table_name = 't1' ORDER BY ordinal_position",
        ),
        (
            "DESCRIBE system.metadata.errors",
            "SELECT column_name, data_type, '', comment FROM system.information_schema.columns "
            "WHERE table_schema = 'metadata' AND table_name = 'errors' ORDER BY ordinal_position",
        ),
    ],
)
def test_a_show_has_the_rows_of_its_table(session: Session, show: str, select: str) -> None:
    ordered = select if "ORDER BY" in select else f"{select} ORDER BY 1"
    assert rows(session, show) == rows(session, ordered) != []


def test_headers_are_those_of_trino(session: Session) -> None:
    for sql, names in {
        "SHOW CATALOGS": ["Catalog"],
        "SHOW SCHEMAS IN cat": ["Schema"],
        "SHOW TABLES IN cat.s1": ["Table"],
        "SHOW COLUMNS FROM cat.s1.t1": ["Column", "Type", "Extra", "Comment"],
        "DESCRIBE cat.s1.t1": ["Column", "Type", "Extra", "Comment"],
        "SHOW CREATE TABLE cat.s1.t1": ["Create Table"],
    }.items():
        assert session.run(sql).schema.names == names, sql


def test_nothing_is_planned(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinakes.engine.planning.planner import Planner

    def planned(*_: object, **__: object) -> None:
        raise AssertionError("a plan was made")

    monkeypatch.setattr(Planner, "plan", planned)
    for sql in ("SHOW TABLES IN cat.s1", "SHOW COLUMNS FROM cat.s1.t1", "DESCRIBE cat.s1.t1", "SEARCH 't1'"):
        assert rows(session, sql)


def test_a_schema_that_is_not_there(session: Session) -> None:
    from pinakes.core.errors import NamespaceNotFound

    for sql in ("SHOW TABLES IN cat.nope", 'SHOW TABLES IN cat."nope"', 'SHOW SCHEMAS IN cat."nope"'):
        with pytest.raises(NamespaceNotFound, match=r"cat has: s1, s2"):
            session.run(sql)
