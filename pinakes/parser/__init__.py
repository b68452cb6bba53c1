"""Text → statements. The only door to sqlglot; start reading at `classify.py`, then `dispatch.py`, then a form."""

from pinakes.parser.classify import classify, locate_columns, read_type
from pinakes.parser.mask import mask
from pinakes.parser.split import ScriptPart, split

__all__ = ["ScriptPart", "classify", "locate_columns", "mask", "read_type", "split"]
