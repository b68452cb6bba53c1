"""From text to statements, and from text to other text: positions, rewriting, redaction; the only package that imports
sqlglot. What a name refers to, and plans, belong to `engine`. Start at `classify.py`, then `dispatch.py`.
"""

from pinakes.parser.classify import (
    TRANSLATED,
    Translated,
    classify,
    classify_dialect,
    locate_from_clauses,
    locate_join_predicates,
    locate_references,
    read_type,
)
from pinakes.parser.redaction_spans import mask
from pinakes.parser.split import ScriptPart, split

__all__ = [
    "TRANSLATED",
    "ScriptPart",
    "Translated",
    "classify",
    "classify_dialect",
    "locate_from_clauses",
    "locate_join_predicates",
    "locate_references",
    "mask",
    "read_type",
    "split",
]
