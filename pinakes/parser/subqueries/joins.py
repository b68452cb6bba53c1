"""Joins the rows of a subquery to those of the outer query, in its text.

SELECT k, (SELECT w FROM u WHERE u.k < t.k) FROM t

SELECT k, CASE WHEN "$one"("$r1"."$n") THEN "$r1"."$v" END
FROM t LEFT JOIN (…) AS "$r1" ON t.k IS NOT DISTINCT FROM "$r1"."$d1_1"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pinakes.core.names import quote, text_literal
from pinakes.parser.lexer import tokenize
from pinakes.parser.subqueries.names import Place, Resolved, columns_in
from pinakes.parser.subqueries.spread import (
    INNER,
    Domain,
    Printer,
    Spreader,
    Unsupported,
    gives_rows,
    has_one_row,
    is_repeatable_query,
    limit_of,
    spine,
)
from pinakes.parser.typed import ONE_ROW
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import aggregates, conjuncts
from pinakes.parser.workarounds.writing import all_below, is_repeatable

Edit = tuple[int, int, str]
"""Start, end, and the new text."""
_MIRRORED = {"<": "min", "<=": "min", ">": "max", ">=": "max"}


@dataclass(slots=True)
class Joiner:
    """Rewrites one subquery of a text."""

    text: str
    resolved: Resolved
    number: int
    is_stable: Callable[[tuple[str, ...]], bool]
    _keys: list[str] = field(default_factory=list)
    """The texts of the outer columns."""
    _exposed: list[str] = field(default_factory=list)
    """The columns of the joined rows, which `*` must not have."""

    def edits(self, place: Place) -> list[Edit]:
        """Returns the changes of the text. Raises Unsupported."""
        if not is_repeatable(place.inner) or not self.resolved.is_known(place.inner):
            raise Unsupported
        free = self.resolved.free(place.inner)
        if place.inner.defined and (edits := self._inlined(place, free)) is not None:
            return edits
        if any(self.resolved.found[id(column)].scope.owner is not place.select for column in free):
            raise Unsupported
        if any(self.resolved.found[id(column)].source is None for column in free):
            raise Unsupported
        if not free and (simple := self._without_join(place)) is not None:
            return simple
        if place.clause == "from":
            return self._lateral(place, free)
        if place.clause == "on":
            return self._of_join(place, free)
        if place.clause not in ("item", "where", "group", "having", "order"):
            raise Unsupported
        if applies_to_groups(place):
            raise Unsupported  # `grouped.py` comes first
        if place.clause == "order" and (place.select.distinct or place.query.body is not place.select):
            raise Unsupported
        domain = self._domain(place, free, place.select.sources)
        found, value = self._rows(place, domain)
        edits = [*self._from(place.select, found), *self._stars(place.select)]
        return [*edits, (place.node.start, place.node.end, value)]

    # --- the domain ----------------------------------------------------------------------------------------------

    def _domain(
        self, place: Place, free: Sequence[n.Column], sources: Sequence[n.Node], *, where: bool = True
    ) -> Domain:
        """Returns the values of the outer columns, of the sources that have them, with the conditions on these."""
        name = f"$d{self.number}"
        if not free:
            return Domain("", name, (), {})
        keys, instead = dict[str, str](), dict[int, str]()
        used = set[int]()
        for column in free:
            found = self.resolved.found[id(column)]
            assert found.source is not None
            used |= set(map(id, all_below(found.source.node)))
            key = ".".join(map(quote, column.parts[: found.used + 1]))
            own = f"{found.source.names!r} {column.parts[found.used]}"
            if own not in keys:
                keys[own] = key
            at = list(keys).index(own) + 1
            fields = "".join(f"[{text_literal(part)}]" for part in column.parts[found.used + 1 :])
            instead[id(column)] = f"{quote(name)}.{quote(f'{name}_{at}')}{fields}"
        kept = [_pruned(source, used) for source in sources if _has_any(source, used)]
        if any(map(self._is_lateral, kept)):
            kept = list(sources)
        if not all(map(self._is_repeatable, kept)):
            raise Unsupported
        columns = tuple(f"{name}_{at + 1}" for at in range(len(keys)))
        items = ", ".join(f"{key} AS {quote(column)}" for key, column in zip(keys.values(), columns, strict=True))
        tables = ", ".join(self.text[source.start : source.end] for source in kept)
        conditions = self._conditions(place.select, kept) if where else []
        text = f"SELECT DISTINCT {items} FROM {tables}"
        if conditions:
            text += f" WHERE {' AND '.join(f'({self.text[c.start : c.end]})' for c in conditions)}"
        self._keys = list(keys.values())
        return Domain(text, name, columns, instead)

    def _is_lateral(self, source: n.Node) -> bool:
        lateral = {id(place.node) for place in self.resolved.places if place.clause == "from"}
        return any(id(node) in lateral or isinstance(node, n.TableCall) for node in all_below(source))

    def _is_repeatable(self, source: n.Node) -> bool:
        """Returns whether a source has the same rows each time."""
        waiting, seen = [source], set[str]()
        while waiting:
            node = waiting.pop()
            if not is_repeatable_query(node, self.text):
                return False
            for part in all_below(node):
                if not isinstance(part, n.Table | n.TableOf):
                    continue
                defined = self.resolved.defined.get(part.parts[0]) if len(part.parts) == 1 else None
                if defined is None:
                    if not self.is_stable(part.parts):
                        return False
                elif defined.name not in seen:
                    seen.add(defined.name)
                    waiting.append(defined.query)
        return True

    def _conditions(self, select: n.Select, kept: Sequence[n.Node]) -> list[n.Node]:
        """Returns the conditions of WHERE on these sources alone, without subqueries."""
        inside = {id(node) for source in kept for node in all_below(source)}
        found = list[n.Node]()
        for condition in conjuncts(select.where) if select.where is not None else ():
            owners = [self.resolved.found.get(id(column)) for column in columns_in(condition)]
            if any(isinstance(part, n.Query) for part in all_below(condition)) or not is_repeatable(condition):
                continue
            if all(o is not None and o.source is not None and id(o.source.node) in inside for o in owners):
                found.append(condition)
        return found

    # --- the rows of the subquery --------------------------------------------------------------------------------

    def _rows(self, place: Place, domain: Domain) -> tuple[str, str]:
        """Returns the joins, and the expression in place of the subquery."""
        spreader = Spreader(self.text, self.resolved, domain, self.number)
        node, query = place.node, place.inner
        columns = [quote(column) for column in domain.columns]
        name = f"$r{self.number}_"
        value, rows = quote(f"{name}v"), quote(f"{name}n")
        named = f"({', '.join((value, *columns))})"
        grouped = f" GROUP BY {', '.join(columns)}" if columns else ""
        behind = "".join(f", {column}" for column in columns)
        self._exposed = [*domain.columns, f"{name}v"]
        if isinstance(node, n.Exists):
            inner = spreader.query(query, exists=True)
            found = f"SELECT DISTINCT {', '.join(columns)}, true AS {value} FROM ({inner}) AS {quote(f'{name}s')}"
            return self._joined(found, name, domain), f"({quote(name)}.{value} IS NOT NULL)"
        if self._width(query) not in (1, None):
            raise Unsupported
        inner = f"({spreader.query(query)}) AS {quote(f'{name}s')}{named}"
        if isinstance(node, n.Scalar):
            if self._has_one_row(query):
                return f" LEFT JOIN {inner.replace(quote(f'{name}s'), quote(name))} ON {self._on(name, domain)}", (
                    f"{quote(name)}.{value}"
                )
            found = f"SELECT first_value({value}) AS {value}, count(*) AS {rows}{behind} FROM {inner}{grouped}"
            self._exposed.append(f"{name}n")
            one = f'CASE WHEN "{ONE_ROW}"({quote(name)}.{rows}) THEN {quote(name)}.{value} END'
            return self._joined(found, name, domain), f"({one})"
        return self._compared(place, domain, inner, grouped, behind)

    def _compared(self, place: Place, domain: Domain, inner: str, grouped: str, behind: str) -> tuple[str, str]:
        """[NOT] IN, ANY and ALL: false or true without a match, unless a NULL makes it NULL."""
        node, name = place.node, f"$r{self.number}_"
        assert isinstance(node, n.InQuery | n.Quantified)
        operand = node.operand
        if (
            isinstance(operand, n.Row)
            or not is_repeatable(operand)
            or any(isinstance(part, n.Query) for part in all_below(operand))
        ):
            raise Unsupported
        x = f"({self.text[operand.start : operand.end]})"
        words = [token.word for token in tokenize(self.text[operand.end : place.inner.start])]
        if isinstance(node, n.InQuery):
            operator, is_all, is_not = "=", False, words[0] == "NOT"
        else:
            is_all, is_not, operator = "ALL" in words, False, "".join(words[:-2])
            if operator in ("<>", "!=") and is_all:
                operator, is_all, is_not = "=", False, True
        rows, many = (f"{quote(name)}.{quote(f'{name}{what}')}" for what in ("n", "k"))
        self._exposed = [*domain.columns, f"{name}n", f"{name}k"]
        counts = f"count(*) AS {quote(f'{name}n')}, count({quote(f'{name}v')}) AS {quote(f'{name}k')}"
        if operator == "=" and not is_all:
            found = f"SELECT {counts}{behind} FROM {inner}{grouped}"
            match = f"{name}m"
            self._exposed.append(f"{name}v")
            matches = f"SELECT DISTINCT {quote(f'{name}v')}{behind} FROM {inner}"
            columns = [f"{column}_m" for column in domain.columns]
            self._exposed += columns
            on = f"{x} = {quote(match)}.{quote(f'{name}v')}"
            if columns:
                on += f" AND {self._on(match, domain, '_m')}"
            listed = ", ".join(map(quote, (f"{name}v", *columns)))
            joins = self._joined(found, name, domain) + f" LEFT JOIN ({matches}) AS {quote(match)}({listed}) ON {on}"
            test = f"{quote(match)}.{quote(f'{name}v')} IS NOT NULL"
        elif operator in ("=", "<>", "!=", *_MIRRORED):
            v = quote(f"{name}v")
            least, most = quote(f"{name}a"), quote(f"{name}z")
            self._exposed += [f"{name}a", f"{name}z"]
            found = f"SELECT {counts}, min({v}) AS {least}, max({v}) AS {most}{behind} FROM {inner}{grouped}"
            joins = self._joined(found, name, domain)
            least, most = f"{quote(name)}.{least}", f"{quote(name)}.{most}"
            if operator in _MIRRORED:
                is_least = (_MIRRORED[operator] == "min") == is_all
                test = f"{x} {operator} {least if is_least else most}"
            elif is_all:
                test = f"({x} = {least} AND {x} = {most})"
            else:
                test = f"({x} <> {least} OR {x} <> {most})"
        else:
            raise Unsupported
        first = f"NOT ({test}) THEN false" if is_all else f"{test} THEN true"
        empty, other = ("true", "true") if is_all else ("false", "false")
        null = f"WHEN {x} IS NULL OR {rows} > {many} THEN NULL"
        found = f"CASE WHEN coalesce({rows}, 0) = 0 THEN {empty} WHEN {first} {null} ELSE {other} END"
        return joins, f"(NOT {found})" if is_not else f"({found})"

    def _joined(self, rows: str, name: str, domain: Domain) -> str:
        return f" LEFT JOIN ({rows}) AS {quote(name)} ON {self._on(name, domain)}"

    def _on(self, name: str, domain: Domain, suffix: str = "") -> str:
        """Returns the condition that a row is that of the outer row."""
        pairs = zip(self._keys, domain.items(name, suffix), strict=True) if domain.columns else ()
        return " AND ".join(f"{key} IS NOT DISTINCT FROM {column}" for key, column in pairs) or "true"

    def _has_one_row(self, query: n.Query) -> bool:
        limit, offset = limit_of(query, self.text)
        if limit == 1 and offset == 0:
            return True
        body = query.body
        if isinstance(body, n.Query):
            return self._has_one_row(body)
        if not isinstance(body, n.Select):
            return False
        return has_one_row(body) or not (body.sources or any(map(gives_rows, body.items)))

    def _width(self, query: n.Query) -> int | None:
        """Returns the number of columns; None if it is unknown."""
        body = query.body
        while isinstance(body, n.Query | n.SetOperation):
            body = body.left if isinstance(body, n.SetOperation) else body.body
        if isinstance(body, n.Values):
            return len(body.rows[0].items)
        if not isinstance(body, n.Select):
            return None
        return None if any(isinstance(item.value, n.Star) for item in body.items) else len(body.items)

    # --- the outer query -----------------------------------------------------------------------------------------

    def _from(self, select: n.Select, joins: str) -> list[Edit]:
        """Returns the changes of FROM that add joins at its end."""
        if select.from_first:
            raise Unsupported
        if not select.sources:
            one = quote(f"$o{self.number}")
            end = select.items[-1].end
            return [(end, end, f" FROM (SELECT 1 AS {one}) AS {one}{joins}")]
        return [*self._crossed(select.sources), (select.sources[-1].end, select.sources[-1].end, joins)]

    def _crossed(self, sources: Sequence[n.Node]) -> list[Edit]:
        """Returns the changes of commas to CROSS JOIN, so that ON of a later join sees all sources."""
        edits = list[Edit]()
        for before, source in pairwise(sources):
            comma = next(t for t in tokenize(self.text[before.end : source.start]) if t.word == ",")
            start = before.end + comma.start
            if all(join.kind not in _OTHERS for join in spine(source)[1]):
                edits.append((start, start + 1, " CROSS JOIN "))
            else:
                edits += [(start, start + 1, " CROSS JOIN ("), (source.end, source.end, ")")]
        return edits

    def _stars(self, select: n.Select) -> list[Edit]:
        """Returns the changes of `*`, which would have the joined columns."""
        edits = list[Edit]()
        hidden = ", ".join(map(quote, self._exposed))
        for item in select.items:
            value = item.value
            if not isinstance(value, n.Star) or value.qualifier:
                continue
            if value.changes or value.renamed:
                raise Unsupported
            excluded = f"{', '.join(map(quote, value.excluded))}, " if value.excluded else ""
            edits.append((item.start, item.end, f"* EXCEPT ({excluded}{hidden})"))
        return edits

    # --- ON ------------------------------------------------------------------------------------------------------

    def _of_join(self, place: Place, free: Sequence[n.Column]) -> list[Edit]:
        """Moves the condition of an inner join to WHERE. In that of LEFT JOIN, joins the rows to the side that the
        subquery refers to.
        """
        select, join = place.select, None
        for source in select.sources:
            joins = spine(source)[1]
            for at, one in enumerate(joins):
                if one.on is place.path[0] and all(later.kind in _KEPT for later in joins[at + 1 :]):
                    join = one
        if join is None or join.on is None:
            raise Unsupported
        on = f"({self.text[join.on.start : join.on.end]})"
        if join.kind in INNER:
            edits = [(join.left.end, join.right.start, " CROSS JOIN "), (join.right.end, join.end, "")]
            if select.where is None:
                end = select.sources[-1].end
                last = edits.pop() if end == join.end else None
                return [*edits, (end if last is None else last[0], end, f" WHERE {on}")]
            where = self.text[select.where.start : select.where.end]
            return [*edits, (select.where.start, select.where.end, f"({where}) AND {on}")]
        if join.kind not in ("LEFT", "LEFT OUTER"):
            raise Unsupported
        operand = place.node.operand if isinstance(place.node, n.InQuery | n.Quantified) else None
        columns = [*free, *(columns_in(operand) if operand is not None else ())]
        found = [self.resolved.found.get(id(column)) for column in columns]
        right = set(map(id, all_below(join.right)))
        sides = {one is not None and one.source is not None and id(one.source.node) in right for one in found}
        if len(sides) > 1 or None in found:
            raise Unsupported
        side = join.right if sides == {True} else join.left
        domain = self._domain(place, free, [side], where=False)
        rows, value = self._rows(place, domain)
        edits = [*self._stars(select), (place.node.start, place.node.end, value)]
        if side is join.left:
            return [*edits, (side.end, side.end, rows)]
        return [*edits, (side.start, side.start, "("), (side.end, side.end, f"{rows})")]

    # --- WITH ----------------------------------------------------------------------------------------------------

    def _inlined(self, place: Place, free: Sequence[n.Column]) -> list[Edit] | None:
        """Writes the queries of WITH in place of their names, if they refer to the outer query."""
        query, outer = place.inner, set(map(id, free))
        if not any(id(column) in outer for one in query.defined for column in columns_in(one)):
            return None
        if query.recursive or not isinstance(query.body, n.Select):
            raise Unsupported
        names = [part.name for part in all_below(query) if isinstance(part, n.Defined)]
        if len(set(names)) < len(names):
            raise Unsupported
        printer, known = Printer(self.text), dict[str, n.Defined]()
        for one in (*query.defined, None):
            below = all_below(query.body) if one is None else all_below(one)
            for table in below:
                defined = known.get(table.parts[0]) if isinstance(table, n.Table) and len(table.parts) == 1 else None
                if isinstance(table, n.TableOf):
                    raise Unsupported
                if isinstance(table, n.Table) and defined is not None:
                    columns = table.columns or defined.columns
                    listed = f"({', '.join(map(quote, columns))})" if columns else ""
                    alias = quote(table.alias or table.parts[0])
                    printer.instead[id(table)] = f"({printer.write(defined.query)}) AS {alias}{listed}"
            if one is not None:
                known[one.name] = one
        tail = self.text[query.body.end : query.end]
        return [(query.start, query.end, printer.write(query.body) + tail)]

    # --- LATERAL -------------------------------------------------------------------------------------------------

    def _lateral(self, place: Place, free: Sequence[n.Column]) -> list[Edit]:
        """Joins a subquery in FROM to the sources before it."""
        node, select = place.node, place.select
        assert isinstance(node, n.Derived)
        if node.alias is None or select.from_first:
            raise Unsupported
        at, join = self._position(select, node)
        if join is None:
            left: list[n.Node] = list(select.sources[:at])
        else:
            if join.kind not in (*INNER, "LEFT", "LEFT OUTER") or join.using:
                raise Unsupported
            left = [*select.sources[:at], join.left]
        if not left:
            raise Unsupported
        domain = self._domain(place, free, left)
        spreader = Spreader(self.text, self.resolved, domain, self.number)
        columns = f"({', '.join(map(quote, (*node.columns, *domain.columns)))})" if node.columns else ""
        rows = f"({spreader.query(place.inner)}) AS {quote(node.alias)}{columns}"
        on = self._on(node.alias, domain)
        self._exposed = list(domain.columns)
        edits = self._stars(select)
        for item in select.items:
            if isinstance(item.value, n.Star) and item.value.qualifier == (node.alias,):
                if item.value.excluded or item.value.changes or item.value.renamed:
                    raise Unsupported
                edits.append(
                    (item.start, item.end, f"{quote(node.alias)}.* EXCEPT ({', '.join(map(quote, domain.columns))})")
                )
        if join is None:
            start = select.sources[at - 1].end
            edits += self._crossed(select.sources[:at])
            last, more = spine(select.sources[at])
            if last is not node or any(part.kind in _OTHERS for part in more):
                raise Unsupported
            return [*edits, (start, node.end, f" JOIN {rows} ON {on}")]
        edits += self._crossed(select.sources[: at + 1])
        kind = "JOIN" if join.kind in INNER else "LEFT JOIN"
        condition = "" if join.on is None else f" AND ({self.text[join.on.start : join.on.end]})"
        return [*edits, (join.left.end, join.end, f" {kind} {rows} ON {on}{condition}")]

    def _position(self, select: n.Select, node: n.Derived) -> tuple[int, n.Join | None]:
        """Returns the number of the source with a subquery, and the join that it is the right side of."""
        for at, source in enumerate(select.sources):
            first, joins = spine(source)
            if first is node:
                return at, None
            for join in joins:
                if join.right is node:
                    return at, join
        raise Unsupported

    # --- subqueries without outer columns ------------------------------------------------------------------------

    def _without_join(self, place: Place) -> list[Edit] | None:
        """EXISTS is a count of at most one row."""
        node, query = place.node, place.inner
        if not isinstance(node, n.Exists) or place.clause == "from":
            return None
        body, printer = query.body, Printer(self.text)
        plain = isinstance(body, n.Select) and not (body.groups or body.having or body.distinct or body.distinct_on)
        if plain and isinstance(body, n.Select) and not query.order and body.qualify is None:
            matter = any(aggregates(item) or gives_rows(item) for item in body.items)
            for item in () if matter else body.items:
                printer.instead[id(item)] = f"1 AS {quote(f'$e{item.start}')}"
        name = f"$r{self.number}_"
        rows = f"SELECT 1 AS {quote(f'{name}v')} FROM ({printer.write(query)}) AS {quote(f'{name}s')} LIMIT 1"
        return [(node.start, node.end, f"((SELECT count(*) FROM ({rows}) AS {quote(name)}) > 0)")]


def _has_any(source: n.Node, used: set[int]) -> bool:
    return any(id(node) in used for node in all_below(source))


def _pruned(source: n.Node, used: set[int]) -> n.Node:
    """Returns a source without the last joins that have none of the used nodes: it has all of the values then."""
    while isinstance(source, n.Join) and source.kind in _KEPT and not _has_any(source.right, used):
        source = source.left
    return source


def applies_to_groups(place: Place) -> bool:
    """Returns whether a subquery is evaluated for groups, not for the rows that they consist of."""
    select = place.select
    if place.clause not in ("item", "having", "order") or place.is_aggregated:
        return False
    if not (select.groups or has_one_row(select)):
        return False
    item = place.path[0]
    return not (isinstance(item, n.Item) and any(_names_item(group, item, select) for group in select.groups))


def _names_item(group: n.Node, item: n.Item, select: n.Select) -> bool:
    """Returns whether a key of GROUP BY is an item by its alias or position."""
    if isinstance(group, n.Column):
        return group.parts == (item.alias,)
    return isinstance(group, n.Number) and group.text == str(select.items.index(item) + 1)


_KEPT = frozenset({*INNER, "LEFT", "LEFT OUTER"})
"""Joins that keep the rows of the left side, or drop them."""
_OTHERS = frozenset({"RIGHT", "RIGHT OUTER", "FULL", "FULL OUTER", "RIGHT SEMI", "RIGHT ANTI"})
"""Joins that the rows before a comma would take part in."""
