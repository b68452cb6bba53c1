"""Statements that are understood and not yet answered: one list, each with what to do instead. It only shrinks."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.parser import statements as s

REFUSED: dict[type[s.Statement], str] = {
    s.Grant: "GRANT is not supported: rights are those of the catalog",
    s.Revoke: "REVOKE is not supported: rights are those of the catalog",
}


def refuse(statement: s.Statement) -> NotSupportedError:
    return NotSupportedError(REFUSED[type(statement)])
