"""Writes a subquery for all rows of the outer query at once.

The domain is a table of the distinct values of the outer columns that the subquery refers to. It is joined to the
sources of the subquery, and its columns are added to the SELECT list, to GROUP BY, and to PARTITION BY of windows:

    SELECT w FROM u WHERE u.k < t.k ORDER BY w LIMIT 1

    SELECT * EXCEPT ("$n1") FROM (
      SELECT u.w, "$d"."$d_1", row_number() OVER (PARTITION BY "$d"."$d_1" ORDER BY w) AS "$n1"
      FROM (SELECT DISTINCT t.k AS "$d_1" FROM t) AS "$d" CROSS JOIN u WHERE u.k < "$d"."$d_1") AS "$l1"
    WHERE "$n1" <= 1

An aggregate without GROUP BY also has a row for the values of the domain that match no rows, with counts of 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pinakes.core.names import quote
from pinakes.parser.lexer import tokenize
from pinakes.parser.subqueries.names import Resolved, columns_in
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import AGGREGATES, aggregates
from pinakes.parser.workarounds.writing import all_below, bare, is_repeatable, parts_of, within_query

COUNTS = frozenset("count approx_distinct approx_count_distinct count_if countif regr_count".split())
"""Aggregates that are 0 for no rows; the others are NULL."""
INNER = frozenset({"", "INNER", "CROSS"})
_FROM_LEFT = INNER | {"LEFT", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI", "SEMI", "ANTI", "NATURAL", "NATURAL INNER"}


class Unsupported(Exception):
    """A form that is not rewritten."""


@dataclass(slots=True)
class Domain:
    """The table of the values of outer columns; without columns for a subquery that refers to none."""

    text: str
    """The query of its rows."""
    name: str
    columns: tuple[str, ...]
    instead: Mapping[int, str]
    """What replaces the columns of the outer query, by the ids of their nodes."""

    def items(self, of: str | None = None, suffix: str = "") -> list[str]:
        """Returns its columns, with a qualifier."""
        return [f"{quote(of or self.name)}.{quote(column + suffix)}" for column in self.columns]

    def equal(self, source: str, suffix: str = "") -> str:
        """Returns the condition that a source with its columns has the same values."""
        pairs = zip(self.items(), self.items(source, suffix), strict=True)
        return " AND ".join(f"{left} IS NOT DISTINCT FROM {right}" for left, right in pairs) or "true"

    @property
    def source(self) -> str:
        return f"({self.text}) AS {quote(self.name)}"


@dataclass(slots=True)
class Printer:
    """Writes nodes of a text with replacements."""

    text: str
    instead: dict[int, str] = field(default_factory=dict)
    inserted: dict[int, str] = field(default_factory=dict)
    """Additional text by offset."""

    def write(self, node: n.Node) -> str:
        found = self.instead.get(id(node))
        if found is not None:
            return found
        pieces, at = list[str](), node.start
        for child in parts_of(node):
            pieces += (self._copied(at, child.start), self.write(child))
            at = child.end
        return "".join((*pieces, self._copied(at, node.end)))

    def _copied(self, start: int, end: int) -> str:
        inserted = [(at, more) for at, more in self.inserted.items() if start < at <= end]
        pieces = list[str]()
        for at, more in sorted(inserted):
            pieces += (self.text[start:at], more)
            start = at
        return "".join((*pieces, self.text[start:end]))


class Spreader:
    """Writes one subquery over one domain."""

    def __init__(self, text: str, resolved: Resolved, domain: Domain, number: int) -> None:
        self._resolved, self._domain, self._number = resolved, domain, number
        self._printer = Printer(text, dict(domain.instead))
        self._text = text
        self._outer = set(domain.instead)
        self._names = 0

    def query(self, query: n.Query, *, exists: bool = False, suffix: str = "") -> str:
        """Returns the query with the domain's columns behind its own. For EXISTS only these matter. `suffix` is added
        to their names.
        """
        if not self._domain.columns:
            return self._printer.write(query)
        before = self._defined(query)
        limit, offset = limit_of(query, self._text)
        is_all = offset == 0 and limit != 0 and (exists or limit is None)
        if exists and is_all and isinstance(query.body, n.Select):
            return before + self._select(query.body, self._constant(query.body), suffix)
        if is_all:
            return before + self._body(query.body, suffix)
        if isinstance(query.body, n.Select) and has_one_row(query.body):
            if offset == 0 and limit != 0:
                return before + self._select(query.body, query.body.items, suffix)
            raise Unsupported
        return before + self._limited(query, limit, offset, suffix)

    def _defined(self, query: n.Query) -> str:
        """Returns WITH of the query, which may not refer to the outer query."""
        if not query.defined:
            return ""
        if query.recursive or any(self._is_outer(one) for one in query.defined):
            raise Unsupported
        taken = {one.name for one in query.defined}
        for token in tokenize(self._domain.text):
            if (
                token.kind in ("word", "quoted")
                and (token.text if token.kind == "quoted" else token.text.lower()) in taken
            ):
                raise Unsupported
        return "WITH " + ", ".join(self._printer.write(one) for one in query.defined) + " "

    def _constant(self, select: n.Select) -> Sequence[n.Item] | None:
        """Returns the items of the SELECT in EXISTS; None if they do not matter."""
        plain = not (select.groups or select.having or select.qualify or select.distinct or select.distinct_on)
        matter = not plain or any(aggregates(item) or gives_rows(item) for item in select.items)
        return select.items if matter else None

    def _body(self, body: n.Node, suffix: str) -> str:
        match body:
            case n.Select():
                return self._select(body, body.items, suffix)
            case n.Query():
                return self.query(body, suffix=suffix)
            case n.SetOperation():
                if body.by_name or (body.operator != "UNION" and not body.distinct):
                    raise Unsupported
                operator = body.operator + ("" if body.distinct else " ALL")
                return f"({self._body(body.left, suffix)}) {operator} ({self._body(body.right, suffix)})"
            case n.Values():
                rows = [
                    ", ".join(
                        f"{self._printer.write(item)} AS {quote(f'column{number + 1}')}"
                        for number, item in enumerate(row.items)
                    )
                    for row in body.rows
                ]
                columns = self._columns(suffix)
                return " UNION ALL ".join(f"SELECT {row}, {columns} FROM {self._domain.source}" for row in rows)
        raise Unsupported

    # --- SELECT --------------------------------------------------------------------------------------------------

    def _columns(self, suffix: str) -> str:
        """Returns the domain's columns as items of a SELECT list."""
        pairs = zip(self._domain.items(), self._domain.columns, strict=True)
        return ", ".join(f"{item} AS {quote(column + suffix)}" for item, column in pairs)

    def _select(self, select: n.Select, items: Sequence[n.Item] | None, suffix: str, more: str = "") -> str:
        """Returns a SELECT with the domain's columns. Without `items` it has only these. `more` is another item."""
        self._check(select)
        if has_one_row(select):
            if more:
                raise Unsupported
            return self._single(select, suffix)
        printer, domain = self._printer, self._domain
        self._partition(select)
        columns = domain.items()
        sources, hidden = self._from(select)
        listed = [] if items is None else [self._item(item, hidden) for item in items]
        text = f"SELECT {'DISTINCT ' if select.distinct else ''}{', '.join((*listed, self._columns(suffix)))}{more}"
        text += f" FROM {sources}"
        if select.where is not None:
            text += f" WHERE {printer.write(select.where)}"
        if select.groups:
            text += f" GROUP BY {', '.join((*map(printer.write, select.groups), *columns))}"
        if select.having is not None:
            text += f" HAVING {printer.write(select.having)}"
        if select.qualify is not None:
            text += f" QUALIFY {printer.write(select.qualify)}"
        return text

    def _check(self, select: n.Select) -> None:
        if select.from_first or select.windows or select.distinct_on:
            raise Unsupported
        for group in select.groups:
            if isinstance(group, n.AllItems | n.Row) or self._is_outer_alone(group):
                raise Unsupported
        for part in within_select(select):
            if isinstance(part, n.Call) and not part.over and part.name in AGGREGATES:
                named = list(columns_in(part))
                if named and all(id(column) in self._outer for column in named):
                    raise Unsupported  # an aggregate of the outer query
            if isinstance(part, n.Call) and (part.over_name or part.name in ("columns", "unnest", "grouping")):
                raise Unsupported

    def _item(self, item: n.Item, hidden: Sequence[str]) -> str:
        value = item.value
        if isinstance(value, n.Star):
            text = self._printer.write(item)
            if value.qualifier:
                return text
            if value.excluded or value.changes or value.renamed:
                raise Unsupported
            return f"* EXCEPT ({', '.join(map(quote, (*self._domain.columns, *hidden)))})"
        return f"{self._printer.write(value)} AS {quote(self._name(item))}"

    def _name(self, item: n.Item) -> str:
        if item.alias is not None:
            return item.alias
        value = item.value
        return value.parts[-1] if isinstance(value, n.Column) else self._text[value.start : value.end]

    def _single(self, select: n.Select, suffix: str) -> str:
        """Returns an aggregate without GROUP BY: it is joined to the domain, so that each value has a row."""
        domain, printer, name = self._domain, self._printer, f"$g{self._next()}"
        if select.distinct or select.qualify is not None:
            raise Unsupported
        if any(isinstance(item.value, n.Star) for item in select.items):
            raise Unsupported
        calls = dict[int, n.Call]()
        outside = [*select.items, *([] if select.having is None else [select.having])]
        for node in outside:
            self._aggregates_in(node, calls)
        texts = [printer.write(call) for call in calls.values()]
        for number, call in enumerate(calls.values()):
            column = f"{quote(name)}.{quote(f'$a{number + 1}')}"
            printer.instead[id(call)] = f"coalesce({column}, 0)" if call.name in COUNTS else column
        inner = ", ".join([f"{text} AS {quote(f'$a{at + 1}')}" for at, text in enumerate(texts)] + domain.items())
        where = "" if select.where is None else f" WHERE {printer.write(select.where)}"
        sources = f"SELECT {inner} FROM {self._from(select)[0]}{where} GROUP BY {', '.join(domain.items())}"
        items = ", ".join([*(self._item(item, ()) for item in select.items), self._columns(suffix)])
        text = f"SELECT {items} FROM {domain.source} LEFT JOIN ({sources}) AS {quote(name)} ON {domain.equal(name)}"
        return text if select.having is None else f"{text} WHERE {printer.write(select.having)}"

    def _aggregates_in(self, node: n.Node, calls: dict[int, n.Call]) -> None:
        if isinstance(node, n.Call):
            if node.over:
                raise Unsupported
            if node.name in AGGREGATES:
                calls[id(node)] = node
                return
        if isinstance(node, n.Query):
            if any(id(column) not in self._outer for column in self._resolved.free(node)):
                raise Unsupported
            return
        for part in parts_of(node):
            self._aggregates_in(part, calls)

    def _partition(self, select: n.Select) -> None:
        """Adds the domain's columns to the windows of a SELECT."""
        for part in within_select(select):
            if isinstance(part, n.Call) and part.over:
                at, continues = _window_of(self._text, part)
                columns = ", ".join(self._domain.items())
                self._printer.inserted[at] = f" {columns}, " if continues else f"PARTITION BY {columns} "

    # --- FROM ----------------------------------------------------------------------------------------------------

    def _from(self, select: n.Select) -> tuple[str, list[str]]:
        """Returns the sources with the domain before them, and the names that it has in subqueries among them."""
        hidden = list[str]()
        return self._domain.source + "".join(self._joined(source, hidden) for source in select.sources), hidden

    def _joined(self, source: n.Node, hidden: list[str]) -> str:
        first, joins = spine(source)
        if all(join.kind in _FROM_LEFT for join in joins):
            text = self._leaf(first, "CROSS", None, hidden)
            for join in joins:
                text += self._leaf(join.right, join.kind, join, hidden)
            return text
        if self._is_outer(source):
            raise Unsupported
        return f" CROSS JOIN ({self._printer.write(source)})"

    def _leaf(self, leaf: n.Node, kind: str, join: n.Join | None, hidden: list[str]) -> str:
        on = "" if join is None or join.on is None else self._printer.write(join.on)
        if not self._is_outer(leaf):
            using = f" USING ({', '.join(map(quote, join.using))})" if join is not None and join.using else ""
            return f" {kind} JOIN {self._printer.write(leaf)}{f' ON {on}' if on else ''}{using}"
        if not isinstance(leaf, n.Derived) or leaf.alias is None or kind not in (*INNER, "LEFT", "LEFT OUTER"):
            raise Unsupported
        if (join is not None and join.using) or leaf.query.start > leaf.start + 1:
            raise Unsupported
        suffix = f"_{self._next()}"
        columns = [column + suffix for column in self._domain.columns]
        hidden += columns
        listed = f"({', '.join(map(quote, (*leaf.columns, *columns)))})" if leaf.columns else ""
        text = f"({self.query(leaf.query, suffix=suffix)}) AS {quote(leaf.alias)}{listed}"
        both = self._domain.equal(leaf.alias, suffix) + (f" AND ({on})" if on else "")
        return f" {'JOIN' if kind in INNER else 'LEFT JOIN'} {text} ON {both}"

    # --- ORDER BY … LIMIT ----------------------------------------------------------------------------------------

    def _limited(self, query: n.Query, limit: int | None, offset: int, suffix: str) -> str:
        number, name = f"$n{self._next()}", f"$l{self._names}"
        body, columns = query.body, ", ".join(self._domain.items())
        if isinstance(body, n.Select) and not body.distinct and body.qualify is None:
            keys = [self._key(key, query, body) for key in query.order]
            order = f" ORDER BY {', '.join(keys)}" if keys else ""
            more = f", row_number() OVER (PARTITION BY {columns}{order}) AS {quote(number)}"
            inner = self._select(body, body.items, suffix, more)
        else:
            keys = [self._output_key(key, query, body) for key in query.order]
            order = f" ORDER BY {', '.join(keys)}" if keys else ""
            columns = ", ".join(quote(column + suffix) for column in self._domain.columns)
            rows = f"({self._body(body, suffix)}) AS {quote(f'{name}r')}"
            inner = f"SELECT *, row_number() OVER (PARTITION BY {columns}{order}) AS {quote(number)} FROM {rows}"
        bounds = [f"{quote(number)} > {offset}"] if offset else []
        bounds += [f"{quote(number)} <= {offset + limit}"] if limit is not None else []
        return f"SELECT * EXCEPT ({quote(number)}) FROM ({inner}) AS {quote(name)} WHERE {' AND '.join(bounds)}"

    def _key(self, key: n.Node, query: n.Query, select: n.Select) -> str:
        if isinstance(key, n.AllItems):
            raise Unsupported
        value, found = bare(key), key
        if isinstance(value, n.Number):
            if not (value.text.isdigit() and 0 < int(value.text) <= len(select.items)):
                raise Unsupported
            found = select.items[int(value.text) - 1].value
        elif isinstance(value, n.Column) and len(value.parts) == 1:
            found = next((item.value for item in select.items if item.alias == value.parts[0]), key)
        if isinstance(found, n.Star):
            raise Unsupported
        aliases = {item.alias for item in select.items if item.alias is not None}
        for column in columns_in(found) if found is key else ():
            known = self._resolved.found.get(id(column))
            if known is None or known.source is None or (len(column.parts) == 1 and column.parts[0] in aliases):
                raise Unsupported
        return self._printer.write(found) + direction(self._text, key, query)

    def _output_key(self, key: n.Node, query: n.Query, body: n.Node) -> str:
        while isinstance(body, n.SetOperation | n.Query):
            body = body.left if isinstance(body, n.SetOperation) else body.body
        if not isinstance(body, n.Select) or any(isinstance(item.value, n.Star) for item in body.items):
            raise Unsupported
        names, value = [self._name(item) for item in body.items], bare(key)
        if isinstance(value, n.Number) and value.text.isdigit() and 0 < int(value.text) <= len(names):
            name = names[int(value.text) - 1]
        elif isinstance(value, n.Column) and value.parts[-1] in names:
            name = value.parts[-1]
        else:
            raise Unsupported
        if names.count(name) > 1:
            raise Unsupported
        return quote(name) + direction(self._text, key, query)

    # --- outer columns -------------------------------------------------------------------------------------------

    def _is_outer(self, node: n.Node) -> bool:
        return any(id(part) in self._outer for part in all_below(node))

    def _is_outer_alone(self, group: n.Node) -> bool:
        """Returns whether a GROUP BY expression has no column of its own: a constant would be a position."""
        columns = list(columns_in(group))
        return bool(columns) and all(id(column) in self._outer for column in columns)

    def _next(self) -> str:
        self._names += 1
        return f"{self._number}_{self._names}"


