"""Which conditions compare the rows of several tables, and where they stand."""

from __future__ import annotations

import pytest

from pinakes.parser import locate_join_predicates


@pytest.mark.parametrize(
    ("sql", "sure", "also"),
    [
        ("SELECT 1 FROM a, b WHERE a.x < b.y AND a.z > 5", ["a.x < b.y"], []),
        ("SELECT 1 FROM a JOIN b ON a.i = b.i AND a.x + b.x = 7", ["a.x + b.x = 7"], []),
        ("SELECT 1 FROM a JOIN b ON a.i % 10 = b.i % 10", [], []),
        ("SELECT 1 FROM a JOIN b ON a.i = a.n + b.i", ["a.i = a.n + b.i"], []),
        (
            "SELECT 1 FROM a JOIN b ON (a.x < b.x OR b.x IS NULL) LEFT JOIN c ON c.y BETWEEN a.y AND b.y",
            ["a.x < b.x OR b.x IS NULL", "c.y BETWEEN a.y AND b.y"],
            [],
        ),
        ("SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x > a.x) AND a.y IS NOT NULL", ["b.x > a.x"], []),
        ("SELECT 1 FROM a, b WHERE x < y AND x > 5 AND x IS NOT NULL", [], ["x < y"]),
        ("SELECT DISTINCT ON (a.x, b.y) 1 FROM a, b", [], []),
        ("SELECT CASE WHEN a.x < b.x THEN 1 END FROM a, b ORDER BY a.x < b.x", [], []),
        ("SELECT 1 FROM a JOIN b ON left(a.t, 2) < left(b.t, 2) WHERE a.x > $1", ["left(a.t, 2) < left(b.t, 2)"], []),
        ("SELECT 1 FROM a, b WHERE a.x < b.x + $1", ["a.x < b.x + $1"], []),
        ("SELECT ' WHERE a.x < b.x' FROM a", [], []),
    ],
)
def test_where_they_stand(sql: str, sure: list[str], also: list[str]) -> None:
    assert [span.of(sql) for span in locate_join_predicates(sql, loose=False)] == sure
    assert [span.of(sql) for span in locate_join_predicates(sql, loose=True)] == sure + also
