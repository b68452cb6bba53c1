"""Puts the aggregates of a SELECT into a subquery in FROM, so that the subqueries of its list and of HAVING, which
apply to groups, can be joined:

    SELECT k, (SELECT …) FROM t GROUP BY k HAVING count(*) > 1

    SELECT "$s1"."$g1" AS k, (SELECT …) FROM (SELECT k AS "$g1", count(*) AS "$a1" FROM t GROUP BY k) AS "$s1"
    WHERE "$s1"."$a1" > 1
"""

from __future__ import annotations

from pinakes.core.names import quote
from pinakes.parser.lexer import tokenize
from pinakes.parser.subqueries.joins import Edit, applies_to_groups
from pinakes.parser.subqueries.names import Place, Resolved, columns_in
from pinakes.parser.subqueries.spread import Printer, Unsupported
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import AGGREGATES
from pinakes.parser.workarounds.writing import all_below, bare, is_repeatable, parts_of


def split_grouped(text: str, resolved: Resolved, place: Place, number: int) -> list[Edit] | None:
    """Returns the changes of the text; None if the subquery does not apply to groups."""
    if not applies_to_groups(place):
        return None
    if isinstance(place.node, n.Exists) and not resolved.free(place.inner):
        return None
    return _Split(text, resolved, place, f"$s{number}").edits()


class _Split:
    def __init__(self, text: str, resolved: Resolved, place: Place, name: str) -> None:
        self._text, self._resolved, self._name = text, resolved, name
        self._query, self._select = place.query, place.select
        self._printer = Printer(text)
        self._groups = dict[str, str]()
        """The column of each expression in GROUP BY."""
        self._calls = dict[str, str]()
        """The column of each aggregate."""
        self._longest = 0
        """Characters of an expression that may be a group."""
        parts = [*all_below(self._select), *(part for key in self._query.order for part in all_below(key))]
        self._nested = [part for part in parts if isinstance(part, n.Query)]

    def edits(self) -> list[Edit]:
        select = self._select
        if select.from_first or select.windows or select.distinct_on:
            raise Unsupported
        keys = [self._key(group) for group in select.groups]
        self._longest = 4 * max((key.end - key.start for key in self._leaves(keys)), default=0) + 20
        for at, key in enumerate(self._leaves(keys)):
            self._groups.setdefault(self._folded(key), f"$g{at + 1}")
        texts = {self._folded(key): self._written(key) for key in self._leaves(keys)}
        outside = [*select.items, *(part for part in (select.having, select.qualify) if part is not None)]
        order = self._query.order if self._query.body is select else []
        for node in (*outside, *order):
            self._lift(node)
        inner = [f"{texts[folded]} AS {quote(column)}" for folded, column in self._groups.items()]
        inner += [f"{call} AS {quote(column)}" for call, column in self._calls.items()]
        found = f"SELECT {', '.join(inner) or '1'}"
        if select.sources:
            found += f" FROM {', '.join(map(self._written, select.sources))}"
        if select.where is not None:
            found += f" WHERE {self._written(select.where)}"
        if keys:
            found += f" GROUP BY {', '.join(map(self._written, keys))}"
        items = ", ".join(map(self._item, select.items))
        outer = f"SELECT {'DISTINCT ' if select.distinct else ''}{items} FROM ({found}) AS {quote(self._name)}"
        if select.having is not None:
            outer += f" WHERE {self._printer.write(select.having)}"
        if select.qualify is not None:
            outer += f" QUALIFY {self._printer.write(select.qualify)}"
        edits = [(select.start, select.end, outer)]
        return edits + [(key.start, key.end, self._printer.write(key)) for key in order]

    def _key(self, group: n.Node) -> n.Node:
        """Returns an expression of GROUP BY, also by its position or alias."""
        value, items = bare(group), self._select.items
        if isinstance(value, n.Number):
            if not (value.text.isdigit() and 0 < int(value.text) <= len(items)):
                raise Unsupported
            value = items[int(value.text) - 1].value
        elif isinstance(value, n.Column):
            found = self._resolved.found.get(id(value))
            if found is not None and found.source is None:
                value = next(item.value for item in items if item.alias == value.parts[0])
        else:
            value = group
        if isinstance(value, n.AllItems | n.Star) or any(isinstance(part, n.Query) for part in all_below(value)):
            raise Unsupported
        if not is_repeatable(value):
            raise Unsupported
        return value

    def _leaves(self, keys: list[n.Node]) -> list[n.Node]:
        """Returns the expressions in ROLLUP and other sets, too."""
        found = list[n.Node]()
        for key in keys:
            if isinstance(key, n.Row):
                if any(isinstance(bare(part), n.Number) for part in key.items):
                    raise Unsupported
                found += self._leaves([self._key(part) if not isinstance(part, n.Row) else part for part in key.items])
            else:
                found.append(key)
        return found

    def _item(self, item: n.Item) -> str:
        value = item.value
        if isinstance(value, n.Star):
            raise Unsupported
        name = value.parts[-1] if isinstance(value, n.Column) else self._text[value.start : value.end]
        return f"{self._printer.write(value)} AS {quote(item.alias or name)}"

    def _lift(self, node: n.Node) -> None:
        """Replaces the groups and aggregates in an expression, also in nested queries, by columns."""
        if not isinstance(node, n.Item | n.Query | n.Number | n.Text):
            is_short = node.end - node.start <= self._longest
            column = self._groups.get(self._folded(node)) if is_short and self._is_own(node) else None
            if column is not None:
                self._printer.instead[id(node)] = f"{quote(self._name)}.{quote(column)}"
                return
        if isinstance(node, n.Call) and node.name in AGGREGATES and not node.over and self._is_own(node):
            text = self._written(node)
            column = self._calls.setdefault(text, f"$a{len(self._calls) + 1}")
            self._printer.instead[id(node)] = f"{quote(self._name)}.{quote(column)}"
            return
        if isinstance(node, n.Column):
            found = self._resolved.found.get(id(node))
            if found is None or (found.scope.owner is self._select and found.source is not None):
                raise Unsupported  # neither a group nor in an aggregate
        if isinstance(node, n.Star) and not node.qualifier and not node.items:
            return
        for part in parts_of(node):
            self._lift(part)

    def _is_own(self, node: n.Node) -> bool:
        """Returns whether an expression belongs to the rows that are grouped: its columns do, or it has none and stands
        in the SELECT itself.
        """
        inside = set(map(id, all_below(node)))
        found = [self._resolved.found.get(id(column)) for column in columns_in(node)]
        owners = [one for one in found if one is None or id(one.scope.owner) not in inside]
        if not owners:
            return self._is_outside(node)
        return all(o is not None and o.scope.owner is self._select and o.source is not None for o in owners)

    def _is_outside(self, node: n.Node) -> bool:
        """Returns whether a node stands in no nested query."""
        return not any(query.start <= node.start and node.end <= query.end for query in self._nested)

    def _folded(self, node: n.Node) -> str:
        """Returns the text of an expression for comparisons; the same for `t.k` and `k`."""
        value = bare(node)
        found = self._resolved.found.get(id(value)) if isinstance(value, n.Column) else None
        if found is not None and found.source is not None and isinstance(value, n.Column):
            return f"{id(found.source.node)} {value.parts[found.used :]}"
        tokens = tokenize(self._text[value.start : value.end])
        return " ".join(
            token.text if token.kind in ("quoted", "string") else token.word or token.text for token in tokens
        )

    def _written(self, node: n.Node) -> str:
        return self._text[node.start : node.end]
