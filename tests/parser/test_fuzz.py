"""Mutated statements: whatever the text, the parser answers or raises a typed error.

PINAKES_LONG=1 runs ten times as many, other ones each time; PINAKES_SEED=n repeats a run.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys

import pytest

from pinakes.core.errors import PinakesError
from pinakes.parser import classify, locate_references, mask, split
from pinakes.parser.lexer import tokenize_what_fits
from pinakes.parser.statements import Planned, Statement
from tests.parser.cases import CASES, NOT_SUPPORTED

CORPUS = [sql for sql, _, _ in CASES] + NOT_SUPPORTED
COUNT = 20_000 if os.environ.get("PINAKES_LONG") == "1" else 2_000
STRANGE = [
    "'",
    '"',
    "`",
    "$$",
    "$a$",
    "/*",
    "*/",
    "--",
    ";",
    "(",
    ")",
    "[",
    "{",
    "\\",
    "\0",
    "\ud800",
    "é",
    "😀",
    "?",
    ":",
    "::",
    ".",
    ",",
]


def mutated(sql: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 4)):
        sql = dice.choice([_drop_token, _swap_tokens, _repeat_token, _cut, _flip, _insert, _splice])(sql, dice)
    return sql


def _pieces(sql: str) -> list[str]:
    """The tokens as they are written; of a text that is broken already, those before the break and the rest."""
    tokens, fault = tokenize_what_fits(sql)
    return [*(sql[t.start : t.end] for t in tokens), sql[fault.offset :] if fault else ""]


def _drop_token(sql: str, dice: random.Random) -> str:
    pieces = _pieces(sql)
    del pieces[dice.randrange(len(pieces))]
    return " ".join(pieces)


def _swap_tokens(sql: str, dice: random.Random) -> str:
    pieces = _pieces(sql)
    a, b = dice.randrange(len(pieces)), dice.randrange(len(pieces))
    pieces[a], pieces[b] = pieces[b], pieces[a]
    return " ".join(pieces)


def _repeat_token(sql: str, dice: random.Random) -> str:
    pieces = _pieces(sql)
    at = dice.randrange(len(pieces))
    pieces[at:at] = [pieces[at]] * dice.choice([1, 2, 30])
    return " ".join(pieces)


def _cut(sql: str, dice: random.Random) -> str:
    return sql[: dice.randint(0, len(sql))]


def _flip(sql: str, dice: random.Random) -> str:
    if not sql:
        return sql
    at = dice.randrange(len(sql))
    return sql[:at] + chr(max(1, ord(sql[at]) ^ (1 << dice.randrange(8)))) + sql[at + 1 :]


def _insert(sql: str, dice: random.Random) -> str:
    at = dice.randint(0, len(sql))
    return sql[:at] + dice.choice(STRANGE) + sql[at:]


def _splice(sql: str, dice: random.Random) -> str:
    other = dice.choice(CORPUS)
    return sql[: dice.randint(0, len(sql))] + " " + other[dice.randint(0, len(other)) :]


def check(sql: str) -> None:
    """Only typed errors, and spans that lie in the text."""
    split(sql)
    mask(sql)
    with contextlib.suppress(PinakesError):
        statement = classify(sql)
        check_spans(statement)
        if isinstance(statement, Planned):
            for column in locate_references(statement).columns:
                assert 0 <= column.span.start < column.span.end <= len(statement.text)


def check_spans(statement: Statement) -> None:
    if not isinstance(statement, Planned):
        return
    for table in statement.tables:
        assert 0 <= table.span.start < table.span.end <= len(statement.text)
    for mark in statement.placeholders:
        assert mark.span.of(statement.text)[0] in "?$:"


def test_corpus_itself() -> None:
    for sql in CORPUS:
        check(sql)


@pytest.mark.parametrize("part", range(10))
def test_mutations(part: int) -> None:
    new = random.SystemRandom().randrange(10**9) if os.environ.get("PINAKES_LONG") else 20261116
    seed = int(os.environ.get("PINAKES_SEED") or new)
    sys.stderr.write(f"PINAKES_SEED={seed}\n")  # pytest shows it when the test fails
    dice = random.Random(seed + part)
    for _ in range(COUNT // 10):
        sql = mutated(dice.choice(CORPUS), dice)
        try:
            check(sql)
        except BaseException:
            sys.stderr.write(f"failing text: {sql!r}\n")
            raise


@pytest.mark.parametrize("length", [1, 10, 100, 1000])
def test_noise(length: int) -> None:
    dice = random.Random(length)
    for _ in range(50):
        check("".join(chr(dice.randrange(1, 0x250)) for _ in range(length)))
        check(
            " ".join(
                dice.choice([*STRANGE, "SELECT", "FROM", "WITH", "ATTACH", "CREATE", "x", "1"]) for _ in range(length)
            )
        )
