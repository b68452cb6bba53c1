"""The spans of the values in a VALUES list, for an INSERT whose rows have different types."""

from __future__ import annotations

from pinakes.parser.lexer import tokenize
from pinakes.parser.statements import Insert, Span

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def value_rows(statement: Insert) -> tuple[tuple[Span, ...], ...]:
    """Returns one tuple of spans per row; empty when the body is not a plain VALUES list."""
    if statement.body is None or not statement.body.of(statement.text)[:6].upper().startswith("VALUES"):
        return ()
    tokens = [t for t in tokenize(statement.text) if statement.body.start <= t.start < statement.body.end]
    if not tokens or tokens[0].word != "VALUES":
        return ()
    rows: list[tuple[Span, ...]] = []
    row: list[Span] = []
    depth, start = 0, 0
    for at, token in enumerate(tokens[1:], 1):
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        if depth == 1 and token.word == "(" and tokens[at - 1].word in ("VALUES", ",", "ROW"):
            row, start = [], tokens[at + 1].start if at + 1 < len(tokens) else token.end
        elif depth == 1 and token.word == ",":
            row.append(Span(start, tokens[at - 1].end))
            start = tokens[at + 1].start if at + 1 < len(tokens) else token.end
        elif depth == 0 and token.word == ")":
            rows.append((*row, Span(start, tokens[at - 1].end)))
        elif depth == 0 and token.word not in (",", "ROW"):
            return ()  # ORDER BY, LIMIT or a set operation follows
    return tuple(rows)
