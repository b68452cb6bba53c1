"""Parses text to statements. The only package that imports sqlglot. Start reading at `classify.py`, then
`dispatch.py`, then a module of `grammar`.
"""

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
