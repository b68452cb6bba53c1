"""Writes out all forms of this package in a text, the last one first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pinakes.parser.expansion import STARTS, WORDS
from pinakes.parser.expansion.asof import asof_join, is_asof
from pinakes.parser.expansion.frames import frames_without, is_exclusion
from pinakes.parser.expansion.pieces import Form, Pieces, Question
from pinakes.parser.expansion.pivot import is_pivot_in_from, is_pivot_statement, pivot_in_from, pivot_statement
from pinakes.parser.expansion.row_limits import is_row_limit, row_limit
from pinakes.parser.expansion.unpivot import (
    is_unpivot_in_from,
    is_unpivot_statement,
    unpivot_in_from,
    unpivot_statement,
)
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.parameters import join_named
from pinakes.parser.statements import Origin

_MOST_FORMS = 20
_MOST_WORDS = 100
_MOST_TEXT = 500_000
"""Characters that a written-out text may have in addition to four times those of the user's: an ASOF JOIN has its sides
twice, also those that are such joins."""

_FORMS: tuple[tuple[Callable[[Sequence[Token], int], bool], Callable[[Form], Pieces]], ...] = (
    (is_pivot_in_from, pivot_in_from),
    (is_pivot_statement, pivot_statement),
    (is_unpivot_in_from, unpivot_in_from),
    (is_unpivot_statement, unpivot_statement),
    (is_asof, asof_join),
    (is_exclusion, frames_without),
    (is_row_limit, row_limit),
)


@dataclass(frozen=True, slots=True)
class Unanswered(Exception):
    """The columns of a PIVOT depend on values that are not known yet: `question` is the query for them."""

    question: str


def expand(text: str, shown: str, answers: Sequence[tuple[str, ...]] = ()) -> Origin | None:
    """Returns the written-out text, and its relation to the user's; None if there is nothing to write out. `answers`
    are those to the questions that were raised before, `shown` is the text with secrets redacted.
    """
    origin, waiting = Origin(text, text, shown, ((0, 0, True),)), list(answers)
    try:
        for number in range(_MOST_FORMS + 1):
            tokens = join_named(tokenize(origin.text))
            _check_count(tokens)
            found = _last(tokens)
            if found is None:
                return origin if number else None
            if number == 0 and any(token.text == "?" for token in tokens):
                origin = _numbered(origin, tokens)
                tokens = join_named(tokenize(origin.text))
            at, write = found
            if number == _MOST_FORMS:
                raise Fault(
                    f"more than {_MOST_FORMS} PIVOT, UNPIVOT, ASOF JOIN and EXCLUDE in one statement are not supported",
                    tokens[at].start,
                    unsupported=True,
                )
            form = Form(origin.text, tokens, at, waiting, number)
            origin = _written(origin, form, write(form))
            if len(origin.text) > _MOST_TEXT + 4 * len(text):
                raise Fault("this statement is too long, written out", 0, unsupported=True)
    except Question as question:
        raise Unanswered(question.text) from None
    except Fault as fault:
        fault.offset = origin.place(fault.offset)
        raise
    raise AssertionError


def _check_count(tokens: Sequence[Token]) -> None:
    """Limits the words that are looked at: each may take as long as the text."""
    words = [token for token in tokens if token.word in STARTS]
    if len(words) > _MOST_WORDS:
        raise Fault(
            f"the words PIVOT and UNPIVOT can't stand in a statement more than {_MOST_WORDS} times",
            words[_MOST_WORDS].start,
            unsupported=True,
        )


def _last(tokens: Sequence[Token]) -> tuple[int, Callable[[Form], Pieces]] | None:
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].word in WORDS:
            for is_form, write in _FORMS:
                if is_form(tokens, at):
                    return at, write
    return None


def _numbered(origin: Origin, tokens: Sequence[Token]) -> Origin:
    """Gives each parameter ? its number: pieces of the text may be copied in another order, or several times."""
    pieces, at = Pieces(), 0
    marks = (token for token in tokens if token.kind == "parameter" and token.text == "?")
    for number, mark in enumerate(marks, 1):
        pieces += [(at, mark.start), f"${number}"]
        at = mark.end
    return _assembled(origin, [*pieces, (at, len(origin.text))], 0)


def _written(origin: Origin, form: Form, pieces: Pieces) -> Origin:
    """Puts pieces in the place of a form."""
    start, end = form.span
    own = origin.place(form.tokens[form.at].start)
    return _assembled(origin, [(0, start), *pieces, (end, len(origin.text))], own)


def _assembled(origin: Origin, pieces: Pieces, own: int) -> Origin:
    """Returns the text of all pieces; `own` is the place in the user's text of new ones."""
    parts, places, length = list[str](), list[tuple[int, int, bool]](), 0
    for piece in pieces:
        if isinstance(piece, str):
            places.append((length, own, False))
            parts.append(piece)
        else:
            places += _copied(origin.places, piece, length)
            parts.append(origin.text[piece[0] : piece[1]])
        length += len(parts[-1])
    return replace(origin, text="".join(parts), places=tuple(places))


def _copied(
    places: Sequence[tuple[int, int, bool]], piece: tuple[int, int], length: int
) -> list[tuple[int, int, bool]]:
    """Returns the places of a copied piece that starts at `length`."""
    start, end = piece
    first = bisect_right(places, start, key=lambda known: known[0]) - 1
    found = list[tuple[int, int, bool]]()
    for here, there, is_copied in places[first:]:
        if here >= end and here > start:
            break
        shift = max(start - here, 0)
        found.append((length + max(here - start, 0), there + (shift if is_copied else 0), is_copied))
    return found
