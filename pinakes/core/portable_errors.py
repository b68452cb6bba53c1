"""Serializes errors (code, message, position) between a server and a pinakes client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pinakes.core.errors import PinakesError, Position

LONGEST_LINE = 1_000
"""Maximum characters of the marked line that are sent; the sender of a longer one has the text."""


def as_values(error: PinakesError, longest: int | None = None) -> dict[str, Any]:
    """Serializes an error. `longest` limits the characters of the message; the marked line is then omitted."""
    message = error.message
    if longest is not None and len(message) > longest:
        message = message[:longest] + " …"
    at = error.position
    if at is None:
        return {"code": error.code, "message": message}
    text = at.text if longest is None and len(at.text) <= LONGEST_LINE else None
    return {"code": error.code, "message": message, "position": [at.line, at.column, text]}


def from_values(values: Mapping[str, Any], sql: str = "") -> PinakesError:
    """Deserializes an error; an unknown code is kept."""
    kind = _kinds().get(values["code"]) or _unknown(values["code"])
    return kind(values["message"], position=_position(values.get("position"), sql))


def _position(given: list[Any] | None, sql: str) -> Position | None:
    if given is None:
        return None
    line, column, text = given
    lines = sql.split("\n")
    own = lines[line - 1] if 0 < line <= len(lines) else ""
    return Position(line, column, own if text is None else text)


@cache
def _kinds() -> dict[str, type[PinakesError]]:
    return {kind.code: kind for kind in _below(PinakesError)}


def _below(kind: type[PinakesError]) -> Iterator[type[PinakesError]]:
    """Yields the classes of `core/errors.py`, without classes derived from them with the same codes."""
    yield kind
    for inner in kind.__subclasses__():
        if inner.__module__ == PinakesError.__module__:
            yield from _below(inner)


def _unknown(code: str) -> type[PinakesError]:
    """Creates a class for an unknown code: a server may be newer than its client."""
    return type("OtherError", (PinakesError,), {"code": code})