def limit_of(query: n.Query, text: str) -> tuple[int | None, int]:
    """Returns LIMIT, or None, and OFFSET."""
    limit, offset, at = None, 0, query.order[-1].end if query.order else query.body.end
    if "LIMIT" not in (words := [t.word for t in tokenize(text[at : query.end])]) and "OFFSET" not in words:
        return None, 0
    for node in query.tail:
        if not isinstance(node, n.Number) or not node.text.isdigit():
            raise Unsupported
        word = [t.word for t in tokenize(text[at : node.start])][-1]
        limit, offset = (limit, int(node.text)) if word == "OFFSET" else (int(node.text), offset)
        at = node.end
    return limit, offset


def direction(text: str, key: n.Node, query: n.Query) -> str:
    """Returns ASC, DESC and NULLS FIRST or LAST behind a key of ORDER BY."""
    found = list[str]()
    for token in tokenize(text[key.end : query.end]):
        if token.word not in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
            break
        found.append(token.word)
    return "".join(f" {word}" for word in found)


def has_one_row(select: n.Select) -> bool:
    """Returns whether a SELECT aggregates all rows to one, or none by HAVING."""
    return not select.groups and (select.having is not None or any(aggregates(item) for item in select.items))


def gives_rows(item: n.Item) -> bool:
    return any(isinstance(part, n.Call) and part.name == "unnest" for part in within_query(item))


