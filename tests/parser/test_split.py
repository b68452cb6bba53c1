"""Scripts taken apart at their semicolons, and only there."""

from __future__ import annotations

import pytest

from pinakes.core.errors import ParseError
from pinakes.parser import classify, split


def texts(script: str) -> list[str]:
    return [part.text for part in split(script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ;; \n ; ", []),
        ("-- nothing\n/* at; all */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; SELECT 2 ;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';'; SELECT \"a;b\"; SELECT `c;d`", ["SELECT ';'", 'SELECT "a;b"', "SELECT `c;d`"]),
        ("SELECT 'it''s;'; SELECT E'\\';'", ["SELECT 'it''s;'", "SELECT E'\\';'"]),
        ("SELECT 1 -- a;b\n; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 /* a; /* b; */ c; */ + 2; SELECT 3", ["SELECT 1 /* a; /* b; */ c; */ + 2", "SELECT 3"]),
        ("SELECT $$a;b$$; SELECT $x$ ; $$ ; $x$", ["SELECT $$a;b$$", "SELECT $x$ ; $$ ; $x$"]),
        ("SELECT (1; SELECT 2)", ["SELECT (1", "SELECT 2)"]),
        # what is never closed stays together, so that the error is about it
        ("SELECT 1; SELECT 'a; SELECT 2", ["SELECT 1", "SELECT 'a; SELECT 2"]),
        ("SELECT 1; 'a; ", ["SELECT 1", "'a;"]),
    ],
)
def test_split(script: str, expected: list[str]) -> None:
    assert texts(script) == expected


def test_parts_know_their_place() -> None:
    script = "-- first\nSELECT 1;\n\n  SELECT\n2; SELECT 3"
    parts = split(script)
    assert [(p.line, script[p.offset : p.offset + len(p.text)]) for p in parts] == [
        (2, "SELECT 1"),
        (4, "SELECT\n2"),
        (5, "SELECT 3"),
    ]


def test_a_broken_statement_is_reported_by_classify() -> None:
    good, bad = split("SELECT 1;\nSELECT 'a")
    assert classify(good.text).kind == "Query"
    with pytest.raises(ParseError, match="never closed"):
        classify(bad.text)
