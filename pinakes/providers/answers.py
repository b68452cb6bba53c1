"""Bounds on what a server sends in one answer, for client libraries that have none: bytes and seconds.

These libraries keep a whole answer in memory, and wait for each piece of it separately: a server that never ends its
answer would take all memory, or the thread for ever.
"""

from __future__ import annotations

import time

LARGEST_ANSWER = 32 << 20
"""The maximum size of an answer in bytes, of some 100,000 tables. In memory it takes up to ten times as much."""

MOST_VALUES = 1_000_000
"""How many values a JSON text of a catalog may have. One of two bytes becomes an object, or several errors of a
kilobyte; the metadata of a table has some 25 for each snapshot.
"""

MALFORMED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a client library may raise for an answer that breaks the protocol, besides its own errors."""


class AnswerTooLarge(Exception):
    """An answer exceeds a bound; the message is for the user."""


class Meter:
    """Counts what one answer takes: bytes and seconds."""

    def __init__(self, seconds: float, largest: int = LARGEST_ANSWER) -> None:
        self._seconds = seconds
        self._largest = largest
        self._until = time.monotonic() + seconds
        self._bytes = 0

    def take(self, size: int) -> None:
        self.total(self._bytes + size)

    def total(self, size: int) -> None:
        """Raises AnswerTooLarge if the bytes so far, or the time, exceed the bounds."""
        self._bytes = size
        if size > self._largest:
            shown = f"{self._largest >> 20} MB" if self._largest >> 20 else f"{self._largest >> 10} kB"
            raise AnswerTooLarge(f"the server sent an answer of more than {shown}")
        if time.monotonic() > self._until:
            raise AnswerTooLarge(f"the server did not finish its answer within {self._seconds:g} seconds")


def check_json(text: bytes) -> None:
    """Raises AnswerTooLarge for a JSON text with too many values, before it is parsed. Marks within texts count."""
    found = text.count(b",") + text.count(b"[") + text.count(b"{")
    if found > MOST_VALUES:
        raise AnswerTooLarge(f"it has {found:,} JSON values, and the most that is read of a catalog is {MOST_VALUES:,}")
