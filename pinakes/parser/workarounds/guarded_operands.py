"""WHERE b <> 0 AND a / b > 2: DataFusion 55 evaluates both sides of AND for all rows, so that a predicate does not
guard the next one, and the statement fails with a division by zero.

An expression that may fail gets its operand only where the preceding predicates on the same columns are true:

    WHERE b <> 0 AND a / b > 2      WHERE b <> 0 AND a / (CASE WHEN (b <> 0) THEN b END) > 2
    WHERE b = 0 OR a / b > 2        WHERE b = 0 OR a / (CASE WHEN (b = 0) IS NOT TRUE THEN b END) > 2

The same applies to the SELECT list and to a CASE with a boolean result, which DataFusion converts to AND and OR.

A predicate on a subquery is pushed into its WHERE, so that the predicates there guard its SELECT list and the
predicates around it:

    (SELECT a / b AS q FROM t WHERE b <> 0) AS s WHERE q > 2
    (SELECT a / (CASE WHEN (b <> 0) THEN b END) AS q FROM t WHERE b <> 0) AS s WHERE q > 2
    (SELECT b FROM t WHERE b <> 0) AS s WHERE 1 / b > 2
    (SELECT b FROM t WHERE b <> 0) AS s WHERE 1 / (CASE WHEN ("s"."b" <> 0) THEN b END) > 2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pinakes.core.names import quote
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.reader import COMPARISONS
from pinakes.parser.workarounds.constant_filters import aggregates, conjuncts
from pinakes.parser.workarounds.writing import Changes, all_below, bare, is_repeatable, parts_of

_FAILS = r"(?:[/%]|::|\bCAST\s*\(|\b(?:ln|log|log2|log10|sqrt|mod)\s*\()"
MAY_FAIL = re.compile(rf"\b(?:AND|OR|CASE)\b.*{_FAILS}", re.IGNORECASE | re.DOTALL)
MAY_FAIL_BELOW = re.compile(rf"{_FAILS}.*\bWHERE\b", re.IGNORECASE | re.DOTALL)
"""The same for a SELECT list that an outer query reads."""
_LONGEST = 2000
"""Maximum characters of the predicates added to one operand: those of a long CASE would grow quadratically."""
_DOMAINS = frozenset({"ln", "log", "log2", "log10", "sqrt", "mod"})
_NUMBERS = frozenset(
    "TINYINT SMALLINT INT INTEGER BIGINT INT2 INT4 INT8 REAL FLOAT FLOAT4 FLOAT8 DOUBLE DECIMAL NUMERIC".split()
)


_Defined = Mapping[str, n.Query]
"""The queries of WITH, by name."""


_Runs = tuple[tuple[tuple[str, tuple[str, ...]], ...], str]
"""A predicate: pairs of text and the column after it, and the text at the end."""


@dataclass(frozen=True, slots=True)
class _Guard:
    """A predicate that is true for every row that a part of the text processes."""

    text: str
    columns: frozenset[str]
    source: str | None = None
    """The subquery that contains the predicate, whose columns these are."""
    runs: _Runs | None = None
    """The text in pieces, if the predicate is in a subquery."""

    def concerns(self, operand: n.Node) -> bool:
        for part in all_below(operand):
            if isinstance(part, n.Column) and part.parts[-1] in self.columns:
                qualifier = part.parts[-2] if len(part.parts) > 1 else None
                if qualifier is None or self.source is None or qualifier == self.source:
                    return True
        return False


def guard_select(select: n.Select, defined: _Defined, changes: Changes, *, is_read: bool) -> None:
    """Guards the expressions of a SELECT. `is_read` is whether an outer query may have predicates on its columns."""
    given = list(_from_sources(select.sources, defined, changes))
    for condition in (select.where, select.having, select.qualify):
        if condition is not None:
            _guard_condition(condition, given, changes)
    if not is_read or select.groups or select.having is not None or any(map(aggregates, select.items)):
        given = []
    elif select.where is not None:
        given += [g for conjunct in conjuncts(select.where) for g in _as_guard(conjunct, "({})", changes)]
    for item in select.items:
        _guard(item, given, changes)
    for key in (*select.groups, *select.distinct_on):
        _guard(key, [], changes)


def guard_order(query: n.Query, changes: Changes) -> None:
    for key in query.order:
        _guard(key, [], changes)


def guard_join(join: n.Join, changes: Changes) -> None:
    if join.on is not None:
        _guard_condition(join.on, [], changes)


def _guard_condition(condition: n.Node, given: Sequence[_Guard], changes: Changes) -> None:
    """Guards one condition in WHERE, HAVING, QUALIFY or ON."""
    before = list(given)
    for conjunct in conjuncts(condition):
        earlier = list[_Guard]()
        for disjunct in _disjuncts(conjunct):
            _guard(disjunct, [*before, *earlier], changes)
            earlier += _as_guard(disjunct, "({}) IS NOT TRUE", changes)
        before += _as_guard(conjunct, "({})", changes)


def _guard(node: n.Node, guards: Sequence[_Guard], changes: Changes) -> None:
    waiting = [node]
    while waiting:
        found = waiting.pop()
        match found:
            case n.Query():
                continue
            case n.Binary(operator="AND" | "OR"):
                _guard_condition(found, guards, changes)
                continue
            case n.Case():
                _guard_case(found, guards, changes)
                continue
        operand = _decides(found)
        if operand is not None:
            text = " AND ".join(guard.text for guard in guards if guard.concerns(operand))
            if 0 < len(text) < _LONGEST:
                changes.surround(operand, f"(CASE WHEN {text} THEN ", " END)")
        waiting += parts_of(found)


def _guard_case(node: n.Case, guards: Sequence[_Guard], changes: Changes) -> None:
    """Guards the parts of a CASE. Its conditions are guards if it is boolean: DataFusion converts it to AND and OR."""
    before, is_truth = list(guards), node.operand is None and any(_is_truth(bare(r)) for r in node.results)
    for condition, result in zip(node.conditions, node.results, strict=False):
        _guard_condition(condition, before, changes)
        _guard(result, [*before, *(_as_guard(condition, "({})", changes) if is_truth else ())], changes)
        before += _as_guard(condition, "({}) IS NOT TRUE", changes) if is_truth else ()
    for otherwise in node.results[len(node.conditions) :]:
        _guard(otherwise, before, changes)


def _is_truth(node: n.Node) -> bool:
    if isinstance(node, n.Binary):
        return node.operator in ("AND", "OR") or node.operator in COMPARISONS
    return isinstance(node, n.Boolean | n.Between | n.InList | n.InQuery | n.Test | n.Exists | n.Quantified) or (
        isinstance(node, n.Unary) and node.operator == "NOT"
    )


def _as_guard(node: n.Node, form: str, changes: Changes) -> list[_Guard]:
    """Returns a condition as a guard of later ones, if it can't fail itself and needs no workaround."""
    others = any(isinstance(part, n.Query | n.Row | n.InList) for part in all_below(node))
    if others or not is_repeatable(node) or _may_fail(node):
        return []
    return [_Guard(form.format(changes.text[node.start : node.end]), frozenset(_columns(node)))]


