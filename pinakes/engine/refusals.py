"""Statements that are understood and not yet answered: one list, each with what to do instead. It only shrinks."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.parser import statements as s

REFUSED: dict[type[s.Statement], str] = {
    s.ExplainFull: "EXPLAIN FULL is not supported yet; use EXPLAIN or EXPLAIN ANALYZE",
    s.ShowFunctions: "SHOW FUNCTIONS is not supported yet",
    s.ShowStats: "SHOW STATS is not supported yet; use count(*), min and max in a SELECT",
    s.Search: "SEARCH is not supported yet; use SHOW TABLES LIKE '%word%'",
    s.Analyze: "ANALYZE is not supported yet",
    s.Call: "CALL is not supported yet",
    s.Begin: "transactions over several statements are not supported yet: each statement is its own commit",
    s.Commit: "there is no transaction to commit: each statement is its own commit",
    s.Rollback: "there is no transaction to roll back: each statement is its own commit",
    s.Grant: "GRANT is not supported: rights are those of the catalog",
    s.Revoke: "REVOKE is not supported: rights are those of the catalog",
}


def refuse(statement: s.Statement) -> NotSupportedError:
    return NotSupportedError(REFUSED[type(statement)])
