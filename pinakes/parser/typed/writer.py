"""Walks the tree of a text from the leaves up, types every expression and applies the rewrite rules.

The types of operators and functions are DataFusion's: the environment queries it once for each combination of types.
The rules are in `arithmetic`, `comparison`, `casts`, `temporal` and `calls`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyarrow.compute import match_substring_regex

from pinakes.core.arrays.nan import holds_floats
from pinakes.core.errors import ColumnNotFound, InvalidArgument, NotSupportedError, listing
from pinakes.core.names import quote, text_literal
from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.coercion import cast_text, cast_to, column_type, common, common_type, joined_type
from pinakes.parser.typed.json import yields_json
from pinakes.parser.typed.values import (
    INTERVAL,
    Environment,
    Output,
    Value,
    bound_of,
    check_depth,
    is_float,
    is_nested,
    is_struct,
    is_text,
)
from pinakes.parser.workarounds.writing import within_query

MOST_WRITTEN, MOST_TIMES_LONGER = 50_000, 50
"""Characters of a written expression that are never too many, and how often the length of its source a longer one can
have: rules that duplicate an argument would make a text of exponential length of calls in each other."""
MOST_LISTED = 20_000
"""Columns for which the calls of COLUMNS in a SELECT list may stand."""

Columns = Mapping[str, Output]
_COLUMNS = re.compile(r"\bCOLUMNS\s*\(", re.IGNORECASE)
_DISTINCT = re.compile(r"\bDISTINCT\b", re.IGNORECASE)
Visitors = Mapping[type[n.Node], Callable[..., Value]]


@dataclass(slots=True)
class Source:
    """A table in FROM. `columns` is None if they are unknown."""

    names: tuple[str, ...]
    columns: Columns | None
    is_complete: bool = True
    """Whether `columns` has all of its columns: it lacks those of a subquery without a name of their own."""


@dataclass(slots=True)
class Scope:
    """The names that are visible at one point of the text."""

    parent: Scope | None
    defined: dict[str, list[Output] | None]
    sources: list[Source] = field(default_factory=list)
    outputs: dict[str, Output] = field(default_factory=dict)
    """The SELECT list by its aliases, once it is typed: ORDER BY, GROUP BY and HAVING may use them."""
    outputs_first: bool = False
    grouped: frozenset[str] = frozenset()
    """The texts of the expressions in GROUP BY."""
    in_groups: bool = False
    """Whether DataFusion may compute aggregates by groups: also those beside count(DISTINCT …), and those of subqueries
    that refer to an outer query.
    """
    has_outer_join: bool = False

    @property
    def is_inner(self) -> bool:
        """Whether the query stands within another one whose columns it may refer to."""
        scope = self.parent
        while scope is not None and not scope.sources:
            scope = scope.parent
        return scope is not None

    def row_source(self, name: str) -> Source | None:
        """Returns the source of a name that means its whole row, since no column has it."""
        scope: Scope | None = self
        while scope is not None:
            if scope._here((name,)) is not None:
                return None
            scope = scope.parent
        found = [source for source in self.sources if source.names[-1] == name and source.is_complete]
        return found[0] if len(found) == 1 else None

    def is_grouped(self, text: str) -> bool:
        return bool(self.grouped) and _folded(text) in self.grouped

    def find(self, parts: tuple[str, ...]) -> Output:
        """Returns a column of this or an outer query; its type is None if it is unknown."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._here(parts)
            if found is not None:
                return found
            scope = scope.parent
        return _UNKNOWN

    def is_outer(self, parts: tuple[str, ...]) -> bool:
        """Returns whether a column is known to belong to an outer query."""
        return self._here(parts) is None and self.find(parts) is not _UNKNOWN

    def _here(self, parts: tuple[str, ...]) -> Output | None:
        if self.outputs_first and parts[0] in self.outputs and len(parts) == 1:
            return self.outputs[parts[0]]
        for used in range(min(len(parts) - 1, 3), -1, -1):
            for source in self.sources:
                if used and source.names[-used:] != parts[:used]:
                    continue
                if source.columns is None:
                    if used:
                        return _UNKNOWN
                    continue
                if parts[used] in source.columns:
                    column = source.columns[parts[used]]
                    return column if used + 1 == len(parts) else _within(column, parts[used + 1 :])
        if parts[0] in self.outputs:
            return _within(self.outputs[parts[0]], parts[1:])
        return _UNKNOWN if any(source.columns is None for source in self.sources) else None


_UNKNOWN = Output(None, None)


def _within(column: Output, path: Sequence[str]) -> Output:
    return Output(None, member(column.type, path), stored=column.stored) if path else column


