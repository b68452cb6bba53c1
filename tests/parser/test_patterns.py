"""LIKE on names, with the wildcards of SQL and of Spark."""

from __future__ import annotations

import pytest

from pinakes.parser.patterns import like


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("orders", ["orders", "ORDERS"], ["order", "orders2"]),
        ("o%", ["o", "Orders"], ["xo", ""]),
        ("o*", ["o", "Orders"], ["xo", ""]),
        ("%", ["", "anything"], []),
        ("a_c", ["abc", "aßc"], ["ac", "abbc"]),
        ("a%c%e", ["ace", "abcde", "acce"], ["acd", "ae"]),
        ("a*|b_", ["a", "axx", "bx"], ["b", "bxx", "c"]),
        ("a\\_b", ["a_b"], ["axb"]),
        ("100\\%", ["100%"], ["1000"]),
        ("a\\|b\\*\\\\", ["a|b*\\"], ["a"]),
        ("end\\", ["end\\"], ["end"]),
        ("a.c", ["a.c"], ["abc"]),
        ("[ab]", ["[ab]"], ["a"]),
        ("ÄÖ%", ["äöü"], ["aou"]),
        ("", [""], ["a"]),
    ],
)
def test_like(pattern: str, matching: list[str], other: list[str]) -> None:
    assert [n for n in matching + other if like(pattern, n)] == matching


def test_many_wildcards_do_not_take_ages() -> None:
    assert not like("%a" * 50 + "%b", "a" * 2_000)
