"""The statements that start at once on a busy server, without waiting in the queue (`engine/execution/admission.py`).

Metadata stays available while the machine is busy, KILL and COMMIT get through, and `select 1` works as a health check.
These are statements that list catalogs or change their metadata, and queries without tables or over one system table.
Joins of several system tables can run long, and a few of them would block the others. In doubt a statement waits, which
is always correct.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM, Name
from pinakes.parser.statements import Planned

if TYPE_CHECKING:
    from pinakes.engine.session import Session
    from pinakes.parser.statements import Statement

_HEAVY = frozenset(
    {
        "Insert",
        "Update",
        "Delete",
        "Merge",
        "CopyFrom",
        "CopyTo",
        "CreateTableAs",
        "Summarize",
        "Analyze",
        "Pivot",
        "TableExecute",
    }
)
_QUERIES = frozenset({"Query", "Explain", "ExplainFull"})
_TEXTS = re.compile(r"'(?:[^']|'')*'")
_MAKES_ROWS = re.compile(r"\b(range|generate_series|unnest|recursive|repeat|read_\w+)\b", re.IGNORECASE)
_NAMES_ROWS = re.compile(r"\bwith\b", re.IGNORECASE)
"""What is named can be joined with itself."""
_READS_ROWS = re.compile(r"\b(from|values)\b", re.IGNORECASE)


def is_light(statement: Statement, session: Session) -> bool:
    kind = statement.kind
    if kind == "Execute":
        return _prepared_is_light(statement, session)
    if kind == "Call":
        return _is_of_runtime(statement.procedure)  # type: ignore[attr-defined]
    if kind in _QUERIES:
        assert isinstance(statement, Planned)
        return not getattr(statement, "analyze", kind == "Query") or _reads_little(statement)
    return kind not in _HEAVY


def _reads_little(statement: Planned) -> bool:
    words = _TEXTS.sub("''", statement.text)
    if not statement.parsed or _MAKES_ROWS.search(words):
        return False
    if statement.tables:
        return len(statement.tables) == 1 and _is_system(statement.tables[0].name) and not _NAMES_ROWS.search(words)
    return not _READS_ROWS.search(words)


def _is_system(name: Name) -> bool:
    before = [part.exact.casefold() for part in name.parts[:-1]]
    return bool(before) and (before[0] == SYSTEM or before[-1] == INFORMATION_SCHEMA)


def _is_of_runtime(procedure: Name) -> bool:
    return [part.exact.casefold() for part in procedure.parts[:-1]] == [SYSTEM, "runtime"]


def _prepared_is_light(statement: Statement, session: Session) -> bool:
    """A missing table is reported at once, too."""
    text = session.prepared.get(statement.name.exact)  # type: ignore[attr-defined]
    return text is None or is_light(session.engine.caches.statements.classify(text), session)
