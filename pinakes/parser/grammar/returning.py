"""RETURNING, at the end of INSERT, UPDATE, DELETE and MERGE."""

from __future__ import annotations

from typing import NamedTuple

from pinakes.parser.changes import target_tokens
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.locate import Located, locate_in_tree
from pinakes.parser.parameters import join_named, placeholders
from pinakes.parser.statements import Returning, Span, TableRef

_ENDS = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "UNION", "INTERSECT", "INTO", "WINDOW", "WHEN")


class Tail(NamedTuple):
    """The tokens after RETURNING; `all` are those of the whole statement, and `counted` is RETURNING count(*)."""

    counted: bool = False
    tokens: tuple[Token, ...] = ()
    all: tuple[Token, ...] = ()

    def located(self, located: Located) -> Located:
        """Returns what is located in the rest of the statement, with the parameters of the list."""
        if not self.tokens:
            return located
        mine = [p for p in placeholders(join_named(list(self.all))) if p.span.start >= self.tokens[0].start]
        return located._replace(placeholders=(*located.placeholders, *mine))


def take_returning(cursor: Cursor) -> Tail:
    """Removes RETURNING … from the end of the tokens, and returns it."""
    at = _place(cursor)
    if at is None:
        return Tail()
    everything, tokens = tuple(cursor.tokens), tuple(cursor.tokens[at + 1 :])
    if not tokens:
        raise Fault("expected an expression after RETURNING", cursor.tokens[at].end)
    del cursor.tokens[at:]
    words = [token.word for token in tokens]
    if words in (["COUNT"], ["COUNT", "(", "*", ")"]):
        return Tail(counted=True)
    return Tail(False, tokens, everything)


def _place(cursor: Cursor) -> int | None:
    """Returns the index of RETURNING outside parentheses."""
    nested = 0
    for at in range(cursor.at, len(cursor.tokens)):
        word = cursor.tokens[at].word
        nested += (word == "(") - (word == ")")
        if nested == 0 and word == "RETURNING":
            return at
    return None


def returned(cursor: Cursor, tail: Tail, target: TableRef, *, other: str = "", merge: bool = False) -> Returning | None:
    """expression [AS name], … | *

    `other` is the clause of another table that the statement reads.
    """
    if not tail.tokens:
        return None
    items = Cursor(cursor.text, list(tail.tokens))
    while True:
        if other and items.word == "*":
            raise items.unsupported(
                f"RETURNING * with {other} is not supported: name the changed table, as in RETURNING {_name(target)}.*"
            )
        if items.word in ("DISTINCT", "ALL") and items.peek(1).word != ".":
            raise items.fault("expected an expression after RETURNING")
        items.until(",", *_ENDS, what="an expression")
        if not items.accept(","):
            break
    items.done()
    nested = next((token for token in tail.tokens if token.word in ("SELECT", "VALUES")), None)
    if nested is not None:
        raise Fault("a query can't stand in RETURNING", nested.start, unsupported=True)
    return _located(cursor, tail, target, merge=merge)


def _located(cursor: Cursor, tail: Tail, target: TableRef, *, merge: bool) -> Returning:
    from pinakes.parser.references import references_of

    first, last = tail.tokens[0], tail.tokens[-1]
    span = Span(first.start, last.end)
    everything = join_named(list(tail.all))
    listed = [token for token in everything if token.start >= first.start]
    start = [Token("word", "SELECT", "SELECT", first.start, first.start)]
    located, tree = locate_in_tree(cursor.text, [*start, *listed, *target_tokens(everything, target)], strict=True)
    if any(table.span != target.span for table in located.tables):
        raise Fault("RETURNING can't read other tables", first.start, unsupported=True)
    assert tree is not None
    return Returning(
        text=cursor.text,
        shown=cursor.shown,
        span=span,
        actions=_actions(listed, merge=merge),
        placeholders=tuple(p for p in placeholders(everything) if p.span.start >= first.start),
        values=located.values,
        projections=located.projections,
        repairs=located.repairs,
        functions=located.functions,
        references=references_of(tree, (), located.values),
    )


def _actions(tokens: list[Token], *, merge: bool) -> tuple[Span, ...]:
    """Returns the spans of merge_action()."""
    found = []
    for at, token in enumerate(tokens):
        if token.word == "MERGE_ACTION" and [t.word for t in tokens[at + 1 : at + 3]] == ["(", ")"]:
            if not merge:
                raise Fault("merge_action() can only be used in the RETURNING of MERGE", token.start)
            found.append(Span(token.start, tokens[at + 2].end))
    return tuple(found)


def _name(target: TableRef) -> str:
    return str(target.alias or target.name.last)
