"""What goes wrong inside the parser. Only `door.py` turns a `Fault` into the error that a user meets.

A fault knows an offset and, apart from its message, the token that stood there: whether that token may be shown is
decided at the door, where it is known if the statement carries secrets.
"""

from __future__ import annotations


class Fault(Exception):
    """A place in the text that can't be read, and why."""

    def __init__(self, message: str, offset: int, *, found: str | None = None, unsupported: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.found = found
        self.unsupported = unsupported
        """True: well-formed SQL that this engine doesn't have, so the user gets a NotSupportedError."""
