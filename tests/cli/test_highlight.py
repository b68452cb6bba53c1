"""Colours: every character of the text is shown, whatever is wrong with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.document import Document

from pinakes.cli.prompt.highlight import LONGEST, SqlLexer, highlight


def styled(text: str) -> dict[str, str]:
    return {piece[1]: piece[0].removeprefix("class:sql.") for line in highlight(text) for piece in line if piece[0]}


def test_what_has_which_colour() -> None:
    assert styled("select count(*), \"A\", 1.5 from t where x = 'it''s' -- why") == {
        "select": "keyword",
        "count": "function",
        '"A"': "name",
        "1.5": "number",
        "from": "keyword",
        "where": "keyword",
        "'it''s'": "string",
        "-- why": "comment",
    }


def test_a_string_that_is_not_closed() -> None:
    assert styled("select 'open\nfrom t") == {"select": "keyword", "'open": "string", "from t": "string"}


def test_commands() -> None:
    assert styled("\\dt select") == {"\\dt select": "command"}


@given(st.text("ab'\"`$/*- \n;.1\\", max_size=60))
def test_the_text_stays_as_it_is(text: str) -> None:
    document = Document(text)
    line = SqlLexer().lex_document(document)
    assert ["".join(piece[1] for piece in line(n)) for n in range(document.line_count)] == document.lines


def test_a_huge_text_is_left_plain() -> None:
    assert styled("select " + "1," * LONGEST) == {}
