"""Text → statements. The only door to sqlglot; start reading at `classify.py`, then `dispatch.py`, then a form."""

from pinakes.parser.classify import classify

__all__ = ["classify"]
