"""Chains that would bring down DataFusion are refused before it sees them; flat lists may be of any length."""

from __future__ import annotations

import pytest

from pinakes.core.errors import NotSupportedError
from pinakes.parser import classify
from pinakes.parser.limits import MOST_CHAINED, MOST_JOINS, MOST_SET_OPERATORS

pytestmark = pytest.mark.slow


def chains(count: int) -> dict[str, str]:
    """Statements with `count` operators in a row."""
    return {
        "plus": "SELECT " + "1+" * count + "1",
        "or": "SELECT * FROM t WHERE " + "a = 1 OR " * count + "b",
        "and": "DELETE FROM t WHERE " + "a = 1 AND " * count + "b",
        "not": "SELECT " + "NOT " * count + "a",
        "minus": "SELECT " + "- " * count + "1",
        "cast": "SELECT 1" + "::int" * count,
        "is null": "SELECT a" + " IS NULL" * count,
        "index": "SELECT a" + "[1]" * count,
        "time zone": "SELECT a" + " AT TIME ZONE 'UTC'" * count,
        "concat": "UPDATE t SET s = " + "a || " * count + "b",
        "view": "CREATE VIEW v AS SELECT " + "1+" * count + "1",
    }


@pytest.mark.parametrize("name", chains(0))
def test_long_chains_are_refused(name: str) -> None:
    classify(chains(MOST_CHAINED - 2)[name])
    for count in (MOST_CHAINED + 1, 20_000):
        with pytest.raises(NotSupportedError, match=r"write x IN \(…\)"):
            classify(chains(count)[name])


def test_chains_in_brackets_add_up() -> None:
    inner = "1" + "+1" * 400
    assert classify(f"SELECT ({inner})*({inner})*({inner})")
    with pytest.raises(NotSupportedError, match="operators in one expression"):
        classify(f"SELECT (({inner})+{inner})+{inner}")


def test_nested_cases_add_up() -> None:
    with pytest.raises(NotSupportedError, match="operators in one expression"):
        classify("SELECT " + "CASE WHEN a THEN 1 ELSE " * 5_000 + "0" + " END" * 5_000)


@pytest.mark.parametrize("operator", ["UNION ALL", "UNION", "EXCEPT", "INTERSECT"])
def test_set_operators_are_bounded(operator: str) -> None:
    classify("SELECT 1" + f" {operator} SELECT 1" * MOST_SET_OPERATORS)
    for count in (MOST_SET_OPERATORS + 1, 5_000):
        with pytest.raises(NotSupportedError, match=r"set operators .* VALUES"):
            classify("SELECT 1" + f" {operator} SELECT 1" * count)


@pytest.mark.parametrize("join", [" JOIN u ON true", ", u", " CROSS JOIN u"])
def test_joins_are_bounded(join: str) -> None:
    with pytest.raises(NotSupportedError, match="joins in one statement"):
        classify("SELECT * FROM t" + join * (MOST_JOINS + 1))


def test_definitions_are_bounded() -> None:
    """Each may read the one before, which nests their plans."""
    chain = ", ".join(f"c{i} AS (SELECT * FROM c{i - 1})" for i in range(1, 5_000))
    with pytest.raises(NotSupportedError, match="queries in WITH"):
        classify(f"WITH c0 AS (SELECT 1), {chain} SELECT * FROM c4999")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t WHERE a IN (" + "-1, " * 5_000 + "1)",
        "VALUES " + "(-1, a = b), " * 5_000 + "(1, true)",
        "INSERT INTO t VALUES " + "(-1, 1 + 1), " * 5_000 + "(1, 2)",
        "SELECT " + "a + 1, " * 5_000 + "b FROM t",
        "SELECT CASE " + "WHEN a = 1 THEN b + 1 " * 5_000 + "END FROM t",
        "SELECT a IS DISTINCT FROM b, " + "c, " * 5_000 + "d FROM t ORDER BY " + "a, " * 5_000 + "b",
        "SELECT * FROM t, (VALUES " + "(1), " * 5_000 + "(2)) v",
        "SELECT coalesce(" + "a = b AND c, " * 5_000 + "d) FROM t",
    ],
    ids=["in", "values", "insert", "columns", "case", "terms", "rows", "arguments"],
)
def test_lists_may_be_long(sql: str) -> None:
    assert classify(sql)
