"""Which calls a query leads to: no more than its conditions, its columns and its LIMIT need."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import rows, wait_until
from tests.system_tables.counting import BulkCatalog, CountingCatalog, engine_with, mount

NAMES = [f"t{i:02}" for i in range(20)]


def tree() -> dict[tuple[str, ...], tuple[list[str], list[str]]]:
    found: dict[tuple[str, ...], tuple[list[str], list[str]]] = {(f"s{i}",): (NAMES, ["v1", "v2"]) for i in range(5)}
    return {**found, ("s1", "deep"): (["below"], []), ("s1", "deep", "er"): (["bottom"], [])}


@pytest.fixture
def catalog() -> CountingCatalog:
    return CountingCatalog(tree())


@pytest.fixture
def other() -> CountingCatalog:
    return CountingCatalog({("x",): (["y"], [])})


@pytest.fixture
def engine(catalog: CountingCatalog, other: CountingCatalog) -> Iterator[Engine]:
    with engine_with(cat=catalog, other=other) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session()


ONE_TABLE = "table_catalog = 'cat' AND table_schema = 's1' AND table_name = 't03'"


def test_the_columns_of_one_table_cost_three_calls_and_then_none(
    session: Session, catalog: CountingCatalog, other: CountingCatalog
) -> None:
    query = f"SELECT column_name, data_type, is_nullable, comment FROM information_schema.columns WHERE {ONE_TABLE}"
    found = rows(session, query)
    assert found == [("id", "bigint", "NO", None), ("name", "varchar", "YES", "its name")]
    assert catalog.counts == {"list_tables": 1, "list_views": 1, "load_table": 1}
    assert rows(session, query) == found
    assert len(catalog.calls) == 3
    assert other.calls == []


def test_the_tables_of_one_schema_cost_a_listing_per_kind(
    session: Session, catalog: CountingCatalog, other: CountingCatalog
) -> None:
    query = "SELECT * FROM information_schema.tables WHERE table_catalog = 'cat' AND table_schema = 's1'"
    assert len(rows(session, query)) == 22
    assert catalog.calls == [("list_tables", ("s1",), ""), ("list_views", ("s1",), "")]
    assert other.calls == []


def test_a_schema_that_is_named_is_looked_for_in_every_catalog_and_nowhere_else(
    session: Session, catalog: CountingCatalog, other: CountingCatalog
) -> None:
    assert rows(session, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'x'") == [("y",)]
    assert {operation for operation, _, _ in (*catalog.calls, *other.calls)} == {"list_tables", "list_views"}
    assert {namespace for _, namespace, _ in (*catalog.calls, *other.calls)} == {("x",)}


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("table_schema = 's1' AND table_name = 't03'", None),
        ("table_schema IN ('s1') AND table_name IN ('t03', 'nope')", None),
        ("table_schema = $1 AND table_name = $2", ["s1", "t03"]),
        ("table_schema LIKE 's1' AND lower(table_name) = 't03'", None),
        ("table_schema = 's1' AND upper(table_name) = upper('t03')", None),
        ("table_schema = 's1' AND table_name ILIKE 'T03'", None),
        ("table_schema = 's1' AND table_name LIKE '%03'", None),
        ("(table_schema = 's1' AND table_name = 't03') OR (table_schema = 'none' AND table_name = 't04')", None),
        ("table_schema = 's1' AND NOT table_name <> 't03'", None),
        ("(table_schema, table_name) IN (('s1', 't03'), ('none', 't03'))", None),
        ("(table_schema, lower(table_name)) = ('s1', 't03')", None),
    ],
)
def test_conditions_reach_the_calls(
    session: Session, catalog: CountingCatalog, condition: str, parameters: list[str] | None
) -> None:
    query = f"SELECT column_name FROM cat.information_schema.columns WHERE {condition}"
    assert rows(session, query, parameters) == [("id",), ("name",)]
    assert catalog.counts["load_table"] == 1
    assert catalog.counts["load_view"] == catalog.counts["list_namespaces"] == 0
    assert {namespace for _, namespace, _ in catalog.calls} <= {("s1",), ("none",)}


@pytest.mark.parametrize(
    "joined",
    [
        "JOIN (VALUES ('s1', 'T03'), (NULL, 'x')) v(s, t) ON c.table_schema = v.s AND lower(c.table_name) = lower(v.t)",
        "JOIN (SELECT 's1' AS s, 't03' AS t UNION ALL SELECT 'none', 'nope') v "
        "ON c.table_schema = v.s AND c.table_name = v.t",
        ", (SELECT DISTINCT column1 AS s, column2 AS t FROM (VALUES ('s1', 't03')) AS v) v "
        "WHERE v.s = c.table_schema AND v.t = c.table_name",
        "WHERE c.table_schema IN (SELECT column1 FROM (VALUES ('s1')) v) AND table_name IN (SELECT 't03')",
    ],
)
def test_a_join_with_constants_reaches_the_calls(session: Session, catalog: CountingCatalog, joined: str) -> None:
    found = rows(session, f"SELECT c.column_name FROM cat.information_schema.columns c {joined}")
    assert sorted(found) == [("id",), ("name",)]
    assert catalog.counts["load_table"] == 1
    assert catalog.counts["list_namespaces"] == 0


def test_an_outer_join_keeps_what_has_no_partner(session: Session) -> None:
    query = (
        "SELECT count(*), count(v.s) FROM cat.information_schema.tables t "
        "LEFT JOIN (VALUES ('s1')) v(s) ON t.table_schema = v.s WHERE t.table_type <> 'SYSTEM VIEW'"
    )
    assert rows(session, query) == [(112, 22)]


def test_a_join_in_which_null_equals_null_keeps_what_has_no_name(session: Session) -> None:
    query = (
        "SELECT p.pool_type, p.catalog_name FROM system.runtime.pools p "
        "JOIN (VALUES (NULL), ('cat')) v(x) ON p.catalog_name IS NOT DISTINCT FROM v.x ORDER BY 1"
    )
    assert rows(session, query) == [("memory", None), ("metadata", "cat")]


def test_conditions_are_known_beside_what_can_not_be_serialised(session: Session, catalog: CountingCatalog) -> None:
    from pinakes.engine.datafusion.memory_sources import Rows

    session.temporary.put("d", Rows(pa.table({"c": ["id"]})))
    query = f"SELECT c.column_name FROM information_schema.columns c JOIN d ON c.column_name = d.c WHERE {ONE_TABLE}"
    assert rows(session, query) == [("id",)]
    assert len(catalog.calls) == 3


def test_a_subquery_that_is_a_value_has_its_own_conditions(session: Session, catalog: CountingCatalog) -> None:
    query = f"SELECT 1 AS one, (SELECT count(*) FROM information_schema.columns WHERE {ONE_TABLE}) AS n"
    assert rows(session, query) == [(1, 2)]
    assert catalog.counts == {"list_tables": 1, "list_views": 1, "load_table": 1}


def test_two_scans_of_one_table_are_answered_together(session: Session, catalog: CountingCatalog) -> None:
    query = (
        "SELECT a.table_name, b.table_name FROM cat.information_schema.tables a, cat.information_schema.tables b "
        "WHERE a.table_schema = 's1' AND b.table_schema = 's2' AND a.table_name = b.table_name"
    )
    assert len(rows(session, query)) == 22
    assert {namespace for _, namespace, _ in catalog.calls} == {("s1",), ("s2",)}


def test_names_load_nothing(session: Session, catalog: CountingCatalog) -> None:
    rows(session, "SELECT table_catalog, table_schema, table_name FROM information_schema.views")
    rows(session, "SELECT * FROM information_schema.tables")
    rows(session, "SELECT count(*) FROM information_schema.tables")
    assert catalog.counts["load_table"] == catalog.counts["load_view"] == 0
    rows(session, "SELECT view_definition FROM information_schema.views WHERE table_catalog = 'cat'")
    assert catalog.counts["load_view"] == 10
    assert catalog.counts["load_table"] == 0


def test_nested_namespaces_are_found_level_by_level(session: Session, catalog: CountingCatalog) -> None:
    found = rows(session, "SELECT schema_name FROM cat.information_schema.schemata ORDER BY 1")
    assert found == [(n,) for n in ("information_schema", "s0", "s1", "s1.deep", "s1.deep.er", "s2", "s3", "s4")]
    assert catalog.counts == {"list_namespaces": 8}
    assert rows(session, "SELECT table_name FROM cat.information_schema.tables WHERE table_schema = 's1.deep.er'") == [
        ("bottom",)
    ]


def test_limit_stops(session: Session, catalog: CountingCatalog) -> None:
    query = "SELECT * FROM cat.information_schema.columns WHERE table_schema LIKE 's%' LIMIT 3"
    assert len(rows(session, query)) == 3
    assert catalog.counts["load_table"] <= 3
    assert catalog.counts["list_tables"] <= 2
    assert catalog.counts["list_namespaces"] == 1


@pytest.mark.parametrize(
    "condition",
    [
        "table_catalog <> 'other'",
        "table_catalog NOT IN ('other', 'nope')",
        "table_catalog NOT LIKE 'ot%'",
        "table_catalog NOT ILIKE 'OTH__'",
        "lower(table_catalog) <> 'other'",
        "NOT (table_catalog = 'other' OR table_catalog = 'nope')",
    ],
)
def test_a_catalog_that_is_left_out_is_not_called(
    session: Session, catalog: CountingCatalog, other: CountingCatalog, condition: str
) -> None:
    """That is how one does without a catalog that hangs."""
    query = f"SELECT count(*) FROM information_schema.tables WHERE {condition} AND table_schema IN ('s1', 'x')"
    assert rows(session, query) == [(22,)]
    assert other.calls == []
    assert catalog.counts["list_namespaces"] == 0


def test_what_is_left_out_by_name_is_not_loaded(session: Session, catalog: CountingCatalog) -> None:
    where = "table_catalog = 'cat' AND table_schema = 's1' AND table_name <> 't03' AND table_name NOT LIKE 'v%'"
    assert rows(session, f"SELECT count(data_type) FROM information_schema.columns WHERE {where}") == [(38,)]
    assert catalog.counts == {"list_tables": 1, "list_views": 1, "load_table": 19}


@pytest.mark.parametrize(
    ("query", "calls", "found"),
    [
        ("SELECT table_name FROM cat.information_schema.tables WHERE table_type = 'VIEW'", {"list_views"}, 2),
        ("SELECT table_name FROM cat.information_schema.tables WHERE table_type LIKE 'BASE%'", {"list_tables"}, 20),
        ("SELECT table_name FROM cat.information_schema.tables WHERE table_type <> 'BASE TABLE'", {"list_views"}, 2),
        (
            "SELECT table_name FROM system.jdbc.tables t WHERE table_type IN ('VIEW') AND table_cat = 'cat'",
            {"list_views"},
            2,
        ),
    ],
)
def test_the_type_says_which_kind_is_listed(
    session: Session, catalog: CountingCatalog, query: str, calls: set[str], found: int
) -> None:
    schema = "table_schem" if "jdbc" in query else "table_schema"
    assert len(rows(session, f"{query} AND {schema} = 's1'")) == found
    assert set(catalog.counts) == calls


def test_a_pattern_that_all_names_meet_leaves_the_limit_its_effect(session: Session, catalog: CountingCatalog) -> None:
    query = "SELECT * FROM cat.information_schema.columns WHERE table_schema LIKE 's%' AND table_name LIKE '%' LIMIT 3"
    assert len(rows(session, query)) == 3
    assert catalog.counts["load_table"] <= 3


def test_limit_is_right_with_offset_and_conditions_of_other_kinds(session: Session) -> None:
    base = "FROM cat.information_schema.columns WHERE table_schema = 's1'"
    assert len(rows(session, f"SELECT * {base} LIMIT 5 OFFSET 40")) == 2
    assert len(rows(session, f"SELECT * {base} AND data_type = 'varchar' LIMIT 20")) == 20
    assert rows(session, f"SELECT table_name {base} ORDER BY table_name DESC LIMIT 1") == [("v2",)]
    assert rows(session, f"SELECT count(*) FROM (SELECT * {base} LIMIT 7)") == [(7,)]


def test_a_limit_above_a_condition_above_a_limit_counts_what_is_left(session: Session) -> None:
    first = "(SELECT * FROM cat.information_schema.tables WHERE table_schema = 's1' LIMIT 10)"
    query = f"SELECT table_name FROM {first} WHERE table_name = 't05' LIMIT 1"
    assert rows(session, query) == [("t05",)]


def test_a_catalog_that_names_everything_is_called_once(engine: Engine, session: Session) -> None:
    bulk = BulkCatalog(tree())
    mount(engine, "bulk", bulk)
    assert rows(session, "SELECT count(*) FROM bulk.information_schema.tables WHERE table_type <> 'SYSTEM VIEW'") == [
        (112,)
    ]
    assert bulk.counts == {"list_everything": 1}
    rows(session, "SELECT * FROM bulk.information_schema.schemata")
    assert bulk.counts == {"list_everything": 1, "list_all_namespaces": 1}
    rows(session, "SELECT * FROM bulk.information_schema.tables WHERE table_schema = 's1'")
    assert bulk.counts == Counter({"list_everything": 1, "list_all_namespaces": 1, "list_tables": 1, "list_views": 1})


def test_many_schemas_by_name_are_one_call_where_one_shows_all(engine: Engine, session: Session) -> None:
    bulk = BulkCatalog(tree())
    mount(engine, "bulk", bulk)
    named = ", ".join(f"'s{i}'" for i in range(2, 50))
    query = f"SELECT count(*) FROM bulk.information_schema.tables WHERE table_schema IN ({named})"
    assert rows(session, query) == [(66,)]
    schemata = f"SELECT schema_name FROM bulk.information_schema.schemata WHERE schema_name IN ({named})"
    assert rows(session, schemata) == [("s2",), ("s3",), ("s4",)]
    assert bulk.counts == {"list_everything": 1, "list_all_namespaces": 1}


def test_schemas_by_name_are_looked_for_at_the_same_time(session: Session, catalog: CountingCatalog) -> None:
    both = threading.Barrier(2)
    for name in ("s1", "s2"):
        catalog.trouble["namespace_exists", (name,), ""] = lambda: (both.wait(30), None)[1]
    query = "SELECT schema_name FROM cat.information_schema.schemata WHERE schema_name IN ('s1', 's2')"
    assert rows(session, query) == [("s1",), ("s2",)]


def test_loads_run_side_by_side_and_not_too_many(session: Session, catalog: CountingCatalog) -> None:
    import time

    for name in NAMES:
        catalog.trouble["load_table", ("s1",), name] = lambda: time.sleep(0.02)
    rows(session, "SELECT * FROM cat.information_schema.columns WHERE table_schema = 's1'")
    assert 2 <= catalog.most_at_once <= 8


def test_a_listing_that_may_be_given_out_old_is_read_again_meanwhile(engine: Engine, catalog: CountingCatalog) -> None:
    session = engine.session()
    session.run("SET GLOBAL cache.listings.stale = '1h'")
    session.run("SET GLOBAL cache.listings.ttl = '10ms'")
    query = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'cat' AND table_schema = 's1.deep'"
    assert rows(session, query) == [("below",)]
    catalog.tree["s1", "deep"] = (["made_outside"], [])
    wait_until(lambda: rows(session, query) == [("made_outside",)], "what is outside is never seen")


def test_explain_calls_no_catalog(session: Session, catalog: CountingCatalog) -> None:
    rows(session, "EXPLAIN SELECT * FROM information_schema.columns")
    assert catalog.calls == []


def test_a_condition_that_is_never_met_calls_no_catalog(session: Session, catalog: CountingCatalog) -> None:
    assert rows(session, "SELECT * FROM information_schema.columns WHERE table_schema = 'a' AND 1 = 0") == []
    assert rows(session, "SELECT * FROM information_schema.columns WHERE table_catalog = 'nope'") == []
    assert catalog.calls == []


def test_a_view_over_a_system_table_prunes_too(session: Session, catalog: CountingCatalog) -> None:
    session.run("CREATE VIEW all_columns AS SELECT * FROM information_schema.columns").read_all()
    assert len(rows(session, f"SELECT column_name FROM all_columns WHERE {ONE_TABLE}")) == 2
    assert len(catalog.calls) == 3


def test_what_lies_within_a_schema_is_requested_only_if_it_may_be_wanted(
    session: Session, catalog: CountingCatalog
) -> None:
    query = "SELECT DISTINCT table_schema FROM cat.information_schema.tables WHERE table_schema LIKE {} ORDER BY 1"
    assert rows(session, query.format("'s1%'")) == [("s1",), ("s1.deep",), ("s1.deep.er",)]
    assert [parent for operation, parent, _ in catalog.calls if operation == "list_namespaces"] == [
        (),
        ("s1",),
        ("s1", "deep"),
        ("s1", "deep", "er"),
    ]
    assert rows(session, query.format("'s_.deep'")) == [("s1.deep",)]
    assert rows(session, query.format("'%.er'")) == [("s1.deep.er",)]
