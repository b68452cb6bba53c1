"""Nodes of our own in sqlglot's trees, and the error for what is not translated."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import expressions as exp

from pinakes.parser.faults import Fault

_MOST = 30
"""Nodes of an argument that is written twice."""
_MOST_CALLS = 4
"""Calls in it: each may be written twice itself."""
_VOLATILE = frozenset({"random", "uuid", "rand", "gen_random_uuid", "uuidv7", "nextval"})
_FORM = "\x01form "
"""Starts the name of an `Anonymous` that is a text with places: a compiled sqlglot lets no class be derived."""


def form(text: str, *values: exp.Expr) -> exp.Anonymous:
    """Returns our text with places for expressions: `{0}` is the first of them. One with two places must be short, and
    the same each time.
    """
    for at, value in enumerate(values):
        if text.count(f"{{{at}}}") > 1:
            check_repeatable(value)
    return exp.Anonymous(this=_FORM + text, expressions=list(values))


def form_of(node: exp.Expr) -> str | None:
    """Returns the text of a form; None for any other node."""
    this = node.this if isinstance(node, exp.Anonymous) else None
    return this[len(_FORM) :] if isinstance(this, str) and this.startswith(_FORM) else None


def call(name: str, *values: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(values))


def check_repeatable(value: exp.Expr) -> None:
    """Refuses an argument that can't be written twice."""
    nodes = list(value.walk())
    if (
        len(nodes) > _MOST
        or sum(isinstance(node, exp.Anonymous) for node in nodes) > _MOST_CALLS
        or any(
            isinstance(node, exp.Query | exp.Window) or (isinstance(node, exp.Anonymous) and name_of(node) in _VOLATILE)
            for node in nodes
        )
    ):
        raise refuse("such an argument, which would be computed twice: compute it in a subquery first; it", "")


def refuse(what: str, instead: str = "write it as Pinakes does, with SET dialect = 'pinakes'") -> Fault:
    """Returns the error for something that has another meaning here, or none."""
    return Fault(f"{what} is not translated{': ' + instead if instead else ''}", -1, unsupported=True)


def name_of(node: exp.Anonymous) -> str:
    this = node.this
    return (this if isinstance(this, str) else this.name).lower()


def text_of(node: exp.Expr | None) -> str | None:
    """Returns the value of a constant text."""
    return node.name if isinstance(node, exp.Literal) and node.is_string else None


def number_of(node: exp.Expr | None) -> int | None:
    """Returns the value of a constant integer."""
    if isinstance(node, exp.Neg):
        found = number_of(node.this)
        return None if found is None else -found
    if isinstance(node, exp.Paren):
        return number_of(node.this)
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        return int(node.name)
    return None


def arguments(node: exp.Anonymous, fewest: int, most: int) -> Sequence[exp.Expr]:
    """Returns the arguments of a call without DISTINCT and the like; refuses another number."""
    found = node.expressions
    if not fewest <= len(found) <= most:
        raise refuse(f"{name_of(node)} with {len(found)} arguments")
    return found