# --- guards in the subqueries of FROM --------------------------------------------------------------------------------


def _from_sources(sources: Sequence[n.Node], defined: _Defined, changes: Changes) -> Iterator[_Guard]:
    """Yields the predicates in subqueries of FROM, with the outer names of their columns."""
    for source in sources:
        match source:
            case n.Join():
                kept = [
                    side for side, lost in ((source.left, "RIGHT"), (source.right, "LEFT")) if lost not in source.kind
                ]
                if not any(word in source.kind for word in ("FULL", "SEMI", "ANTI")):
                    yield from _from_sources(kept, defined, changes)
            case n.Paren():
                yield from _from_sources([source.inner], defined, changes)
            case n.Derived(columns=()):
                yield from _selected(source.query, source.alias, defined, changes)
            case n.Table(parts=(name,), columns=()) if name in defined:
                inner = {key: query for key, query in defined.items() if key != name}  # it may read itself
                yield from _selected(defined[name], source.alias or name, inner, changes)


def _selected(query: n.Query, alias: str | None, defined: _Defined, changes: Changes) -> Iterator[_Guard]:
    select = query.body
    if not isinstance(select, n.Select) or query.tail or query.defined:
        return
    if select.groups or select.having is not None or any(map(aggregates, select.items)):
        return
    names = _names(select)
    for runs, end in _conditions(select, defined, changes):
        shown = [names(parts) for _, parts in runs]
        found = [name for name in shown if name is not None]
        if found and len(found) == len(shown):
            parts = [(name,) if alias is None else (alias, name) for name in found]
            named = tuple((text, one) for (text, _), one in zip(runs, parts, strict=True))
            text = "".join(text + ".".join(map(quote, one)) for text, one in named)
            yield _Guard(f"{text}{end}", frozenset(found), alias, (named, end))


