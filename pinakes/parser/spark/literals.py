"""Translates constants: integers are BIGINT in pinakes and INT in Spark; numbers with a point are decimals, others
doubles.
"""

from __future__ import annotations

import re

from sqlglot import expressions as exp

from pinakes.parser.spark.tree import refused

_LARGEST = 2**63 - 1
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?")
_COUNTS = (exp.Limit, exp.Offset, exp.Group, exp.Ordered, exp.Interval, exp.DataTypeParam, exp.WindowSpec, exp.Fetch)
"""Nodes whose numbers are not values."""
_READ_BY_PARENT = (exp.Anonymous, exp.Substring, exp.Trim, exp.StrPosition)


def written(node: exp.Literal) -> exp.Expr:
    if node.is_string or isinstance(node.parent, (*_COUNTS, *_READ_BY_PARENT)):
        return node
    return number(node)


def number(node: exp.Literal) -> exp.Expr:
    text = node.name
    if text.isdigit():
        if int(text) > _LARGEST:
            raise refused(f"the number {text}")
        return exp.Var(this=f"{int(text)}L")
    if decimal_of(text) is not None:
        return exp.Var(this=f"{text}BD")
    return exp.Var(this=f"{text}D")


def decimal_of(text: str) -> tuple[int, int] | None:
    """Returns the precision and scale of a number that is a decimal."""
    whole, point, fraction = text.partition(".")
    if not point or "e" in text.lower():
        return None
    digits = max(len(whole.lstrip("0")) + len(fraction), 1)
    return (digits, len(fraction)) if digits <= 38 else None


def check_moment(text: str) -> None:
    """Refuses timestamps with more than microseconds, or in forms that only Spark reads."""
    if not _MOMENT.fullmatch(text):
        raise refused(f"the moment {text!r}")
