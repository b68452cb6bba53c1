"""Completion: what is offered where, from what the session sees, without ever waiting for a catalog."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinakes.api.build import open_engine
from pinakes.api.completion import Completer, Completion
from pinakes.api.completion.files import file_names
from pinakes.api.completion.loader import Loader
from pinakes.api.completion.ranking import Names, ranked
from pinakes.config.model import parse_config
from pinakes.core.errors import CatalogUnavailable
from pinakes.engine.catalogs.registry import Mount
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.session import Session

SETUP = (
    "create table orders (id bigint, total double, customer_id bigint)",
    'create table customers (customer_id bigint, name varchar, "Mixed Case" varchar)',
    "create view big as select id, total as amount from orders",
    'create table "Odd Name" (a bigint)',
    'create table "order" (z bigint)',
    "create schema sales",
    "create schema sales.eu",
    "create table sales.regions (region varchar)",
    "create table sales.eu.towns (town varchar)",
    "create temp table scratch (temporary_column bigint)",
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    directory = tmp_path_factory.mktemp("completion")
    with open_engine(parse_config("[engine]\ndata = ':memory:'", directory)) as engine:
        session = engine.session()
        for sql in SETUP:
            for _ in session.run(sql):
                pass
        yield session


@pytest.fixture(scope="module")
def completer(session: Session) -> Completer:
    return Completer(session)


def ask(completer: Completer, text: str) -> list[Completion]:
    """What is offered at the `|`, when all that it needs has been fetched."""
    cursor = text.index("|")
    sql = text.replace("|", "", 1)
    for _ in range(6):  # each level of a name is fetched when the one above is known
        completer.complete(sql, cursor)
        assert completer.settle(60)
    return completer.complete(sql, cursor)


def texts(completer: Completer, text: str, *kinds: str) -> list[str]:
    return [found.text for found in ask(completer, text) if not kinds or found.kind in kinds]


RELATIONS = ("table", "view", "temporary")


@pytest.mark.parametrize(
    "text",
    [
        "select * from |",
        "SELECT * FROM orders o JOIN |",
        "select * from orders, |",
        "insert into |",
        "update |",
        "describe |",
        "drop table |",
        "drop table if exists |",
        "truncate table |",
        "select 1; select * from |; select 2",
        "select (select max(id) from |) from orders",
        "merge into orders using |",
        "show columns from |",
        "select * from orders where id in (select id from |",
        "-- a comment; with 'quotes\nselect * from |",
    ],
)
def test_tables_where_a_table_is_expected(completer: Completer, text: str) -> None:
    assert set(texts(completer, text, *RELATIONS)) == {"scratch", "orders", "customers", "big", '"Odd Name"', '"order"'}
    assert {"lake", "sales", "default"} <= set(texts(completer, text, "catalog", "namespace"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select | from orders", {"id", "total", "customer_id"}),
        ("select o.| from orders o", {"id", "total", "customer_id"}),
        ("select O.| from orders as o", {"id", "total", "customer_id"}),
        ("select c.| from orders o join customers c on true", {"customer_id", "name", '"Mixed Case"'}),
        ("select * from orders o join customers c on c.cust|", {"customer_id"}),
        ("select * from orders where |", {"id", "total", "customer_id"}),
        ("select * from orders order by | desc", {"id", "total", "customer_id"}),
        ("select * from lake.default.orders where |", {"id", "total", "customer_id"}),
        ("select lake.default.orders.| from lake.default.orders", {"id", "total", "customer_id"}),
        ("select regions.| from sales.regions", {"region"}),
        ("select | from lake.sales.eu.towns", {"town"}),
        ("select | from SALES.Regions", {"region"}),
        ("select | from scratch", {"temporary_column"}),
        ("select | from big", {"id", "amount"}),
        ("insert into orders (|", {"id", "total", "customer_id"}),
        ("update orders set | = 1", {"id", "total", "customer_id"}),
        ("delete from orders where |", {"id", "total", "customer_id"}),
        ("select count(|) from orders", {"id", "total", "customer_id"}),
        ("select extract(year from |) from orders", {"id", "total", "customer_id"}),
        ("select id, (select | from sales.regions) from orders", {"region", "id", "total", "customer_id"}),
        ("select | from orders where id in (select x from customers)", {"id", "total", "customer_id"}),
        ('select "Mi| from customers', {'"Mixed Case"'}),
        ("select `Mi| from customers", {"`Mixed Case`"}),
        ('select "Odd Name".| from "Odd Name"', {"a"}),
        ("select nowhere.| from orders", set()),
    ],
)
def test_columns_of_the_tables_in_sight(completer: Completer, text: str, expected: set[str]) -> None:
    assert set(texts(completer, text, "column")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "select * from lake.|",
            {"orders", "customers", "big", '"Odd Name"', '"order"', "sales", "default", "information_schema"},
        ),
        ("select * from lake.sales.|", {"regions", "eu"}),
        ("select * from sales.|", {"regions", "eu"}),
        ("select * from sales.eu.|", {"towns"}),
        ('select * from "sales"."eu".t|', {"towns"}),
        ("select * from nowhere.|", set()),
        ("use s|", {"sales", "system", "information_schema"}),
        ("use lake.|", {"sales", "default", "information_schema"}),
        ("search 'x' in la|", {"lake"}),
        ("search 'x' in lake.|", {"sales", "default", "information_schema"}),
        ("show f|", {"functions"}),
        ("show tables in |", {"sales", "default", "lake", "system", "information_schema"}),
        ("detach |", {"lake"}),
        ("set ti|", {"time_zone"}),
        (
            "reset |",
            {
                "batch_size",
                "metadata_errors",
                "metadata_timeout",
                "python_scan",
                "statement_timeout",
                "target_partitions",
                "time_zone",
            },
        ),
        ("sel|", {"select"}),
        ("SEL|", {"SELECT"}),
        ("select * fr|", {"from"}),
        ("select id from orders wh|", {"when", "where"}),
        ("with recent as (select 1) select * from rec|", {"recent"}),
        ("select * from gener|", {"generate_series"}),
        ("select coal|", {"coalesce"}),
    ],
)
def test_what_is_offered(completer: Completer, text: str, expected: set[str]) -> None:
    found = {t for t in texts(completer, text) if t not in ("catalog", "exists", "if", "namespace")}
    assert found - {"recursive"} == expected or (text.startswith("reset") and expected <= found)


@pytest.mark.parametrize(
    "text", ["select -- |", "select /* |", "select 'a|", "select 12|", "select 'a'|", "select a as |"]
)
def test_nothing_is_offered(completer: Completer, text: str) -> None:
    assert ask(completer, text) == []


def test_a_completion_replaces_what_was_typed(completer: Completer) -> None:
    assert ask(completer, "select * from lake.def|")[0] == Completion("default", 19, "namespace")
    assert ask(completer, 'select * from "Od|')[0] == Completion('"Odd Name"', 14, "table")
    assert ask(completer, "select o.tot| from orders o")[0] == Completion("total", 9, "column")


def test_registered_data_is_offered(session: Session, completer: Completer) -> None:
    session.temporary.put("frame", Rows(pa.table({"inner_column": [1]})))
    try:
        assert "frame" in texts(completer, "select * from fr|")
        assert texts(completer, "select inn| from frame", "column") == ["inner_column"]
    finally:
        session.temporary.remove("frame")


def test_a_new_table_is_offered_after_the_next_refresh(session: Session, completer: Completer) -> None:
    assert texts(completer, "select * from brand_n|") == []
    for _ in session.run("create table brand_new (a bigint)"):
        pass
    completer.refresh()
    assert texts(completer, "select * from brand_n|") == ["brand_new"]
    for _ in session.run("drop table brand_new"):
        pass
    completer.refresh()
    assert texts(completer, "select * from brand_n|") == []


def test_a_catalog_that_does_not_answer_delays_no_other(session: Session) -> None:
    release = threading.Event()
    registry = session.engine.registry

    def never(identity):
        release.wait()
        raise CatalogUnavailable("gone")

    slow = Mount("slow", "sqlite", "attach", "", never)
    registry.mount(slow)
    completer = Completer(session)
    try:
        assert completer.complete("select * from slow.", 19) == []
        assert completer.busy
        for _ in range(1000):
            found = completer.complete("select * from ord", 17)
            if found:
                break
            completer.settle(0.05)
        assert found[0].text == '"order"'
        assert "slow" in [c.text for c in completer.complete("use ", 4)]
        assert completer.busy
        release.set()
        assert completer.settle(60)
        assert completer.complete("select * from slow.", 19) == []
    finally:
        release.set()
        registry.detach(slow)


def test_what_failed_is_tried_again_after_a_refresh_and_keeps_what_was_known() -> None:
    loader = Loader()
    answers = iter([1, OSError("down"), 3])

    def load() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    seen = []
    for _ in range(3):
        loader.get("lane", "key", load, 0)
        assert loader.settle(60)
        seen.append(loader.get("lane", "key", load, 0))
        loader.refresh()
    assert seen == [1, 1, 3]


def test_files_where_a_file_may_stand(completer: Completer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "it's.csv").touch()
    (tmp_path / "data.parquet").touch()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    assert texts(completer, "select * from 'd|") == ["'data.parquet", "'deep/"]
    assert texts(completer, "select * from 'it|") == ["'it''s.csv"]
    assert texts(completer, "select * from read_csv('da|") == ["'data.parquet"]
    assert texts(completer, "copy orders to 'da|") == ["'data.parquet"]
    assert texts(completer, f"select * from '{tmp_path}/de|") == [f"'{tmp_path}/deep/"]
    assert texts(completer, "select * from orders where a = 'd|") == []
    assert file_names("s3://bucket/") == []


def test_files_outside_of_what_is_allowed_are_not_offered(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").touch()
    config = parse_config(f"[engine]\ndata = ':memory:'\nallowed_paths = ['{tmp_path}/in']", tmp_path)
    with open_engine(config) as engine:
        completer = Completer(engine.session())
        assert texts(completer, f"select * from '{tmp_path}/in/|") == [f"'{tmp_path}/in/a.csv"]
        assert texts(completer, f"select * from '{tmp_path}/|") == []


def test_closer_names_come_first() -> None:
    names = Names.of("table", ["my_orders", "border", "orders", "o_r_d", "Orders2"])
    assert [match.name for match in ranked("ord", [names])] == ["Orders2", "orders", "my_orders", "border"]
    assert [match.name for match in ranked("mod", [names])] == ["my_orders"]
    assert ranked("xyz", [names]) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text("selct from.,'\"`();o -\n/*|", max_size=40))
def test_no_text_is_too_odd(completer: Completer, text: str) -> None:
    for cursor in {0, len(text) // 2, len(text)}:
        for found in completer.complete(text, cursor):
            assert 0 <= found.start <= cursor