def member(type: pa.DataType | None, path: Sequence[str]) -> pa.DataType | None:
    for name in path:
        if type is None or not pa.types.is_struct(type) or type.get_field_index(name) < 0:
            return None
        type = type.field(name).type
    return type


class _TableColumns(Columns):
    """The columns of a table. Each is made when it is looked up, since statistics are only read for these."""

    def __init__(self, writer: Writer, parts: tuple[str, ...], types: Mapping[str, pa.DataType]) -> None:
        self._environment, self._precise = writer.environment, writer.precise
        self._parts = parts
        self._types = types
        self._made: dict[str, Output] = {}

    def __getitem__(self, name: str) -> Output:
        if name not in self._made:
            type = self._types[name]
            largest = self._environment.largest(self._parts, name) if self._precise else None
            is_uuid = is_text(type) and name in self._environment.uuids(self._parts)
            self._made[name] = Output(name, type, largest, is_uuid, stored=True)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)


class Writer:
    def __init__(self, text: str, environment: Environment, visitors: Visitors, *, is_part: bool = False) -> None:
        self.source = text
        self._depth = 1 if is_part else 0
        self.environment = environment
        self._visitors = visitors
        self._ready: dict[int, Value] = {}
        """Values that were computed early."""
        self.precise = False
        """Whether the metadata of tables is read for the largest values of columns."""
        self.checks = False
        """Whether some result is computed with a check, because its type does not guarantee that it fits."""
        self.unchecked = False
        """Whether values of unknown type are added, multiplied or summed."""
        self.incomplete = False
        """Whether a type that a rule needs is unknown."""
        self.has_columns = _COLUMNS.search(text) is not None
        self._counts_distinct = _DISTINCT.search(text) is not None
        self._listed_columns = 0
        self.columns_as: Value | None = None
        """The column that COLUMNS(…) stands for in the expression that is written."""
        self._distinct = False
        """Whether the rows of the query that is written are compared by UNION, INTERSECT or EXCEPT."""

    # --- text ------------------------------------------------------------------------------------------------------

    def text(self, node: n.Node, value: Value) -> str:
        return self.source[node.start : node.end] if value.text is None else value.text

    def composed(self, node: n.Node, pieces: Iterable[tuple[n.Node, str | None]]) -> str | None:
        """Returns the text of a node with new text for some of its parts; None if none is replaced."""
        changed = [(piece.start, piece.end, text) for piece, text in pieces if text is not None]
        if not changed:
            return None
        parts, at = list[str](), node.start
        for start, end, text in sorted(changed):
            parts += (self.source[at:start], text)
            at = end
        parts.append(self.source[at : node.end])
        return "".join(parts)

    def refuse(self, message: str) -> NotSupportedError:
        return NotSupportedError(message)

    # --- queries ---------------------------------------------------------------------------------------------------

    @property
    def repeats(self) -> bool:
        """Whether the rows of the query that is written may be repeated by an outer one."""
        return self._depth > 1

    def query(
        self, node: n.Query, parent: Scope | None, wanted: Sequence[pa.DataType | None] | None = None
    ) -> tuple[str | None, list[Output] | None]:
        self._depth += 1
        try:
            return self._query(node, parent, wanted)
        finally:
            self._depth -= 1

    def _query(
        self, node: n.Query, parent: Scope | None, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None]:
        scope = Scope(parent, dict(parent.defined) if parent is not None else {})
        pieces = list[tuple[n.Node, str | None]]()
        for defined in node.defined:
            pieces += self._defined(defined, scope, recursive=node.recursive)
        text, outputs, inner = self._body(node.body, scope, wanted)
        pieces.append((node.body, text))
        plain = isinstance(node.body, n.Select) and not node.body.distinct and not node.body.distinct_on
        for at, key in enumerate(node.order):
            if isinstance(key, n.AllItems):
                pieces.append((key, self._every_item(key, outputs, inner, is_plain=plain)))
                continue
            value = self.value(key, inner)
            check_order(value.type)
            self._check_nested_order(key, value)
            if plain and at < len(node.order) - 1:
                value = with_one_zero(self, key, value)
            pieces.append((key, value.text))
        return self.composed(node, pieces), outputs

    def _every_item(self, node: n.AllItems, outputs: list[Output] | None, scope: Scope, *, is_plain: bool) -> str:
        """Returns the keys of ORDER BY ALL: the positions of the columns."""
        if outputs is None or not all(source.is_complete for source in scope.sources):
            raise self.refuse("ORDER BY ALL is only supported where all columns are known: name them")
        keys = list[str]()
        for at, output in enumerate(outputs):
            check_order(output.type)
            key = str(at + 1)
            if is_plain and is_float(output.type) and at < len(outputs) - 1:
                if output.name is None or [o.name for o in outputs].count(output.name) > 1:
                    raise self.refuse("ORDER BY ALL of this query is not supported: give its columns different names")
                key = f"({quote(output.name)} + {zero(output.type)})"
            keys.append(key + node.order)
        return ", ".join(keys)

    def _defined(self, defined: n.Defined, scope: Scope, *, recursive: bool) -> list[tuple[n.Node, str | None]]:
        if recursive and isinstance(defined.query.body, n.SetOperation):
            first = self._body(defined.query.body.left, Scope(scope, scope.defined), None)[1]
            unbounded = None if first is None else [Output(o.name, o.type) for o in first]  # it may grow
            scope.defined[defined.name] = _renamed(unbounded, defined.columns)
        text, outputs = self.query(defined.query, scope)
        scope.defined[defined.name] = _renamed(outputs, defined.columns)
        return [(defined.query, text)]

    def _body(
        self, node: n.Node, scope: Scope, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None, Scope]:
        match node:
            case n.Select():
                return self._select(node, scope, wanted)
            case n.Query():
                text, outputs = self.query(node, scope, wanted)
                return text, outputs, _over(outputs, scope)
            case n.SetOperation():
                text, outputs = self._set_operation(node, scope, wanted)
                return text, outputs, _over(outputs, scope)
            case n.Values():
                text, outputs = self._values(node, scope, wanted)
                return text, outputs, _over(outputs, scope)
            case n.TableOf():
                columns = self._columns_of(node.parts, scope)
                return None, None if columns is None else list(columns.values()), scope
        raise AssertionError(type(node))

    def _select(
        self, node: n.Select, outer: Scope, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None, Scope]:
        scope = Scope(outer, outer.defined)
        pieces = list[tuple[n.Node, str | None]]()
        for source in node.sources:
            pieces += self._from(source, scope)
        if node.groups:
            scope.grouped = frozenset(self._group_texts(node))
        scope.in_groups = bool(node.groups) or scope.is_inner or self._counts_distinct
        outputs: list[Output] | None = []
        values = list[tuple[n.Item, Value]]()
        for item in node.items:
            if (isinstance(item.value, n.Star) and item.value.renamed) or self._is_of_columns(item):
                text, listed = self._of_columns(item, node, scope)
                pieces.append((item, text))
                outputs = None if outputs is None else [*outputs, *listed]
                continue
            if isinstance(item.value, n.Star):
                pieces += self._replaced(item.value, scope)
                columns = None if item.value.changes else self._star(item.value, scope)
                if columns is not None and (node.distinct or self._distinct):
                    pieces += self._compared_star(item.value, columns, scope)
                if columns is None and item.value.items:
                    columns = self._star_replaced(item.value, scope)
                outputs = None if outputs is None or columns is None else [*outputs, *columns]
                continue
            value = self._row_of(item.value, scope) or self.value(item.value, scope)
            if node.distinct:
                check_order(value.type)
            values.append((item, value))
            name = item.alias or _name_of(item.value)
            output = Output(
                name,
                value.type,
                value.bound,
                value.is_uuid,
                is_json=yields_json(item.value, scope),
                is_constant_text=isinstance(item.value, n.Text),
            )
            if outputs is not None:
                outputs.append(output)
            if item.alias is not None:
                scope.outputs[item.alias] = output
        for one in (node.where, node.having, node.qualify, *node.windows):
            if one is not None:
                pieces.append((one, self.value(one, scope).text))
        for key in (*node.groups, *node.distinct_on):
            value = self.value(key, scope)
            check_order(value.type)
            pieces.append((key, value.text))
        for key in node.distinct_on:
            pieces.append((key, self._at_position(key, node, values)))
        pieces += self._items(node, values, outputs, wanted)
        if wanted is not None and outputs is not None and len(wanted) == len(outputs):
            outputs = [Output(o.name, want or o.type, o.bound) for o, want in zip(outputs, wanted, strict=True)]
        scope.outputs_first = True
        return self.composed(node, pieces), outputs, scope

    def _row_of(self, node: n.Node, scope: Scope) -> Value | None:
        """Returns the whole row of a table as a struct, in SELECT t FROM t; None for another item."""
        if not isinstance(node, n.Column) or len(node.parts) != 1:
            return None
        source = scope.row_source(node.parts[0])
        if source is None or not source.columns:
            return None
        if scope.has_outer_join:
            raise self.refuse(
                f"the row of {node.parts[0]} as a value is not supported over an outer join, where there may be none: "
                "name its columns"
            )
        pieces, fields = list[str](), list[pa.Field | None]()
        for name in source.columns:
            column = n.Column(node.start, node.end, (*source.names, name))
            value = self.value(column, scope)
            text = ".".join(map(quote, column.parts)) if value.text is None else value.text
            pieces += (text_literal(name), text)
            fields.append(None if value.type is None else pa.field(name, value.type))
        known = [field for field in fields if field is not None]
        type = pa.struct(known) if len(known) == len(fields) else None
        return Value(f"named_struct({', '.join(pieces)})", type)

    def _at_position(self, key: n.Node, node: n.Select, values: Sequence[tuple[n.Item, Value]]) -> str | None:
        """Returns the expression of DISTINCT ON (1); None for a key that is not a number. DataFusion treats it as a
        constant.
        """
        if not isinstance(key, n.Number):
            return None
        at = int(key.text) if key.text.isdigit() else 0
        if len(values) < len(node.items):
            raise self.refuse("DISTINCT ON (1) is not supported beside *: name the column")
        if not 0 < at <= len(values):
            raise InvalidArgument(
                f"DISTINCT ON ({key.text}) is not in the SELECT list, which has {len(values)} columns"
            )
        item, value = values[at - 1]
        return quote(item.alias) if item.alias is not None else self.text(item.value, value)

    def _group_texts(self, node: n.Select) -> Iterable[str]:
        """Yields the texts of the GROUP BY expressions, also by alias or position."""
        waiting = list(node.groups)
        while waiting:
            key = waiting.pop()
            if isinstance(key, n.Row | n.Paren):
                waiting += key.children
                continue
            if isinstance(key, n.Number) and key.text.isdigit() and 0 < int(key.text) <= len(node.items):
                key = node.items[int(key.text) - 1].value
            elif isinstance(key, n.Column) and len(key.parts) == 1:
                key = next((item.value for item in node.items if item.alias == key.parts[0]), key)
            yield _folded(self.source[key.start : key.end])

    def _items(
        self,
        node: n.Select,
        values: Sequence[tuple[n.Item, Value]],
        outputs: list[Output] | None,
        wanted: Sequence[pa.DataType | None] | None,
    ) -> Iterable[tuple[n.Node, str | None]]:
        """Yields the SELECT list with casts to the wanted types, and with the names that rewriting would change."""
        casts = wanted is not None and outputs is not None and len(wanted) == len(outputs) == len(values)
        if wanted is not None and not casts and any(want is not None for want in wanted):
            raise NotSupportedError(
                "the columns of this query need a cast to be combined with others; name them instead of writing *"
            )
        seen = set[str]()
        for at, (item, value) in enumerate(values):
            text = value.text
            want = wanted[at] if casts and wanted is not None else None
            if want is not None and want != value.type:
                text = cast_text(self.text(item.value, value), want)
            if text is not None and item.alias is None:
                text = f"{text} AS {quote(_name_of(item.value) or self.source[item.value.start : item.value.end])}"
            else:
                key = self._uncast(item.value) if item.alias is None else quote(item.alias)
                if item.alias is None and key in seen:
                    text = f"{self.source[item.value.start : item.value.end]} AS {quote(f'{key}_{at + 1}')}"
                seen.add(key)
            yield item.value, text

    def _uncast(self, node: n.Node) -> str:
        """Returns DataFusion's name of a column without an alias: that of a cast is its operand, and names must be
        unique.
        """
        while isinstance(node, n.Cast | n.Paren):
            node = node.operand if isinstance(node, n.Cast) else node.inner
        return self.source[node.start : node.end]

    def _star(self, star: n.Star, scope: Scope) -> list[Output] | None:
        found = list[Output]()
        for source in scope.sources:
            if star.qualifier and source.names[-len(star.qualifier) :] != star.qualifier:
                continue
            if source.columns is None:
                return None
            found += [column for name, column in source.columns.items() if name not in star.excluded]
        return found

    def _is_of_columns(self, item: n.Item) -> bool:
        """Returns whether an item has a call of COLUMNS, which stands for several columns."""
        if not self.has_columns:
            return False
        return any(isinstance(part, n.Call) and part.name == "columns" for part in within_query(item))

    def _of_columns(self, item: n.Item, node: n.Select, scope: Scope) -> tuple[str, list[Output]]:
        """Returns the items that * RENAME (…) or an expression of COLUMNS(…) stands for."""
        outer = self.columns_as
        texts, outputs = list[str](), list[Output]()
        if item.alias is not None:
            raise self.refuse("COLUMNS(…) with AS is not supported: name the columns")
        for name, column, text in self._listed(item, node, scope):
            self.columns_as = Value(text, column.type, column.bound, is_uuid=column.is_uuid, stored=column.stored)
            value = self.columns_as if isinstance(item.value, n.Star) else self.value(item.value, scope)
            texts.append(f"{self.text(item.value, value)} AS {quote(name)}")
            outputs.append(Output(name, value.type, value.bound, value.is_uuid))
        self.columns_as = outer
        if not texts:
            raise InvalidArgument("no column matches COLUMNS(…)")
        return ", ".join(texts), outputs

    def _listed(self, item: n.Item, node: n.Select, scope: Scope) -> list[tuple[str, Output, str]]:
        """Returns the name, the column and the text of each column that an item stands for."""
        if any(part.using or "NATURAL" in part.kind for source in node.sources for part in _joins(source)):
            raise self.refuse(
                "* RENAME and COLUMNS(…) over JOIN … USING are not supported: name the columns, or write ON"
            )
        if any(source.columns is None or not source.is_complete for source in scope.sources):
            raise self.refuse("* RENAME and COLUMNS(…) are only supported where all columns are known: name them")
        calls = [c for c in within_query(item) if isinstance(c, n.Call) and c.name == "columns"]
        if len({_folded(self.source[c.start : c.end]) for c in calls}) > 1:
            raise self.refuse("different COLUMNS(…) in one expression are not supported: name the columns")
        argument = (
            item.value if isinstance(item.value, n.Star) else calls[0].arguments[0] if calls[0].arguments else None
        )
        star = argument if isinstance(argument, n.Star) else n.Star(item.start, item.start)
        if star.changes or not isinstance(argument, n.Star | n.Text):
            raise self.refuse("COLUMNS takes * or a regular expression: name the columns")
        found = list[tuple[str, Output, str]]()
        for source in scope.sources:
            if star.qualifier and source.names[-len(star.qualifier) :] != star.qualifier:
                continue
            before = "".join(f"{quote(name)}." for name in source.names if name)
            for name, column in (source.columns or {}).items():
                if name not in star.excluded:
                    found.append((name, column, before + quote(name)))
        if isinstance(argument, n.Text):
            fits = match_substring_regex(pa.array([name for name, _, _ in found], pa.string()), argument.value)
            found = [one for one, fit in zip(found, fits.to_pylist(), strict=True) if fit]
        self._listed_columns += len(found) * max(len(calls), 1)
        if self._listed_columns > MOST_LISTED:
            raise self.refuse(f"COLUMNS(…) for more than {MOST_LISTED:,} columns in total is not supported")
        renamed = dict(star.renamed)
        names = {name for name, _, _ in found}
        missing = [old for old in renamed if old not in names]
        if missing:
            raise ColumnNotFound(
                f"column {missing[0]} of * RENAME does not exist; available: {listing([name for name, _, _ in found])}"
            )
        return [(renamed.get(name, name), column, text) for name, column, text in found]

    def _compared_star(
        self, star: n.Star, columns: Sequence[Output], scope: Scope
    ) -> Iterable[tuple[n.Node, str | None]]:
        """Yields the columns of * by name where whole rows are compared and a struct has floats: they get one NaN."""
        if not any(_is_read_by_field(column) for column in columns):
            return
        if len(scope.sources) > 1 or star.items:
            raise self.refuse(
                "DISTINCT, UNION, INTERSECT and EXCEPT of * are not supported here, since a struct has floating-point "
                "fields: name the columns"
            )
        texts = list[str]()
        for column in columns:
            text = name = quote(column.name or "")
            if _is_read_by_field(column) and column.type is not None:
                text = f"{quote(self.environment.bounded('usual_nan', column.type))}({name}) AS {name}"
            texts.append(text)
        yield star, ", ".join(texts)

    def _star_replaced(self, star: n.Star, scope: Scope) -> list[Output] | None:
        """Returns the columns of * REPLACE (…)."""
        columns = self._star(star, scope)
        new = {item.alias.casefold(): self.value(item.value, scope) for item in star.items if item.alias is not None}
        if columns is None:
            return None
        return [
            Output(o.name, v.type, v.bound) if o.name is not None and (v := new.get(o.name.casefold())) else o
            for o in columns
        ]

    def _replaced(self, star: n.Star, scope: Scope) -> Iterable[tuple[n.Node, str | None]]:
        """Yields the replacements of REPLACE under the exact names of their columns: DataFusion ignores names that
        do not match exactly.
        """
        columns = self._star(star, scope) if star.items else []
        if columns is None:
            raise self.refuse("* REPLACE is only supported where the columns are known: name them")
        names = [column.name for column in columns if column.name is not None]
        for item in star.items:
            is_quoted = self.source[item.end - 1] in '"`'
            fits = [n_ for n_ in names if n_ == item.alias]
            fits = fits or [n_ for n_ in names if not is_quoted and n_.casefold() == (item.alias or "").casefold()]
            if not fits:
                raise ColumnNotFound(f"column {item.alias} of * REPLACE does not exist; available: {listing(names)}")
            value = self.text(item.value, self.value(item.value, scope))
            yield item, f"{value} AS {quote(fits[0])}"

    def _set_operation(
        self, node: n.SetOperation, scope: Scope, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None]:
        outer, self._distinct = self._distinct, self._distinct or node.distinct
        try:
            return self._combined(node, scope, wanted)
        finally:
            self._distinct = outer

    def _combined(
        self, node: n.SetOperation, scope: Scope, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None]:
        if node.by_name:
            return self._by_name(node, scope, wanted)
        left, left_outputs, _ = self._body(node.left, scope, wanted)
        right, right_outputs, _ = self._body(node.right, scope, wanted)
        if left_outputs is None or right_outputs is None or len(left_outputs) != len(right_outputs):
            self.incomplete |= left_outputs is None or right_outputs is None
            return self.composed(node, ((node.left, left), (node.right, right))), left_outputs
        types = [column_type(a, b) for a, b in zip(left_outputs, right_outputs, strict=True)]
        for side, outputs in ((node.left, left_outputs), (node.right, right_outputs)):
            needs = [t if t is not None and t != o.type else None for t, o in zip(types, outputs, strict=True)]
            if any(needs):
                text = self._body(side, scope, [want or None for want in needs])[0]
                left, right = (text, right) if side is node.left else (left, text)
        outputs = [
            Output(
                a.name,
                t if t is not None else common(self.environment, a.type, b.type),
                _larger(a, b),
                is_json=a.is_json or b.is_json,
            )
            for a, b, t in zip(left_outputs, right_outputs, types, strict=True)
        ]
        if node.distinct:
            for output in outputs:
                check_order(output.type)
        return self.composed(node, ((node.left, left), (node.right, right))), outputs

    def _by_name(
        self, node: n.SetOperation, scope: Scope, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None]:
        """Rewrites UNION BY NAME: a column of one side is NULL in the rows of the other."""
        if wanted is not None and any(want is not None for want in wanted):
            raise NotSupportedError(
                "the columns of this UNION BY NAME need a cast to be combined with others: cast them"
            )
        left, left_outputs, _ = self._body(node.left, scope, None)
        right, right_outputs, _ = self._body(node.right, scope, None)
        if left_outputs is None or right_outputs is None:
            self.incomplete = True
            return self.composed(node, ((node.left, left), (node.right, right))), None
        ours, theirs = ({o.name: o for o in outputs} for outputs in (left_outputs, right_outputs))
        shared = {name: common_type([o.type, theirs[name].type]) for name, o in ours.items() if name in theirs}
        for side, outputs in ((node.left, left_outputs), (node.right, right_outputs)):
            needs = [t if (t := shared.get(o.name)) != o.type else None for o in outputs]
            if any(needs):
                text = self._body(side, scope, needs)[0]
                left, right = (text, right) if side is node.left else (left, text)
        found = [
            Output(
                name, shared.get(name) or common(self.environment, o.type, theirs[name].type), _larger(o, theirs[name])
            )
            if name in theirs
            else o
            for name, o in ours.items()
        ]
        found += [o for name, o in theirs.items() if name not in ours]
        return self.composed(node, ((node.left, left), (node.right, right))), found

    def _values(
        self, node: n.Values, scope: Scope, wanted: Sequence[pa.DataType | None] | None
    ) -> tuple[str | None, list[Output] | None]:
        rows = [[(item, self.value(item, scope)) for item in row.items] for row in node.rows]
        width = len(rows[0]) if rows else 0
        if any(len(row) != width for row in rows):
            return None, None
        outputs, pieces = list[Output](), list[tuple[n.Node, str | None]]()
        for at in range(width):
            column = [row[at] for row in rows]
            types = [value.type for _, value in column]
            type = (wanted[at] if wanted is not None and at < len(wanted) else None) or common_type(
                types, is_column=True
            )
            for item, value in column:
                pieces.append((item, value.text if type is None else cast_to(self, item, value, type)))
            outputs.append(Output(f"column{at + 1}", type or joined_type(self.environment, types)))
        return self.composed(node, pieces), outputs

    # --- FROM ------------------------------------------------------------------------------------------------------

    def _from(self, node: n.Node, scope: Scope) -> list[tuple[n.Node, str | None]]:
        match node:
            case n.Table():
                columns = self._columns_of(node.parts, scope)
                names = (node.alias,) if node.alias is not None else node.parts
                defined = scope.defined.get(node.parts[0]) if len(node.parts) == 1 else None
                scope.sources.append(Source(names, _with_names(columns, node.columns), _is_complete(defined)))
                return []
            case n.Derived(alias=None, query=n.Query(body=n.Select(from_first=True) as body)):
                text, _, inner = self._select(body, scope, None)
                scope.sources += [*inner.sources, Source(("",), dict(inner.outputs))]  # the qualifiers stay visible
                return [(body, text)]
            case n.Derived():
                text, outputs = self.query(node.query, scope)
                outputs = _renamed(outputs, node.columns)
                scope.sources.append(Source((node.alias or "",), _columns(outputs), _is_complete(outputs)))
                return [(node.query, text)]
            case n.TableCall():
                pieces = [(argument, self.value(argument, scope).text) for argument in node.arguments]
                columns = self._called(node, scope)
                scope.sources.append(Source((node.alias or node.name,), _with_names(columns, node.columns)))
                return pieces
            case n.Paren():
                return self._from(node.inner, scope)
            case n.Aliased():
                inner = Scope(scope, scope.defined)
                pieces = self._from(node.source, inner)
                known = [source.columns for source in inner.sources]
                merged = (
                    None
                    if None in known
                    else {k: v for columns in known if columns is not None for k, v in columns.items()}
                )
                scope.sources.append(Source((node.alias,), _with_names(merged, node.columns)))
                return pieces
            case n.Join():
                first = len(scope.sources)
                pieces = self._from(node.left, scope)
                scope.has_outer_join |= any(word in node.kind for word in ("LEFT", "RIGHT", "FULL"))
                second = len(scope.sources)
                pieces += self._from(node.right, scope)
                if node.on is not None:
                    pieces.append((node.on, self.value(node.on, scope).text))
                self._check_shared(node, scope)
                if "SEMI" in node.kind or "ANTI" in node.kind:  # it has the columns of one side
                    del scope.sources[
                        first if "RIGHT" in node.kind else second : second if "RIGHT" in node.kind else None
                    ]
                return pieces
        raise AssertionError(type(node))

    def _called(self, node: n.TableCall, scope: Scope) -> Columns | None:
        if node.name in ("range", "generate_series") and all(
            pa.types.is_integer(self.value(a, scope).type or pa.null()) for a in node.arguments
        ):
            return {"value": Output("value", pa.int64())}
        if node.name == "unnest" and len(node.arguments) == 1 and node.columns:
            type = self.value(node.arguments[0], scope).type
            if type is not None and (pa.types.is_list(type) or pa.types.is_large_list(type)):
                return {node.columns[0]: Output(node.columns[0], type.value_type)}
        return None

    def _columns_of(self, parts: tuple[str, ...], scope: Scope) -> Columns | None:
        if len(parts) == 1 and parts[0] in scope.defined:
            return _columns(scope.defined[parts[0]])
        types = self.environment.columns(parts)
        return None if types is None else _TableColumns(self, parts, types)

    def _check_shared(self, node: n.Join, scope: Scope) -> None:
        """Checks the columns of USING and NATURAL, which are also compared and can't be cast."""
        if not node.using and "NATURAL" not in node.kind:
            return
        if any(source.columns is None for source in scope.sources):
            return
        names = node.using or {c for s in scope.sources for c in s.columns or ()}
        for name in names:
            types = [s.columns[name].type for s in scope.sources if s.columns is not None and name in s.columns]
            shared = [s.columns[name] for s in scope.sources if s.columns is not None and name in s.columns]
            if len(shared) > 1 and any(map(_is_read_by_field, shared)):
                raise NotSupportedError(
                    f"JOIN … USING ({name}) of structs with floating-point fields is not supported: write ON"
                )
            if len(types) > 1 and common_type(types) is not None:
                raise NotSupportedError(
                    f"JOIN … USING ({name}) of columns of different types is not supported: write ON"
                )

    # --- values ----------------------------------------------------------------------------------------------------

    def value(self, node: n.Node, scope: Scope) -> Value:
        """Returns the value of a node. A long chain of operators is processed from its far end, without recursion."""
        if isinstance(node, n.Binary):
            known = self._ready.pop(id(node), None)
            if known is not None:
                return known
            chain = [node]
            while isinstance(inner := chain[-1].left, n.Binary):
                chain.append(inner)
            for inner in chain[:0:-1]:
                self._ready[id(inner)] = self._visitors[n.Binary](self, inner, scope)
        value = self._visitors[type(node)](self, node, scope)
        if is_nested(value.type):
            check_depth(value.type)
        if value.text is not None and MOST_WRITTEN < len(value.text) > MOST_TIMES_LONGER * (node.end - node.start):
            raise NotSupportedError(
                "this expression would become too long, since functions in it use their arguments more than once: "
                "compute some of it in a subquery first"
            )
        return value

    def composed_value(self, node: n.Node, values: Sequence[tuple[n.Node, Value]], type: pa.DataType | None) -> Value:
        text = self.composed(node, [(child, value.text) for child, value in values])
        return Value(text, type, bound_of(type))

    def typed_by(self, template: str, values: Sequence[Value]) -> pa.DataType | None:
        """Returns the type of an expression over these values, named c0, c1, …"""
        types = [value.type for value in values]
        if any(t is None for t in types):
            return None
        return self.environment.result(template, [t for t in types if t is not None])

    def _check_nested_order(self, node: n.Node, value: Value) -> None:
        """Refuses NULLS FIRST where it also applies to NULLs within a list in DataFusion; in PostgreSQL it applies
        to the value only.
        """
        if not is_nested(value.type):
            return
        words = [token.word for token in tokenize(self.source[node.end :])[:3]]
        order = "DESC" if words[:1] == ["DESC"] else "ASC"
        asked = words[1:] if words[:1] in (["ASC"], ["DESC"]) else words[:2]
        if asked == (["NULLS", "LAST"] if order == "DESC" else ["NULLS", "FIRST"]):
            raise self.refuse(f"ORDER BY a list or struct {order} {' '.join(asked)} is not supported: leave NULLS out")

    def all_children(self, node: n.Node, scope: Scope) -> list[tuple[n.Node, Value]]:
        return [(child, self.value(child, scope)) for child in node.children]


