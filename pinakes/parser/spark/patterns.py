"""Translates regular expressions: DataFusion uses Rust's syntax and Spark Java's. Only patterns with the same
meaning in both are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import expressions as exp

from pinakes.parser.spark.tree import refused
from pinakes.parser.spark.writing import Writing

_ALIKE = re.compile(
    r"(?:[A-Za-z0-9 _,;:@%/#='\"<>-]|\.|[*+?](?!\+)|\^|\$|\||\((?!\?)|\)"
    r"|\[\^?[A-Za-z0-9 _.,;:@%/#-]+\]|\\[.$^*+?()|\[\]{}\\/-])*"
)
"""Excludes backslash classes (Unicode in Rust, not in Java), look-around, and counts."""


def written(name: str, given: Sequence[exp.Expr], writing: Writing) -> exp.Expr:
    pattern, flags = given[1], given[-1].name if len(given) == (3 if name == "regexp_like" else 4) else ""
    if not isinstance(pattern, exp.Literal) or not _ALIKE.fullmatch(pattern.name) or set(flags) - {"g", "i"}:
        raise refused(f"the pattern of {name}")
    text = _java(pattern.name, ignore_case="i" in flags)
    if name == "regexp_like":
        return writing.raw("({0} RLIKE {1})", [given[0], exp.Literal.string(text)])
    return _replaced(given, pattern.name, text, flags, writing)


def _java(pattern: str, *, ignore_case: bool) -> str:
    """Returns the pattern with Rust's rules: only \\n ends a line, and $ is the end of the text."""
    ended = re.sub(r"(?<!\\)((?:\\\\)*)\$", r"\1\\z", pattern)
    return ("(?di)" if ignore_case else "(?d)") + ended


def _replaced(given: Sequence[exp.Expr], pattern: str, text: str, flags: str, writing: Writing) -> exp.Expr:
    by = given[2]
    if not isinstance(by, exp.Literal) or set(by.name) & set("$\\") or "(" in pattern:
        raise refused("regexp_replace with groups")
    if "g" in flags:
        return writing.raw("regexp_replace({0}, {1}, {2})", [given[0], exp.Literal.string(text), by])
    first = exp.Literal.string(rf"\A((?s:.*?))(?:{text})")
    return writing.raw("regexp_replace({0}, {1}, {2})", [given[0], first, exp.Literal.string(f"$1{by.name}")])
