"""Whatever a query says of names, its rows are those of the same query over a plain copy of the table."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.session import Session
from pinakes.system_tables.name_predicates import All, Any, Like, NamePredicate, OneOf, RowOf, both, either
from tests.engine.support import chance, how_many, in_order, rows, seed_of
from tests.system_tables.counting import BulkCatalog, CountingCatalog, engine_with

NAMES = ["a", "A", "ab", "a_b", "a%b", "a\\b", "äß", "ÄSS", "K", "k", "ſ", "s", "x.y", "", "it's", "İ"]
SCHEMAS = [("a",), ("A",), ("a", "b"), ("a.b",), ("äß",), ("s", "a", "b"), ('q"x',)]
TEXTS = [*NAMES, "a.b", '"a.b"', "a%", "%b", "_", "%", "a\\_b", "a\\%b", "S%", "cat", "CAT", "bulk", "c%", "\\", "a\\"]
COLUMNS = ["table_catalog", "table_schema", "table_name"]


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def condition(dice: random.Random, depth: int = 2) -> str:
    column = dice.choice(COLUMNS)
    value = literal(dice.choice(TEXTS))
    if depth and dice.random() < 0.4:
        left, right = condition(dice, depth - 1), condition(dice, depth - 1)
        return f"({left} {dice.choice(['AND', 'OR'])} {right})"
    if dice.random() < 0.1:
        return f"NOT (table_name = {value} AND table_schema LIKE {literal(dice.choice(TEXTS))})"
    match dice.randrange(11):
        case 9:
            pairs = [(literal(dice.choice(TEXTS)), literal(dice.choice(TEXTS))) for _ in range(4)]
            return " OR ".join(f"(lower(table_name) = {n} AND table_schema = {s})" for n, s in pairs).join("()")
        case 10:
            pairs = [(literal(dice.choice(TEXTS)), literal(dice.choice(TEXTS))) for _ in range(4)]
            return f"(table_catalog, table_name) IN ({', '.join(f'({c}, {n})' for c, n in pairs)})"
        case 0 | 1:
            return f"{column} = {value}"
        case 2:
            values = [literal(dice.choice(TEXTS)) for _ in range(3)] + ["NULL"] * dice.randrange(2)
            return f"{column} {dice.choice(['IN', 'NOT IN'])} ({', '.join(values)})"
        case 3:
            return f"{column} {dice.choice(['LIKE', 'ILIKE', 'NOT LIKE'])} {value}"
        case 4:
            fold = dice.choice(["lower", "upper"])
            return f"{fold}({column}) = {fold}({value})"
        case 5:
            return f"lower({column}) LIKE {value}"
        case 6:
            other = literal(dice.choice(TEXTS))
            return f"{column} IN (SELECT column1 FROM (VALUES ({value}), ({other})) v)"
        case 7:
            return f"CAST({column} AS VARCHAR) = {value}"
        case _:
            kind = dice.choice(["= 'VIEW'", "<> 'VIEW'", "LIKE '%VIEW'", "IN ('BASE TABLE')", "NOT IN ('VIEW', 'x')"])
            return dice.choice([f"table_type {kind}", f"{column} <> {value}", f"{column} IS NOT NULL"])


def tree() -> dict[tuple[str, ...], tuple[list[str], list[str]]]:
    return {schema: ([n for n in NAMES if n], ["v", "V"]) for schema in SCHEMAS}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with engine_with(cat=CountingCatalog(tree()), bulk=BulkCatalog(tree()), CAT=CountingCatalog(tree())) as engine:
        session = engine.session()
        everything = session.run("SELECT * FROM information_schema.tables").read_all()
        session.temporary.put("copied", Rows(everything))
        yield session


@pytest.mark.parametrize("number", range(how_many(150, 5000)))
def test_rows_are_those_of_a_plain_table(session: Session, number: int) -> None:
    dice = chance(seed_of("conditions"), number)
    where = condition(dice)
    forms = [
        "SELECT * FROM {table} t WHERE {where}",
        "SELECT count(*) FROM {table} t WHERE {where}",
        "SELECT DISTINCT t.table_schema FROM {table} t JOIN (VALUES ('a', 'A'), ('s.a.b', 'äß')) v(s, n) "
        "ON t.table_schema = v.s AND upper(t.table_name) = upper(v.n) WHERE {where}",
        "SELECT t.table_name, v.s FROM {table} t LEFT JOIN (VALUES ('a'), ('A')) v(s) ON t.table_schema = v.s "
        "WHERE {where}",
        "SELECT count(*) FROM (SELECT * FROM {table} t WHERE {where} LIMIT 7)",
        "SELECT (SELECT count(*) FROM {table} t WHERE {where}) AS n",
        "SELECT a.table_name FROM {table} a JOIN (SELECT * FROM {table} t WHERE {where}) t "
        "USING (table_catalog, table_schema, table_name)",
    ]
    form = dice.choice(forms)
    found = rows(session, form.format(table="information_schema.tables", where=where))
    assert in_order(found) == in_order(rows(session, form.format(table="copied", where=where))), where


def test_what_a_condition_knows_in_advance() -> None:
    one: NamePredicate = OneOf("schema", frozenset({"a", "b"}))
    assert one.may({"catalog": "x"})
    assert not one.may({"schema": "c"})
    assert All((one, OneOf("schema", frozenset({"b", "c"})))).values("schema") == frozenset({"b"})
    assert Any((one, OneOf("table", frozenset({"t"})))).values("schema") is None
    assert Like("table", "plain").values("table") == frozenset({"plain"})
    assert Like("table", "wild%").values("table") is None


def test_rows_of_names_are_one_list_however_they_are_written() -> None:
    """Each is a look into a set: a list of conditions would be gone through for each of a hundred thousand names."""
    pairs = [(f"s{i % 7}", f"t{i}") for i in range(500)]
    found = either(*(both(OneOf("table", frozenset({t})), OneOf("schema", frozenset({s}))) for s, t in pairs))
    assert isinstance(found, RowOf)
    assert found.values("schema") == {s for s, _ in pairs}
    assert found.values("catalog") is None
    assert found.may({"schema": "s3", "table": "t10"})
    assert found.may({"schema": "s3"})
    assert not found.may({"schema": "s4", "table": "t10"})
    assert not found.may({"schema": "s7"})
    assert found.reaches("schema", "s")
    assert not found.reaches("schema", "s1.")


def test_a_list_is_not_made_of_what_is_none() -> None:
    both_of_one = both(OneOf("table", frozenset({"a"})), OneOf("table", frozenset({"b"})))
    assert not either(both_of_one, OneOf("schema", frozenset({"s"}))).may({"table": "a", "schema": "t"})
    many = frozenset(map(str, range(50)))
    product = either(both(OneOf("table", many), OneOf("schema", many)), OneOf("catalog", frozenset({"c"})))
    assert product.may({"catalog": "x", "schema": "1", "table": "2"})
    assert not product.may({"catalog": "x", "schema": "1", "table": "x"})
    folded = either(*(both(OneOf("table", frozenset({t}), "lower"), OneOf("schema", frozenset({"s"}))) for t in "ab"))
    assert folded.may({"schema": "s", "table": "B"})
    assert folded.may({"schema": "s", "table": "É"})
    assert not folded.may({"schema": "t", "table": "É"})


def test_a_pattern_of_many_wildcards_is_soon_answered() -> None:
    """By steps, not by time: backtracking would not end here."""
    assert not Like("table", "%a" * 40 + "b").may({"table": "a" * 2000})
