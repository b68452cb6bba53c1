"""Failures inside the parser. Only `classify.py` converts a `Fault` to the error that users see.

A fault has an offset and, apart from its message, the token there. `classify.py`, which knows the spans of secrets,
decides whether that token may be shown.
"""

from __future__ import annotations


class Fault(Exception):
    """A position in the text that can't be parsed, and the reason."""

    def __init__(self, message: str, offset: int, *, found: str | None = None, unsupported: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.found = found
        self.unsupported = unsupported
        """True for well-formed SQL that this engine does not support, which is reported as NotSupportedError."""