def _conditions(select: n.Select, defined: _Defined, changes: Changes) -> Iterator[_Runs]:
    """Yields the predicates that hold for the rows of a SELECT."""
    for guard in _from_sources(select.sources, defined, changes):
        if guard.runs is not None:
            yield guard.runs
    for conjunct in conjuncts(select.where) if select.where is not None else ():
        if _as_guard(conjunct, "({})", changes):
            runs, before, at = list[tuple[str, tuple[str, ...]]](), "(", conjunct.start
            columns = [part for part in all_below(conjunct) if isinstance(part, n.Column)]
            for column in sorted(columns, key=lambda column: column.start):
                runs.append((before + changes.text[at : column.start], column.parts))
                before, at = "", column.end
            yield tuple(runs), f"{changes.text[at : conjunct.end]})"


def _names(select: n.Select) -> Callable[[tuple[str, ...]], str | None]:
    """Returns a function from a column of a SELECT's tables to its name in the result; None if it is not selected."""
    single = len(select.sources) == 1 and isinstance(select.sources[0], n.Table | n.Derived)
    known = dict[tuple[str, ...], str]()
    star: n.Star | None = None
    for item in select.items:
        if isinstance(item.value, n.Column) and (single or len(item.value.parts) > 1):
            known[item.value.parts] = item.alias or item.value.parts[-1]
        elif isinstance(item.value, n.Star) and single and not item.value.changes and not item.value.items:
            star = item.value

    def name(column: tuple[str, ...]) -> str | None:
        found = known.get(column)
        if found is None and single:
            found = known.get(column[-1:])
        if found is None and star is not None and column[-1] not in star.excluded:
            found = column[-1]
        return found

    return name


def _disjuncts(condition: n.Node) -> Iterator[n.Node]:
    """Yields the operands of OR in a condition."""
    waiting = [condition]
    while waiting:
        found = bare(waiting.pop())
        if isinstance(found, n.Binary) and found.operator == "OR":
            waiting += [found.right, found.left]
        else:
            yield found


def _may_fail(node: n.Node) -> bool:
    return any(_decides(part) is not None for part in all_below(node))


def _decides(node: n.Node) -> n.Node | None:
    """Returns the operand that determines whether an expression fails."""
    match node:
        case n.Binary(operator="/" | "%"):
            return node.right
        case n.Cast(form="CAST" | "::") if node.type.name in _NUMBERS:
            return node.operand
        case n.Call() if node.name in _DOMAINS and node.arguments and not node.over:
            return node.arguments[-1]
    return None


def _columns(node: n.Node) -> set[str]:
    return {part.parts[-1] for part in all_below(node) if isinstance(part, n.Column)}