def within_select(select: n.Select) -> Iterable[n.Node]:
    """Yields the nodes of the expressions of one SELECT, except for nested queries and FROM."""
    clauses = [part for part in (select.where, select.having, select.qualify) if part is not None]
    for clause in (*select.items, *clauses, *select.groups):
        yield from within_query(clause)


def spine(source: n.Node) -> tuple[n.Node, list[n.Join]]:
    """Returns the first source of a chain of joins, and the joins."""
    joins = list[n.Join]()
    while isinstance(source, n.Join):
        joins.insert(0, source)
        source = source.left
    return source, joins


def is_repeatable_query(query: n.Node, text: str) -> bool:
    """Returns whether reading it twice gives the same rows: LIMIT and windows may take others of equal order."""
    for part in all_below(query):
        if isinstance(part, n.Query) and part.tail and not _is_series(part):
            return False
        if isinstance(part, n.Call) and part.over:
            return False
        if isinstance(part, n.TableCall) and part.name not in ("range", "generate_series", "unnest"):
            return False
    return is_repeatable(query)


def _is_series(query: n.Query) -> bool:
    """Returns whether a query is a series whose size `parser/rewrites.py` has written behind it."""
    sources = query.body.sources if isinstance(query.body, n.Select) else []
    return len(sources) == 1 and isinstance(sources[0], n.TableCall) and not query.order


def _window_of(text: str, call: n.Call) -> tuple[int, bool]:
    """Returns the offset in OVER (…) for more columns of PARTITION BY, and whether others follow."""
    tokens = tokenize(text[call.arguments_end : call.end])
    depth = 0
    for at, token in enumerate(tokens):
        if token.word == "OVER" and depth == 0 and tokens[at + 1].word == "(":
            if [t.word for t in tokens[at + 2 : at + 4]] == ["PARTITION", "BY"]:
                return call.arguments_end + tokens[at + 3].end, True
            return call.arguments_end + tokens[at + 1].end, False
        depth += (token.word == "(") - (token.word == ")")
    raise Unsupported
