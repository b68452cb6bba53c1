"""The reader of planned text: which pieces it sees, where they stand, and that it leaves alone what no rule is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest

from pinakes.engine.planning.expression_types import expression_types
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.reader import Unread, read
from pinakes.parser.typed.rewrite import rewrite
from tests.engine.tpc import peer, queries

COLUMNS = {
    "i": pa.int32(),
    "b": pa.int64(),
    "p": pa.decimal128(10, 2),
    "d": pa.float64(),
    "ts": pa.timestamp("us"),
    "dt": pa.date32(),
    "s": pa.string(),
}


class Tables:
    """Every table has the same columns, and nothing is known of their values."""

    def columns(self, parts: tuple[str, ...]) -> Mapping[str, pa.DataType]:
        return COLUMNS

    def uuids(self, parts: tuple[str, ...]) -> frozenset[str]:
        return frozenset()

    def bounded(self, function: str, type: pa.DataType) -> str:
        return f"${function}"

    def largest(self, parts: tuple[str, ...], column: str) -> int | None:
        return None

    def parameter(self, name: str) -> pa.DataType | None:
        return pa.float64() if name == "1" else None

    def result(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        return expression_types("UTC").of(expression, types)


def rewritten(text: str) -> str:
    return rewrite(text, Tables()).text


def shown(node: n.Node, text: str) -> str:
    """An expression with brackets around each operator."""
    match node:
        case n.Binary():
            return f"({shown(node.left, text)} {node.operator} {shown(node.right, text)})"
        case n.Unary():
            return f"({node.operator} {shown(node.operand, text)})"
        case n.Test():
            return f"[{', '.join(shown(o, text) for o in node.operands)}]"
        case n.Between():
            return f"({shown(node.operand, text)} BETWEEN {shown(node.low, text)} AND {shown(node.high, text)})"
        case n.Cast():
            return f"({shown(node.operand, text)} :: {node.type.name})"
        case n.Paren():
            return shown(node.inner, text)
    return text[node.start : node.end]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("- a * b", "((- a) * b)"),
        ("- a::int", "(- (a :: INT))"),
        ("a = b IS NULL", "[(a = b)]"),
        ("NOT a = b AND c", "((NOT (a = b)) AND c)"),
        ("a OR b AND c", "(a OR (b AND c))"),
        ("a BETWEEN 1 AND 2 AND c", "((a BETWEEN 1 AND 2) AND c)"),
        ("a BETWEEN b + 1 AND c * 2 OR d", "((a BETWEEN (b + 1) AND (c * 2)) OR d)"),
        ("a < b = c", "((a < b) = c)"),
        ("a::int < b", "((a :: INT) < b)"),
        ("a || b + c", "(a || (b + c))"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a LIKE b || 'x'", "[a, (b || 'x')]"),
    ],
)
def test_operator_precedence(text: str, tree: str) -> None:
    query = f"SELECT {text}"
    select = read(query).body
    assert isinstance(select, n.Select)
    assert shown(select.items[0].value, query) == tree


@pytest.mark.parametrize("benchmark", ["tpch", "tpcds"])
def test_the_queries_of_tpc_are_read(benchmark: str) -> None:
    for text in queries(peer(benchmark), benchmark).values():
        read(text)


@pytest.mark.parametrize(
    "text", ["SELECT b |> WHERE b", "SELECT a FROM t TABLESAMPLE (10)", "DELETE FROM t", "SELECT (a"]
)
def test_unknown_forms_are_not_read(text: str) -> None:
    with pytest.raises(Unread):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT i + 1, b, s FROM t WHERE b = 5 AND p = 4.40 -- a comment\n ORDER BY i",
        "SELECT count(*) FROM t GROUP BY ALL",
        "SELECT /* (a */ i, 'it''s' || s FROM t WHERE s LIKE 'x%' ESCAPE '!'",
        "SELECT * EXCEPT (i) FROM t UNION ALL SELECT * EXCEPT (i) FROM t",
        "WITH c (x) AS (SELECT b FROM t) SELECT x FROM c AS d WHERE EXISTS (SELECT 1 FROM t WHERE t.b = d.x)",
    ],
)
def test_what_is_right_stays_as_it_is_written(text: str) -> None:
    assert rewritten(text) == text


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("SELECT 1 FROM t WHERE p = d", "SELECT 1 FROM t WHERE CAST(p AS DOUBLE) = d"),
        ("SELECT 1 FROM t WHERE p = $1", "SELECT 1 FROM t WHERE CAST(p AS DOUBLE) = $1"),
        ("SELECT 1 FROM t WHERE d = 4.40", "SELECT 1 FROM t WHERE d = CAST('4.40' AS DOUBLE)"),
        ("SELECT 1e3", "SELECT CAST('1e3' AS DOUBLE) AS \"1e3\""),
        (
            "SELECT p -- one\n= d -- two\nFROM t",
            'SELECT CAST(p AS DOUBLE) -- one\n= d AS "p -- one\n= d" -- two\nFROM t',
        ),
        (
            "SELECT b + 1 AS c FROM t",
            "SELECT CAST(CAST(b AS DECIMAL(38, 0)) + (CAST(1 AS DECIMAL(38, 0))) AS BIGINT) AS c FROM t",
        ),
        ("SELECT dt FROM t WHERE dt < ts", "SELECT dt FROM t WHERE CAST(dt AS TIMESTAMP(6)) < ts"),
        ("SELECT 1 FROM t WHERE ts > '3000-01-01'", "SELECT 1 FROM t WHERE ts > CAST('3000-01-01' AS TIMESTAMP(6))"),
    ],
)  # fmt: skip
def test_pieces_are_replaced_where_they_stand(text: str, made: str) -> None:
    assert rewritten(text) == made


def test_long_chains_are_rewritten() -> None:
    """As long as the parser lets them be (`parser/limits.py`)."""
    added, either = " + ".join(["b"] * 900), " OR ".join(f"p = {i}.5e0" for i in range(900))
    assert rewritten(f"SELECT {added} AS c FROM t").count("DECIMAL") == 900
    assert rewritten(f"SELECT 1 FROM t WHERE {either}").count("CAST(p AS DOUBLE)") == 900


# --- quotients and sums of decimals ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("divisor", "exact"),
    [("2", True), ("(100.0)", True), ("0.5", True), ("1.25", True), ("3", False), ("7.0", False), ("i", False)],
)
def test_a_quotient_that_ends_soon_is_not_rounded(divisor: str, exact: bool) -> None:
    """x / 2 has one digit more than x. All others have a digit more than the result, by which they are rounded."""
    inner, before = ("12", "(") if exact else ("13", "CAST(")
    digits = "21" if exact else "22"
    assert rewritten(f"SELECT p / {divisor} AS q FROM t").startswith(
        f"SELECT {before}CAST(p AS DECIMAL({digits}, {inner})) / {divisor}"
    )


def test_the_type_of_a_sum_does_not_depend_on_the_values_of_a_column() -> None:
    class Known(Tables):
        def largest(self, parts: tuple[str, ...], column: str) -> int | None:
            return 1000

    text = "SELECT sum(p / 0.3) AS s FROM t"
    checked, known = rewrite(text, Tables()), rewrite(text, Known())
    assert ("Decimal256" in checked.text, "Decimal256" in known.text) == (True, False)
    assert checked.types == known.types == (pa.decimal128(38, 16),)
    by_type = rewrite("SELECT sum(p / 3) AS s FROM t", Tables())  # no quotient is larger than its dividend
    assert "Decimal256" not in by_type.text
    assert by_type.types == (pa.decimal128(38, 16),)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT avg(i) AS a, avg(b) AS b FROM t ORDER BY avg(i)",
        "SELECT grouping(i) + grouping(s) AS level FROM t GROUP BY ROLLUP (i, s)",
    ],
)
def test_values_that_are_small_and_finite_need_no_check(text: str) -> None:
    assert rewritten(text) == text
    assert "nanvl(avg(d), " in rewritten("SELECT avg(d) FROM t")
