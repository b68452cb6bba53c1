"""Patterns that take long to compile or to match are refused: neither can be stopped.

`\\w{400}` took more than ten seconds, and LIKE with 3,000 wildcards minutes.
"""

from __future__ import annotations

import pytest

from pinakes.core.errors import OutOfMemory
from pinakes.parser.typed.pattern_cost import MOST_COST, check_pattern, regex_cost
from tests.engine.support import an_engine, rows


@pytest.mark.parametrize(
    "pattern",
    [
        "(a{1000}){1000}",
        "((a{100}){100}){100}",
        r"\w{400}",
        r"\w" * 400,
        r"(\w{100}){100}",
        r"[\w.]{1,400}",
        r"(?:\p{L}{30}){30}",
        "(((.{0,99}){99}){99}){99}",
        "{9}" * 1000 + "a{999999999}" * 10,
        "%_" * 3000,
    ],
)
def test_complex_patterns(pattern: str) -> None:
    assert check_pattern(pattern) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "a{1000}",
        r"^\w+([-+.']\w+)*@\w+([-.]\w+)*\.\w+([-.]\w+)*$",
        r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$",
        r"[a-zA-Z0-9_]{1,64}",
        r"\w{1,100}",
        "|".join(f"word{number}" for number in range(2000)),
        "%" * 5000,
        "%a%b%c%",
        ")))((([[[{{{",
        "\\",
        "[",
    ],
)
def test_usual_patterns(pattern: str) -> None:
    assert check_pattern(pattern) is None


def test_the_cost_takes_linear_time() -> None:
    for text in ("(" * 200_000, "[" * 200_000, "{9}" * 100_000, "\\" * 200_001, "a{1,9}" * 50_000, "\\p{" * 50_000):
        assert regex_cost(text) >= 0


@pytest.mark.parametrize(
    "condition",
    [
        "regexp_like(s, '(a{1000}){1000}')",
        "s ~ '(a{1000}){1000}'",
        "regexp_replace(s, '(a{1000}){1000}', 'x') = 'y'",
        "regexp_like(s, '(a{1000}){' || value || '000}')",
        "regexp_like(s, '[a-z\\w]{100}' || value)",
        f"s LIKE '{'%_' * 3000}'",
        f"s NOT ILIKE '{'%_' * 3000}'",
        "s LIKE repeat('%_', 300 + value)",
    ],
)
def test_statements_are_refused(condition: str) -> None:
    sql = f"SELECT count(*) FROM (SELECT 'aaaa' AS s, value FROM range(1, 101)) WHERE {condition}"
    with an_engine() as engine, pytest.raises(OutOfMemory, match="pattern"):
        rows(engine.session(), sql)


def test_parameters_are_checked() -> None:
    with an_engine() as engine:
        session = engine.session()
        for sql in ("SELECT 'a' ~ $1", "SELECT 'a' LIKE $1"):
            with pytest.raises(OutOfMemory, match="pattern"):
                list(session.run(sql, ["(a{1000}){1000}"]))
        (batch,) = session.run("SELECT 'abc' LIKE $1 AS a, 'abc' ~ $2 AS b", ["a%", "b."])
        assert batch.to_pylist() == [{"a": True, "b": True}]
        assert regex_cost("a" * MOST_COST) == MOST_COST
