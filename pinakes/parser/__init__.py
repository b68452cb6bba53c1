"""Text → statements. The only door to sqlglot; start reading at `classify.py`, then `dispatch.py`, then a form."""

from pinakes.parser.classify import (
    classify,
    locate_definitions,
    locate_from_clauses,
    locate_pairings,
    locate_references,
    read_type,
)
from pinakes.parser.redaction_spans import mask
from pinakes.parser.split import ScriptPart, split

__all__ = [
    "ScriptPart",
    "classify",
    "locate_definitions",
    "locate_from_clauses",
    "locate_pairings",
    "locate_references",
    "mask",
    "read_type",
    "split",
]
