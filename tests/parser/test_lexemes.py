"""Lexemes: everything in a text but its white space, whatever is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.parser.lexemes import lexemes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("select 1 -- a", [("word", "select"), ("number", "1"), ("comment", "-- a")]),
        ("/* a /* b */ c */ x", [("comment", "/* a /* b */ c */"), ("word", "x")]),
        ("-- a\n-- b\nx", [("comment", "-- a"), ("comment", "-- b"), ("word", "x")]),
        ("'it''s' \"A\"", [("string", "'it''s'"), ("quoted", '"A"')]),
        ("a || $1", [("word", "a"), ("symbol", "||"), ("parameter", "$1")]),
    ],
)
def test_lexemes(text: str, expected: list[tuple[str, str]]) -> None:
    found = lexemes(text)
    assert [(lexeme.kind, text[lexeme.start : lexeme.end]) for lexeme in found] == expected


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("x 'ab c", "string", "ab c"),
        ("x e'ab", "string", "ab"),
        ('x "ab', "quoted", "ab"),
        ("x `ab", "quoted", "ab"),
        ("x $t$ ab", "string", " ab"),
        ("x /* ab", "comment", "/* ab"),
        ("x -- ab", "comment", "-- ab"),
    ],
)
def test_what_is_never_closed_reaches_to_the_end(text: str, kind: str, value: str) -> None:
    last = lexemes(text)[-1]
    assert (last.kind, last.text, last.closed, last.end) == (kind, value, False, len(text))


@given(st.text("ab'\"`$/*- \n;.1eE\\", max_size=40))
def test_nothing_but_white_space_is_left_out(text: str) -> None:
    at = 0
    for lexeme in lexemes(text):
        assert text[at : lexeme.start].strip() == ""
        assert at <= lexeme.start < lexeme.end
        at = lexeme.end
    assert text[at:].strip() == ""
