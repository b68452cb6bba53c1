"""Finding 10: a text of ten times the length takes about ten times as long, wherever it is read.

`ATTACH 'http://aaa…'` of 40,000 characters took 8.5 seconds, in which the server answered nobody.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from pinakes.core.access.redaction import without_paths
from pinakes.core.suggestions import did_you_mean
from pinakes.engine.datafusion.error_translation import translate
from pinakes.parser import classify
from pinakes.parser.hints import engine_hint
from pinakes.parser.lexemes import lexemes
from pinakes.parser.lexer import tokenize_what_fits
from pinakes.parser.redaction import masked_address, password_pieces
from pinakes.parser.redaction_spans import mask
from pinakes.parser.split import split
from tests.engine import support

SHORT, LONG = 10_000, 100_000
MOST_TIMES = 30
"""Of ten times the text; a quadratic pass takes a hundred times as long."""
FLOOR = 0.05
"""Seconds below which nothing is compared."""

SEEDS = (
    *(
        "a",
        "key",
        "secret",
        "passw",
        "token ",
        "://",
        "a://",
        "://a:",
        ":",
        "@",
        "?key",
        "?key=",
        "?a&",
        "/",
        "/a",
        "'/a",
    ),
    *(" ", "\n", "'", '"', "$a$", "$a", "/*", "--", "(", "[", ";", "\\", "1_", "a.", "a,", "é", "E'", "''", "/*+"),
    *("key=", 'key="', "=", "1", "a, ", "\\\\"),
)
BEFORE = ("", "ATTACH 'http://", "CREATE SECRET s (", "SELECT ", "SELECT '", "/*+ ENGINE(", "SET password = ")
BEFORE = BEFORE if support.LONG else BEFORE[:2]


def _error(text: str) -> object:
    return translate(ValueError(f"Error during planning: {text}"))


PASSES: dict[str, Callable[[str], object]] = {
    "tokens": tokenize_what_fits,
    "lexemes": lexemes,
    "mask": mask,
    "address": masked_address,
    "passwords": password_pieces,
    "paths": without_paths,
    "hint": engine_hint,
    "statements": split,
    "error": _error,
    "columns": lambda text: classify(f"SELECT {', '.join(['a'] * (len(text) // 20))}"),
    "suggestion": lambda text: did_you_mean(text, [text[1:], "a" * 300]),
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    gc.disable()  # what other tests left in this process would be searched for garbage
    try:
        begun = time.thread_time()  # other threads of the process do not count
        read(text)
        return time.thread_time() - begun
    finally:
        gc.enable()


def _text(before: str, seed: str, length: int) -> str:
    return before + seed * (length // len(seed))


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_over_a_text_takes_linear_time(name: str) -> None:
    read = PASSES[name]
    slow = list[str]()
    for before in BEFORE:
        for seed in SEEDS:
            brief = min(_seconds(read, _text(before, seed, SHORT)) for _ in range(2))
            if brief * 10 < FLOOR:  # a quadratic pass would take longer than this already
                continue
            long = min(_seconds(read, _text(before, seed, LONG)) for _ in range(2))
            if long > FLOOR and long > MOST_TIMES * brief:
                slow.append(f"{before + seed!r}: {brief:.3f} s, then {long:.3f} s")
    assert not slow, slow


def test_the_text_of_the_finding_is_redacted_at_once() -> None:
    texts = {size: f"ATTACH 'http://{'a' * size}' AS r (TYPE iceberg_rest)" for size in (100_000, 1_000_000)}
    seconds = {size: _seconds(mask, text) for size, text in texts.items()}
    assert seconds[1_000_000] < max(MOST_TIMES * seconds[100_000], FLOOR)