def _is_read_by_field(column: Output) -> bool:
    """Returns whether scans read only those fields of a struct that are named, and leave floats in it as they are."""
    return column.stored and is_struct(column.type) and column.type is not None and holds_floats(column.type)


def _folded(text: str) -> str:
    return "".join(text.split()).lower()


def with_one_zero(writer: Writer, node: n.Node, value: Value) -> Value:
    """Returns a float with -0.0 replaced by 0.0, where DataFusion compares bits."""
    return (
        value if not is_float(value.type) else Value(f"({writer.text(node, value)} + {zero(value.type)})", value.type)
    )


def zero(type: pa.DataType | None) -> str:
    return f"CAST('0' AS {'REAL' if type == pa.float32() else 'DOUBLE'})"


def check_order(type: pa.DataType | None) -> None:
    if type == INTERVAL:
        raise NotSupportedError(
            "values of type INTERVAL can't be sorted, grouped or made distinct: write date_part('epoch', …), a number "
            "of seconds"
        )


def _joins(source: n.Node) -> Iterator[n.Join]:
    return (part for part in within_query(source) if isinstance(part, n.Join))


def _is_complete(outputs: list[Output] | None) -> bool:
    """Returns whether the columns of a subquery can be told apart by their names."""
    names = [output.name for output in outputs or ()]
    return None not in names and len(set(names)) == len(names)


def _columns(outputs: list[Output] | None) -> Columns | None:
    return None if outputs is None else {output.name: output for output in outputs if output.name is not None}


def _with_names(columns: Columns | None, names: Sequence[str]) -> Columns | None:
    return _columns(_renamed(list(columns.values()), names)) if columns is not None and names else columns


def _renamed(outputs: list[Output] | None, names: Sequence[str]) -> list[Output] | None:
    if outputs is None or not names:
        return outputs
    return [o._replace(name=names[at]) if at < len(names) else o for at, o in enumerate(outputs)]


def _larger(one: Output, other: Output) -> int | None:
    return None if one.bound is None or other.bound is None else max(one.bound, other.bound)


def _over(outputs: list[Output] | None, scope: Scope) -> Scope:
    """Returns the scope of ORDER BY after a set operation."""
    return Scope(scope.parent, scope.defined, [Source(("",), _columns(outputs))])


def _name_of(node: n.Node) -> str | None:
    """Returns DataFusion's name of a column of the SELECT list without an alias, where rewriting must keep it."""
    match node:
        case n.Column():
            return node.parts[-1]
        case n.Paren():
            return _name_of(node.inner)
    return None
