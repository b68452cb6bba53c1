"""SEARCH: how names rank, how much is loaded for it, and what is said when that is not all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.core.errors import CatalogUnavailable
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.system_tables import search
from pinakes.system_tables.search import AROUND, COMMENT, EXACT, PREFIX, SUBSTRING, WORD, SearchWords
from tests.engine.support import rows
from tests.system_tables.counting import BulkCatalog, CountingCatalog, engine_with, mount

NAMES = [f"t{i:02}" for i in range(20)]


def tree() -> dict[tuple[str, ...], tuple[list[str], list[str]]]:
    return {(f"s{i}",): ([*NAMES, "needle"] if i == 3 else NAMES, ["v1"]) for i in range(5)}


@pytest.fixture
def catalog() -> BulkCatalog:
    return BulkCatalog(tree())


@pytest.fixture
def engine(catalog: BulkCatalog) -> Iterator[Engine]:
    with engine_with(cat=catalog) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session()


@pytest.mark.parametrize(
    ("words", "name", "score"),
    [
        ("orders", "Orders", EXACT),
        ("order items", "order_items", EXACT),
        ("order items", "OrderItems", EXACT),
        ("Order_Items", "order_items", EXACT),
        ("order", "orders", PREFIX),
        ("order it", "order_items", PREFIX),
        ("order", "line_order", WORD),
        ("order", "lineOrder", WORD),
        ("items line", "line_items", (WORD + PREFIX) // 2),
        ("rder", "orders", SUBSTRING),
        ("straße", "STRASSE_ID", PREFIX),
        ("%", "orders", None),
        ("o_ders", "orders", None),
        ("orders cat", "orders", (EXACT + AROUND) // 2),
        ("cat", "orders", None),
        ("bought", "orders", COMMENT),
        ("orders bought", "orders", (EXACT + COMMENT) // 2),
        ("orders sold", "orders", None),
    ],
)
def test_how_well_a_name_fits(words: str, name: str, score: int | None) -> None:
    fit = SearchWords(words).fit(name, "what was Bought", "cat.s1")
    assert (fit.score if fit else None) == score


def test_names_are_listed_once_and_tables_loaded_once(session: Session, catalog: BulkCatalog) -> None:
    assert rows(session, "SEARCH 'needle'") == [("cat", "s3", "needle", None, "table", "needle", EXACT)]
    assert catalog.counts == {"list_everything": 1, "load_table": 101, "load_view": 5}
    rows(session, "SEARCH 'something else'")
    assert len(catalog.calls) == 107
    assert session.warnings == []


def test_conditions_limit_what_is_looked_at(session: Session, catalog: BulkCatalog) -> None:
    query = "SELECT table_name, column_name FROM system.metadata.search($1) WHERE catalog_name = 'cat' AND "
    found = rows(session, query + "schema_name = 's3' AND table_name = 'needle'", ["name"])
    assert found == [("needle", "name")]
    assert catalog.counts == {"list_tables": 1, "list_views": 1, "load_table": 1}


def test_no_more_is_loaded_than_the_bound(
    session: Session, catalog: BulkCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_LOADS", 10)
    rows(session, "SELECT * FROM cat.information_schema.columns WHERE table_schema = 's4' AND table_name = 't07'")
    catalog.calls.clear()
    found = rows(session, "SEARCH 'name' IN cat")
    assert catalog.counts["load_table"] + catalog.counts["load_view"] == 10
    assert ("cat", "s4", "t07", "name", "column", "name", EXACT - 5) in found  # remembered, so it costs nothing
    assert [w for w in session.warnings if "catalog 'cat' has more tables than one search loads: of 95 only" in w]
    assert rows(session, "SEARCH 'needle'") == [("cat", "s3", "needle", None, "table", "needle", EXACT)]


def test_a_catalog_that_fails_leaves_the_rest(engine: Engine, session: Session) -> None:
    def fails() -> None:
        raise CatalogUnavailable("no answer")

    broken = CountingCatalog({("x",): (["needle"], [])})
    broken.trouble["list_tables", ("x",), ""] = fails
    mount(engine, "broken", broken)
    assert rows(session, "SEARCH 'needle'") == [("cat", "s3", "needle", None, "table", "needle", EXACT)]
    assert "no answer" in session.warnings[0]
    assert rows(session, "SELECT catalog_name, message FROM system.metadata.errors") == [("broken", "no answer")]


def test_explain_calls_no_catalog(session: Session, catalog: BulkCatalog) -> None:
    rows(session, "EXPLAIN SELECT * FROM system.metadata.search('needle')")
    assert catalog.calls == []
