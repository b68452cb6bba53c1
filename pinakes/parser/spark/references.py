"""The tables that a query in Spark's dialect reads, and the query with other table names.

Definitions of a pipeline are written for Spark and run there unchanged, except that pinakes resolves the names of
tables. `STREAM t` and `STREAM(t)` read the new rows of a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import expressions as exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.errors import ParseError as SqlglotError
from sqlglot.errors import TokenError

from pinakes.core.errors import ParseError, Position

DIALECT = Databricks()
_INSIDE = re.compile(r"( but got| for)? <.*", re.DOTALL)
"""The parts of sqlglot's messages that show its own objects."""
_FILES = frozenset({"csv", "json", "parquet", "text", "orc", "avro", "binaryfile"})
_GROUPING = (exp.AggFunc, exp.Group, exp.Distinct, exp.Limit, exp.Offset, exp.Order, exp.Window)
_SETS = (exp.Except, exp.Intersect)


@dataclass(frozen=True, slots=True)
class Reference:
    """A table reference in a query, from `start` to `end` in the text."""

    parts: tuple[str, ...]
    start: int
    end: int
    is_stream: bool = False
    has_alias: bool = False
    is_pinned: bool = False
    """Whether the query gives a version of the table."""


def references(query: str) -> list[Reference]:
    """Returns the references of a query, in the order of the text, without common table expressions, functions and
    file paths.
    """
    tree = _tree(query)
    found = [r for table in tree.find_all(exp.Table) if (r := _reference(table, query)) is not None]
    return sorted(found, key=lambda r: r.start)


def respelled(query: str, name: Callable[[Reference], str]) -> str:
    """Returns the query with each table replaced by the result of `name`."""
    for found in reversed(references(query)):
        query = f"{query[: found.start]}{name(found)}{query[found.end :]}"
    return query


def not_row_by_row(query: str) -> str | None:
    """Returns the construct that makes a row depend on other rows, so that the query can't be applied to new rows
    alone.
    """
    tree = _tree(query)
    for found in tree.find_all(*_GROUPING, *_SETS):
        if isinstance(found, exp.Distinct) and isinstance(found.parent, exp.AggFunc):
            continue
        return _said(found)
    if any(union.args.get("distinct") for union in tree.find_all(exp.Union)):
        return "UNION"
    streams = list(tree.find_all(exp.Stream))
    if len(streams) > 1:
        return "a second STREAM"
    return next((said for stream in streams if (said := _beside(stream, tree)) is not None), None)


def _beside(stream: exp.Expr, tree: exp.Expr) -> str | None:
    """Returns the construct that makes rows of other tables depend on the new rows."""
    if any(join.side in ("RIGHT", "FULL") for join in tree.find_all(exp.Join)):
        return "a RIGHT or FULL JOIN"
    found = stream.parent
    while found is not None:
        if isinstance(found, exp.Join) and (found.side or found.kind in ("SEMI", "ANTI")):
            return "STREAM on the right of a JOIN that is not inner"
        if isinstance(found, exp.Where | exp.Having | exp.In | exp.Exists):
            return "STREAM in a condition"
        found = found.parent
    return None


def predicate_fault(predicate: str) -> str | None:
    """Returns the error in the form of a predicate; None if it is valid."""
    try:
        tree = _tree(f"SELECT 1 WHERE ({predicate}\n)")
    except ParseError as error:
        return error.message
    where = tree.args.get("where")
    is_one = isinstance(tree, exp.Select) and where is not None and isinstance(where.this, exp.Paren)
    if not is_one:
        return "it is not a condition"
    if any(tree.find_all(exp.AggFunc, exp.Subquery, exp.Window)) or len(list(tree.find_all(exp.Select))) > 1:
        return "it is evaluated per row and can't have an aggregate, a window function or a subquery"
    return None


def _tree(query: str) -> exp.Expr:
    try:
        trees = [tree for tree in DIALECT.parse(query) if tree is not None]
    except SqlglotError as error:
        first = error.errors[0] if error.errors else {}
        offset = _offset(query, first.get("line"), first.get("col"), str(first.get("highlight") or ""))
        said = _INSIDE.sub("", str(first.get("description") or "its form is not known")).rstrip(".")
        raise ParseError(f"the query can't be read: {said}", position=Position.of(query, offset)) from error
    except TokenError as error:
        raise ParseError("the query can't be read: a quote or comment is not closed") from error
    if len(trees) != 1:
        raise ParseError("one query is needed here")
    return trees[0]


def _offset(text: str, line: int | None, column: int | None, marked: str) -> int:
    """Returns the offset of the token at which sqlglot stopped; its `col` is the end of the token."""
    if line is None or column is None:
        return len(text)
    begin = sum(len(found) + 1 for found in text.split("\n")[: line - 1])
    return begin + column - len(marked)


def _reference(table: exp.Table, query: str) -> Reference | None:
    parts = list(table.parts)
    if not parts or not all(isinstance(part, exp.Identifier) and "start" in part.meta for part in parts):
        return None
    names = tuple(part.name for part in parts)
    if len(names) == 1 and names[0] in set(_visible(table)):
        return None
    if len(names) == 2 and names[0].casefold() in _FILES and not names[1].isidentifier():
        return None
    start, end = parts[0].meta["start"], parts[-1].meta["end"] + 1
    if isinstance(table.parent, exp.Stream) or _in_stream_call(table):
        start, end = _stream_span(query, start, end)
        return Reference(names, start, end, is_stream=True, has_alias=_has_alias(table))
    pinned = table.args.get("version") is not None
    return Reference(names, start, end, has_alias=bool(table.alias), is_pinned=pinned)


def _has_alias(table: exp.Table) -> bool:
    """Returns whether the table has an alias, also outside: in STREAM(t) AS x it belongs to the call."""
    found: exp.Expr | None = table
    while found is not None and not isinstance(found, exp.From | exp.Join):
        if found.alias:
            return True
        found = found.parent
    return False


def _in_stream_call(table: exp.Table) -> bool:
    inner = table.parent
    return isinstance(inner, exp.Subquery) and isinstance(inner.parent, exp.Stream)


def _stream_span(query: str, start: int, end: int) -> tuple[int, int]:
    """Returns the span with the word STREAM and its brackets."""
    before = query[:start].rstrip()
    if before.endswith("("):
        before = before[:-1].rstrip()
        end += query[end:].index(")") + 1
    return len(before) - len("STREAM"), end


def _visible(table: exp.Table) -> Iterator[str]:
    """Yields the visible common table expressions: those of each WITH around the table, and those before the one
    that contains it.
    """
    inner: exp.Expr = table
    while (outer := inner.parent) is not None:
        clause = outer.args.get("with_") or outer.args.get("with")
        if isinstance(clause, exp.With) and inner is not clause:
            yield from (cte.alias for cte in clause.expressions)
        if isinstance(outer, exp.With):
            before = outer.expressions[: outer.expressions.index(inner)]
            yield from (cte.alias for cte in before)
            if outer.args.get("recursive") and isinstance(inner, exp.CTE):
                yield inner.alias
        inner = outer


def _said(found: exp.Expr) -> str:
    words: dict[type[exp.Expr], str] = {exp.Group: "GROUP BY", exp.Order: "ORDER BY", exp.Window: "a window"}
    return words.get(type(found), found.key.upper())
