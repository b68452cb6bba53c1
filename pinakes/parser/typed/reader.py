"""Parses planned text to its tree, with DataFusion's precedence (that of sqlparser's generic dialect). Only || is
parsed as in PostgreSQL, after + and *: `rewrite.py` adds the parentheses that DataFusion needs for that.

sqlglot locates the names of a text. It is not used here, since its compiled parser gives no extent of an expression and
has other precedence in places (`a = b IS NULL`); see ADR 33. Unknown forms raise `Unread`: such a text is planned
unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.errors import NotSupportedError
from pinakes.parser.lexer import Kind, Token, tokenize
from pinakes.parser.typed import nodes as n


class Unread(Exception):
    """The text has an unknown form."""


_OR, _AND, _NOT, _OTHER, _IS, _LIKE, _COMPARISON = 5, 10, 15, 16, 17, 19, 20
_PIPE, _CARET, _AMPERSAND, _XOR, _APPEND = 21, 22, 23, 24, 25
_PLUS, _TIMES, _ZONE, _COLONS, _PERIOD = 30, 40, 41, 50, 100
"""In DataFusion || has the precedence of *. Here it is lower than that of +, as in PostgreSQL: `rewrite.py` adds
parentheses.
"""

LAMBDAS = frozenset(
    "list_transform array_transform transform list_apply array_apply list_filter array_filter filter any_match "
    "array_any_match list_any_match all_match array_all_match none_match array_none_match list_reduce array_reduce "
    "reduce".split()
)
"""Functions in whose arguments `x -> …` is a lambda (`lambdas.py`); elsewhere it is an operator on JSON."""
_BINARY = {
    "OR": _OR,
    "XOR": _XOR,
    "AND": _AND,
    **dict.fromkeys(("=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>"), _COMPARISON),
    **dict.fromkeys(("~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*"), _LIKE),
    "|": _PIPE,
    "^": _CARET,
    "#": _CARET,
    "&": _AMPERSAND,
    **dict.fromkeys(("<<", ">>"), _PIPE),
    **dict.fromkeys(("+", "-"), _PLUS),
    **dict.fromkeys(("*", "/", "%", "//", "DIV"), _TIMES),
    "||": _APPEND,
    **dict.fromkeys(("->", "->>", "#>", "#>>"), _APPEND),
    **dict.fromkeys(("@>", "<@"), _OTHER),
}
_LONGEST_FIXED = 1_000
"""Maximum values of a fixed-size list, which takes its full memory even when NULL."""
COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>"})

_RESERVED = frozenset(
    "WITH SELECT FROM WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT MINUS ON USING "
    "JOIN INNER LEFT RIGHT FULL CROSS NATURAL SEMI ANTI OUTER LATERAL AS AND OR NOT WHEN THEN ELSE END CASE SET VALUES "
    "BETWEEN IN IS LIKE ILIKE SIMILAR ASOF POSITIONAL PIVOT UNPIVOT FOR TABLESAMPLE SAMPLE RETURNING BY DISTINCT INTO "
    "SORT CLUSTER DISTRIBUTE CONNECT START PREWHERE SETTINGS FORMAT WITHIN FILTER OVER ASC DESC NULLS".split()
)
"""Words that are not an alias without AS."""
_UNITS = frozenset(
    "YEAR YEARS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND MILLISECONDS "
    "MICROSECOND MICROSECONDS NANOSECOND NANOSECONDS CENTURY CENTURIES DECADE DECADES QUARTER".split()
)
_TYPES = frozenset(
    "TINYINT SMALLINT INT INTEGER BIGINT INT2 INT4 INT8 REAL FLOAT FLOAT4 FLOAT8 DOUBLE DECIMAL NUMERIC DEC BOOLEAN "
    "BOOL VARCHAR CHAR CHARACTER TEXT STRING DATE TIME TIMESTAMP TIMESTAMPTZ DATETIME INTERVAL BYTEA VARBINARY BINARY "
    "BLOB UUID NVARCHAR JSON JSONB".split()
)
_SIGNED = frozenset("TINYINT SMALLINT INT INTEGER BIGINT".split())
_TESTS = {"IN": _COMPARISON, "BETWEEN": _COMPARISON} | dict.fromkeys(
    ("LIKE", "ILIKE", "SIMILAR", "RLIKE", "REGEXP"), _LIKE
)
_INFIX = _BINARY.keys() | _TESTS.keys() | {"::", "AT", "[", ".", "IS", "NOT"}
"""Words and symbols that may continue an expression."""
_JOINS = frozenset("NATURAL INNER LEFT RIGHT FULL OUTER CROSS SEMI ANTI JOIN ASOF POSITIONAL PIVOT UNPIVOT".split())
_WORD_VALUES = frozenset("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP".split())
_NOT_NAMES = (
    frozenset("NULL TRUE FALSE NOT CASE EXISTS CAST TRY_CAST SAFE_CAST INTERVAL EXTRACT ARRAY ROW MAP".split())
    | _TYPES
    | _WORD_VALUES
    | _RESERVED
)
"""Words that start an expression that is not a name; after some of them, only in certain forms."""
_SET_OPERATORS = {"UNION": 10, "EXCEPT": 10, "INTERSECT": 20}
_MOST_NESTED = 400
"""Limited by Python's stack; DataFusion's own limit is lower for most forms."""
_PADDING = 8
"""Tokens after the last one, for looking ahead."""


def read(text: str) -> n.Query:
    """Parses one query."""
    reader = _Reader(text, tokenize(text))
    while reader.words[reader.at] in ("EXPLAIN", "ANALYZE", "VERBOSE"):
        reader.at += 1
    found = reader.query()
    if not reader.defines:
        found.references = reader.sources
    if reader.words[reader.at] == ";":
        reader.at += 1
    if reader.kinds[reader.at] != "end":
        raise Unread
    return found


class _Reader:
    """Reads tokens from `at` on. Their words, kinds and offsets are sequences of their own: `words[at]` is the word of
    the next token, and `ends[at]` the end of the last token taken.
    """

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.sources = 0
        """The tables, table functions and queries without one so far."""
        self.defines = False
        """Whether there is a WITH."""
        self.kinds: tuple[Kind, ...]
        self.texts: tuple[str, ...]
        self.words: tuple[str, ...]
        self.starts: tuple[int, ...]
        end = Token("end", "", "", len(text), len(text))
        self.kinds, self.texts, self.words, self.starts, ends = zip(*tokens, *[end] * _PADDING, strict=True)
        self.ends: tuple[int, ...] = (0, *ends)

    # --- tokens ----------------------------------------------------------------------------------------------------

    def take(self, *words: str) -> bool:
        """Takes these words, if they come next."""
        at = self.at
        for word in words:
            if self.words[at] != word:  # the tokens at the end equal no word
                return False
            at += 1
        self.at = at
        return True

    def expect(self, *words: str) -> None:
        if not self.take(*words):
            raise Unread

    def name(self) -> str:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind not in ("word", "quoted"):
            raise Unread
        self.at += 1
        return text.lower() if kind == "word" else text

    def names(self) -> tuple[str, ...]:
        """Parses names in parentheses; DataFusion also accepts 'a' as a name."""
        self.expect("(")
        found = [self._named()]
        while self.take(","):
            found.append(self._named())
        self.expect(")")
        return tuple(found)

    def _named(self) -> str:
        if self.kinds[self.at] != "string":
            return self.name()
        self.at += 1
        return self.texts[self.at - 1]

    # --- queries ---------------------------------------------------------------------------------------------------

    def query(self) -> n.Query:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise Unread
        start, defined, recursive, sources = self.starts[self.at], list[n.Defined](), False, self.sources
        if self.words[self.at] == "WITH":
            self.at += 1
            recursive = self.take("RECURSIVE")
            defined.append(self._defined())
            while self.take(","):
                defined.append(self._defined())
        body = self._set_operations(0)
        found = n.Query(start, self.ends[self.at], defined, recursive, body)
        if self.words[self.at] == "ORDER" and self.words[self.at + 1] == "BY":
            self.at += 2
            found.order = self._sorted()
        while self.words[self.at] in ("LIMIT", "OFFSET"):
            self.at += 1
            if not self.take("ALL"):
                found.tail.append(self.expression())
            if self.words[self.at] in ("ROW", "ROWS"):
                self.at += 1
        if self.words[self.at] == "FETCH":
            raise Unread
        found.end = self.ends[self.at]
        self.sources += self.sources == sources  # rows without a table
        self.depth -= 1
        return found

    def _defined(self) -> n.Defined:
        self.defines = True
        start, name = self.starts[self.at], self.name()
        columns = self.names() if self.words[self.at] == "(" else ()
        self.expect("AS")
        self.take("NOT")
        self.take("MATERIALIZED")
        self.expect("(")
        query = self.query()
        self.expect(")")
        return n.Defined(start, self.ends[self.at], name, columns, query)

    def _set_operations(self, least: int) -> n.Node:
        left = self._body()
        while (strength := _SET_OPERATORS.get(self.words[self.at], 0)) > least:
            operator = self.words[self.at]
            self.at += 1
            keeps_all = self.take("ALL")
            self.take("DISTINCT")
            by_name = self.take("BY", "NAME")
            right = self._set_operations(strength)
            left = n.SetOperation(left.start, right.end, operator, left, right, not keeps_all, by_name)
        return left

    def _body(self) -> n.Node:
        start, word = self.starts[self.at], self.words[self.at]
        if word in ("SELECT", "FROM"):
            return self._select()
        self.at += 1
        if word == "(":
            inner = self.query()
            self.expect(")")
            return n.Query(start, self.ends[self.at], [], recursive=False, body=inner)
        if word == "VALUES":
            rows = [self._row()]
            while self.take(","):
                rows.append(self._row())
            return n.Values(start, self.ends[self.at], rows)
        if word == "TABLE":
            self.sources += 1
            parts = self._parts()
            return n.TableOf(start, self.ends[self.at], parts)
        raise Unread

    def _row(self) -> n.Row:
        start = self.starts[self.at]
        self.take("ROW")
        self.expect("(")
        items = [] if self.words[self.at] == ")" else self._expressions()
        self.expect(")")
        return n.Row(start, self.ends[self.at], items)

    def _select(self) -> n.Select:
        found = n.Select(self.starts[self.at], self.ends[self.at], [], [])
        found.from_first = self.words[self.at] == "FROM"
        if found.from_first:
            found.sources = self._sources()
        if self.words[self.at] == "SELECT":
            self.at += 1
            if self.take("DISTINCT"):
                found.distinct = True
                if self.take("ON"):
                    self.expect("(")
                    found.distinct_on = self._expressions()
                    self.expect(")")
            else:
                self.take("ALL")
            if self.words[self.at] != "FROM" or self.words[self.at + 1] == ".":
                found.items = self._items()
        elif found.from_first:
            found.items = [n.Item(found.start, found.start, n.Star(found.start, found.start), None)]
        if self.words[self.at] == "FROM" and not found.from_first:
            found.sources = self._sources()
        if self.words[self.at] == "WHERE":
            self.at += 1
            found.where = self.expression()
        if self.words[self.at] in ("GROUP", "HAVING", "WINDOW", "QUALIFY"):
            self._grouping(found)
        found.end = self.ends[self.at]
        return found

    def _sources(self) -> list[n.Node]:
        """Parses FROM …"""
        self.at += 1
        found = [self._joined()]
        while self.words[self.at] == ",":
            self.at += 1
            found.append(self._joined())
        return found

    def _grouping(self, select: n.Select) -> None:
        """GROUP BY … HAVING … WINDOW … QUALIFY …"""
        if self.take("GROUP", "BY"):
            select.groups = self._groups()
        if self.take("HAVING"):
            select.having = self.expression()
        if self.take("WINDOW"):
            while True:
                self.name()
                self.expect("AS")
                self.expect("(")
                select.windows += self._window()
                if not self.take(","):
                    break
        if self.take("QUALIFY"):
            select.qualify = self.expression()

    def _items(self) -> list[n.Item]:
        found = list[n.Item]()
        while True:
            start, may_be_star = self.starts[self.at], self.words[self.at] == "*" or self.words[self.at + 1] == "."
            value: n.Node | None = self._star() if may_be_star else None
            alias = None
            if value is None:
                value = self.expression()
                if self.kinds[self.at] in ("word", "quoted"):
                    alias = self._alias()
            found.append(n.Item(start, self.ends[self.at], value, alias))
            if self.words[self.at] != ",":
                return found
            self.at += 1
            if self.words[self.at] in ("FROM", ")", ";") or self.kinds[self.at] == "end":
                return found  # DataFusion accepts a trailing comma

    def _alias(self) -> str | None:
        if self.words[self.at] == "AS":
            self.at += 1
            return self._named()
        kind = self.kinds[self.at]
        is_name = kind == "quoted" or (kind == "word" and self.words[self.at] not in _RESERVED)
        return self.name() if is_name else None

    def _star(self) -> n.Star | None:
        start, begin, parts = self.starts[self.at], self.at, list[str]()
        while self.kinds[self.at] in ("word", "quoted") and self.words[self.at + 1] == ".":
            parts.append(self.name())
            self.at += 1
        if self.words[self.at] != "*":
            self.at = begin
            return None
        self.at += 1
        found = n.Star(start, self.ends[self.at], tuple(parts))
        while self.words[self.at] in ("EXCEPT", "EXCLUDE", "REPLACE", "RENAME", "ILIKE") and self.words[
            self.at + 1
        ] not in (
            "SELECT",
            "ALL",
            "DISTINCT",
            "VALUES",
        ):
            if self.words[self.at + 1] == "(" and self.words[self.at + 2] in ("SELECT", "VALUES", "WITH", "("):
                break
            word = self.words[self.at]
            self.at += 1
            if word in ("EXCEPT", "EXCLUDE"):
                found.excluded += self.names() if self.words[self.at] == "(" else (self.name(),)
                continue
            if word == "RENAME":
                found.renamed += self._renames()
                continue
            found.changes = True
            if word == "REPLACE":
                self.expect("(")
                found.items += self._items()
                self.expect(")")
            elif self.words[self.at] == "(":
                self._skip()
            else:
                self.name()
        found.end = self.ends[self.at]
        return found

    def _renames(self) -> tuple[tuple[str, str], ...]:
        """Parses (a AS b, …), or a AS b."""
        found, is_bracketed = list[tuple[str, str]](), self.take("(")
        while True:
            old = self.name()
            self.expect("AS")
            found.append((old, self.name()))
            if not is_bracketed or not self.take(","):
                break
        if is_bracketed:
            self.expect(")")
        return tuple(found)

    def _skip(self) -> None:
        """Skips a group in parentheses."""
        depth = 0
        while True:
            depth += (self.words[self.at] == "(") - (self.words[self.at] == ")")
            if self.kinds[self.at] == "end":
                raise Unread
            self.at += 1
            if depth == 0:
                return

    def _skip_angles(self) -> None:
        """Skips the parameters of a nested type."""
        depth = 0
        while True:
            depth += (self.words[self.at] == "<") - (self.words[self.at] == ">") - 2 * (self.words[self.at] == ">>")
            if self.kinds[self.at] == "end" or depth < 0:
                raise Unread
            self.at += 1
            if depth == 0:
                return

    def _groups(self) -> list[n.Node]:
        if self.words[self.at] == "ALL" and self.words[self.at + 1] != "(":
            self.at += 1
            return [n.AllItems(self.starts[self.at - 1], self.ends[self.at])]
        found = [self._group()]
        while self.take(","):
            found.append(self._group())
        return found

    def _group(self) -> n.Node:
        start = self.starts[self.at]
        if self.words[self.at] in ("ROLLUP", "CUBE") and self.words[self.at + 1] == "(":
            self.at += 2
            items = self._grouped()
            self.expect(")")
            return n.Row(start, self.ends[self.at], items)
        if self.take("GROUPING", "SETS"):
            self.expect("(")
            items = self._grouped()
            self.expect(")")
            return n.Row(start, self.ends[self.at], items)
        return (
            self._grouped()[0] if self.words[self.at] == "(" and self.words[self.at + 1] == ")" else self.expression()
        )

    def _grouped(self) -> list[n.Node]:
        found = list[n.Node]()
        while True:
            start = self.starts[self.at]
            if self.take("(", ")"):
                found.append(n.Row(start, self.ends[self.at], []))
            else:
                found.append(self._group())
            if not self.take(","):
                return found

    def _sorted(self) -> list[n.Node]:
        found = list[n.Node]()
        while True:
            every = None
            if self.words[self.at] == "ALL":
                self.at += 1
                every = n.AllItems(self.starts[self.at - 1], self.ends[self.at])
            found.append(every or self.expression())
            if self.words[self.at] in ("ASC", "DESC"):
                self.at += 1
            if self.take("NULLS") and self.words[self.at] in ("FIRST", "LAST"):
                self.at += 1
            if every is not None:
                every.order = self.text[every.end : self.ends[self.at]]
                every.end = self.ends[self.at]
            if not self.take(","):
                return found

    # --- FROM ------------------------------------------------------------------------------------------------------

    def _joined(self) -> n.Node:
        left = self._source()
        while self.words[self.at] in _JOINS:
            natural = self.take("NATURAL")
            words = list[str]()
            while self.words[self.at] in ("INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "SEMI", "ANTI"):
                words.append(self.words[self.at])
                self.at += 1
            self.expect("JOIN")
            right = self._source()
            joins = self.words[self.at] in ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "JOIN")
            if joins and not natural and "CROSS" not in words:
                raise Unread  # nested joins whose conditions follow later
            on: n.Node | None = None
            using: tuple[str, ...] = ()
            if self.take("ON"):
                on = self.expression()
            elif self.take("USING"):
                using = self.names()
            kind = " ".join((["NATURAL"] if natural else []) + words)
            left = n.Join(left.start, self.ends[self.at], left, right, kind, on, using)
        return left

    def _source(self) -> n.Node:
        start = self.starts[self.at]
        if self.words[self.at] == "LATERAL":
            self.at += 1
        if self.words[self.at] == "(":
            self.at += 1
            if self._opens_query():
                query = self.query()
                self.expect(")")
                alias, columns = self._table_alias()
                return n.Derived(start, self.ends[self.at], query, alias, columns)
            inner = self._joined()
            self.expect(")")
            alias, columns = self._table_alias()
            if alias is not None:
                return n.Aliased(start, self.ends[self.at], inner, alias, columns)
            return n.Paren(start, self.ends[self.at], inner)
        self.sources += 1
        parts = self._parts()
        if self.words[self.at] == "(":
            self.at += 1
            arguments = [] if self.words[self.at] == ")" else [self._argument()]
            while self.take(","):
                arguments.append(self._argument())
            self.expect(")")
            if self.words[self.at] == "WITH":
                raise Unread
            alias, columns = self._table_alias()
            return n.TableCall(start, self.ends[self.at], parts[-1].lower(), arguments, alias, columns)
        alias, columns = self._table_alias()
        if self.words[self.at] in ("TABLESAMPLE", "FOR"):
            raise Unread
        return n.Table(start, self.ends[self.at], parts, alias, columns)

    def _opens_query(self) -> bool:
        """Returns whether an opening parenthesis is followed by a query, not a join or an expression."""
        at = self.at
        while self.words[at] == "(":
            at += 1
        return self.words[at] in ("SELECT", "WITH", "VALUES", "TABLE", "FROM")

    def _parts(self) -> tuple[str, ...]:
        found = [self.name()]
        while self.words[self.at] == ".":
            self.at += 1
            found.append(self.name())
        return tuple(found)

    def _table_alias(self) -> tuple[str | None, tuple[str, ...]]:
        if self.kinds[self.at] not in ("word", "quoted"):
            return None, ()
        alias = self._alias()
        return alias, self.names() if alias is not None and self.words[self.at] == "(" else ()

    # --- expressions -----------------------------------------------------------------------------------------------

    def _expressions(self) -> list[n.Node]:
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        return found

    def expression(self, least: int = 0) -> n.Node:
        """Parses operators that bind more strongly than `least`."""
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise Unread
        found: n.Node | None = self._prefix()
        while found is not None:
            left = found
            found = self._infix(left, least) if self.words[self.at] in _INFIX else None
        self.depth -= 1
        return left

    def _infix(self, left: n.Node, least: int) -> n.Node | None:
        """Parses one operator with its right operand; None if it does not bind more strongly than `least`."""
        word, begin = self.words[self.at], self.at
        strength = _BINARY.get(word)
        if word in ("<", ">") and self.words[begin + 1] == word and self.starts[begin + 1] == self.ends[begin + 1]:
            strength, word = _PIPE, word * 2
            self.at += strength > least
        if strength is not None:
            if strength <= least:
                return None
            self.at += 1
            if word in COMPARISONS and self.words[self.at] in ("ANY", "ALL", "SOME") and self.words[self.at + 1] == "(":
                return self._quantified(left)
            right = self.expression(strength)
            return n.Binary(left.start, right.end, word, left, right)
        if word == "::":
            if least >= _COLONS:
                return None
            self.at += 1
            type = self._type()
            return n.Cast(left.start, self.ends[self.at], left, type, "::")
        if word == "AT":
            if least >= _ZONE or not self.take("AT", "TIME", "ZONE"):
                return None
            zone = self.expression(_ZONE)
            return n.AtTimeZone(left.start, zone.end, left, zone)
        if word == "[":
            return self._index(left)
        if word == ".":
            if not isinstance(left, n.Paren | n.Call | n.Index | n.Field | n.Cast | n.Struct):
                raise Unread
            self.at += 1
            name = self.name()
            return n.Field(left.start, self.ends[self.at], left, name)
        return self._is(left, least) if word == "IS" else self._tested(left, least)

    def _quantified(self, left: n.Node) -> n.Node:
        self.at += 2
        query: n.Node = self.query() if self._opens_query() else self.expression()
        self.expect(")")
        return n.Quantified(left.start, self.ends[self.at], left, query)

    def _index(self, left: n.Node) -> n.Node:
        self.at += 1
        items, slices = list[n.Node](), False
        while self.words[self.at] != "]":
            if self.take(":"):
                slices = True
                continue
            items.append(self.expression())
        self.at += 1
        return n.Index(left.start, self.ends[self.at], left, items, slices)

    def _is(self, left: n.Node, least: int) -> n.Node | None:
        if least >= _IS:
            return None
        self.at += 1
        self.take("NOT")
        if self.take("DISTINCT", "FROM"):
            right = self.expression(_IS)
            return n.Binary(left.start, right.end, "IS DISTINCT FROM", left, right)
        if self.words[self.at] not in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            raise Unread
        self.at += 1
        return n.Test(left.start, self.ends[self.at], [left])

    def _tested(self, left: n.Node, least: int) -> n.Node | None:
        """[NOT] IN, BETWEEN, LIKE and their like."""
        negated = self.words[self.at] == "NOT"
        word = self.words[self.at + negated]
        strength = _TESTS.get(word, 0)
        if strength <= least:
            return None
        self.at += 1 + negated
        if word == "BETWEEN":
            kind = self.words[self.at] if self.words[self.at] in ("SYMMETRIC", "ASYMMETRIC") else ""
            kind = kind if self.words[self.at + 1] != "AND" else ""  # a column of that name
            self.at += kind != ""
            low = self.expression(_COMPARISON)
            self.expect("AND")
            high = self.expression(_COMPARISON)
            return n.Between(left.start, high.end, left, low, high, kind, negated)
        if word == "IN":
            return self._in(left)
        self.take("TO")
        if self.words[self.at] in ("ANY", "ALL"):
            raise Unread
        pattern = self.expression(_LIKE)
        if self.take("ESCAPE"):
            self.expression(_LIKE)
        return n.Test(left.start, self.ends[self.at], [left, pattern])

    def _in(self, left: n.Node) -> n.Node:
        if self.words[self.at] == "UNNEST":
            raise Unread
        self.expect("(")
        if self._opens_query() and not (self.words[self.at] == "(" and self._is_list_of_queries()):
            query = self.query()
            self.expect(")")
            return n.InQuery(left.start, self.ends[self.at], left, query)
        items = [] if self.words[self.at] == ")" else self._expressions()
        self.expect(")")
        return n.InList(left.start, self.ends[self.at], left, items)

    def _is_list_of_queries(self) -> bool:
        """Returns whether this is a list that starts like a query: IN ((SELECT 1), 2)."""
        begin = self.at
        self._skip()
        found = self.words[self.at] == ","
        self.at = begin
        return found

    # --- operands --------------------------------------------------------------------------------------------------

    def _prefix(self) -> n.Node:
        kind, start = self.kinds[self.at], self.starts[self.at]
        if kind == "word":
            found = self._word() if self.words[self.at] in _NOT_NAMES else None
            if found is not None:
                return found
            return self._column()
        if kind == "quoted":
            return self._column()
        if kind == "symbol":
            return self._symbol()
        text = self.texts[self.at]
        self.at += 1
        end = self.ends[self.at]
        if kind == "number":
            return n.Number(start, end, text)
        if kind == "parameter":
            return n.Parameter(start, end, text.removeprefix("$"))
        if kind == "end":
            raise Unread
        if self.kinds[self.at] == "string" and "\n" not in self.text[end : self.starts[self.at]]:
            raise Unread
        if self.text[start] in "'eE$":  # E'…' and $$…$$ keep their text; their value is not used
            return n.Text(start, end, text)
        return n.Bytes(start, end) if self.text[start] in "xX" else n.Struct(start, end, [])

    def _symbol(self) -> n.Node:
        word, start = self.words[self.at], self.starts[self.at]
        if word in ("-", "+", "~"):
            self.at += 1
            operand = self.expression(_TIMES)
            return n.Unary(start, operand.end, word, operand)
        if word == "(":
            return self._parenthesis()
        if word == "[":
            return self._array(start)
        if word == "{":
            self.at += 1
            items, names = list[n.Node](), list[str]()
            while not self.take("}"):
                if self.kinds[self.at] not in ("string", "word", "quoted"):
                    raise Unread
                names.append(self.texts[self.at])
                self.at += 1
                self.expect(":")
                items.append(self.expression())
                self.take(",")
            return n.Struct(start, self.ends[self.at], items, names)
        raise Unread

    def _map(self) -> n.Node:
        start, items = self.starts[self.at], list[n.Node]()
        self.at += 2
        while not self.take("}"):
            items.append(self.expression())
            self.expect(":")
            items.append(self.expression())
            self.take(",")
        return n.Struct(start, self.ends[self.at], items)

    def _array(self, start: int) -> n.Node:
        self.expect("[")
        items = [] if self.words[self.at] == "]" else self._expressions()
        if len(items) == 1 and self.take("FOR"):
            names = [self.name()]
            while self.take(","):
                names.append(self.name())
            self.expect("IN")
            base = self.expression()
            condition = self.expression() if self.take("IF") else None
            self.expect("]")
            return n.Comprehension(start, self.ends[self.at], tuple(names), items[0], base, condition)
        self.expect("]")
        return n.Array(start, self.ends[self.at], items)

    def _parenthesis(self) -> n.Node:
        start = self.starts[self.at]
        self.at += 1
        if self._opens_query() and not self._opens_expression():
            query = self.query()
            self.expect(")")
            return n.Scalar(start, self.ends[self.at], query)
        items = self._expressions()
        self.expect(")")
        if len(items) > 1:
            return n.Row(start, self.ends[self.at], items)
        return n.Paren(start, self.ends[self.at], items[0])

    def _opens_expression(self) -> bool:
        """Returns whether this is an expression that starts like a query: ((SELECT 1) + 2)."""
        if self.words[self.at] != "(":
            return False
        begin = self.at
        self._skip()
        found = (
            self.words[self.at] != ")"
            and self.words[self.at] not in _SET_OPERATORS
            and self.words[self.at] not in ("ORDER", "LIMIT", "OFFSET")
        )
        self.at = begin
        return found or (self.words[self.at + 1] == "(" and self._inner_opens_expression())

    def _inner_opens_expression(self) -> bool:
        self.at += 1
        found = self._opens_expression()
        self.at -= 1
        return found

    def _word(self) -> n.Node | None:
        """Parses what starts with a keyword; None if it is the name of a column or a function here."""
        word, start, after = self.words[self.at], self.starts[self.at], self.words[self.at + 1]
        match word:
            case "NULL":
                self.at += 1
                return n.Null(start, self.ends[self.at])
            case "TRUE" | "FALSE":
                self.at += 1
                return n.Boolean(start, self.ends[self.at])
            case "NOT":
                self.at += 1
                operand = self.expression(_NOT)
                return n.Unary(start, operand.end, "NOT", operand)
            case "CASE":
                return self._case()
            case "EXISTS" if after == "(":
                self.at += 2
                query = self.query()
                self.expect(")")
                return n.Exists(start, self.ends[self.at], query)
            case "CAST" | "TRY_CAST" | "SAFE_CAST" if after == "(":
                return self._cast()
            case "INTERVAL":
                return self._interval()
            case "EXTRACT" if after == "(":
                return self._extract()
            case "ARRAY" if after == "[":
                self.at += 1
                return self._array(start)
            case "ROW" if after == "(":
                return self._row()
            case "MAP" if after == "{":
                return self._map()
        if word in _TYPES:
            return self._typed_text()
        if word in _WORD_VALUES and after != "(":
            self.at += 1
            return n.Call(start, self.ends[self.at], word.lower(), [], arguments_end=self.ends[self.at])
        if word in _RESERVED and after != "(" and after != ".":
            raise Unread
        return None

    def _typed_text(self) -> n.Node | None:
        """Parses DATE '…'; None if the word is the name of a column or a function."""
        begin, start = self.at, self.starts[self.at]
        try:
            type = self._type()
        except Unread:
            self.at = begin
            return None
        if self.kinds[self.at] != "string":
            self.at = begin
            return None
        self.at += 1
        return n.TypedText(start, self.ends[self.at], type, self.texts[self.at - 1])

    def _column(self) -> n.Node:
        """Parses a column or a call."""
        start, parts = self.starts[self.at], [self.name()]
        while self.words[self.at] == "." and self.kinds[self.at + 1] in ("word", "quoted"):
            self.at += 1
            parts.append(self.name())
        if self.words[self.at] == "(":
            return self._call(start, ".".join(parts))
        return n.Column(start, self.ends[self.at], tuple(parts))

    def _lambda(self) -> n.Lambda | None:
        """Parses x -> … or (x, y) -> …; None if it is another expression."""
        start, begin = self.starts[self.at], self.at
        if self.kinds[self.at] in ("word", "quoted") and self.words[self.at + 1] == "->":
            names: tuple[str, ...] = (self.name(),)
        elif self.words[self.at] == "(" and self.kinds[self.at + 1] in ("word", "quoted"):
            try:
                names = self.names()
            except Unread:
                names = ()
            if not names or self.words[self.at] != "->":
                self.at = begin
                return None
        else:
            return None
        self.at += 1
        body = self.expression()
        return n.Lambda(start, body.end, names, body)

    def _argument(self, called: str = "") -> n.Node:
        if called in LAMBDAS and (found := self._lambda()) is not None:
            return found
        if self.kinds[self.at] in ("word", "quoted") and self.words[self.at + 1] in ("=>", ":="):
            self.at += 2
        if self.words[self.at] == "*" or (self.kinds[self.at] in ("word", "quoted") and self.words[self.at + 1] == "."):
            star = self._star()
            if star is not None:
                return star
        value = self.expression()
        if self.take("AS"):  # struct(1 AS x)
            self.name()
        return value

    def _call(self, start: int, name: str) -> n.Call:
        self.at += 1
        found = n.Call(start, start, name, [])
        found.distinct = self.take("DISTINCT")
        self.take("ALL")
        if name == "trim" and self.words[self.at] in ("BOTH", "LEADING", "TRAILING"):
            self.at += 1
            found.named = True
        if self.words[self.at] not in (")", "FROM"):
            if self.words[self.at] in ("SELECT", "WITH", "VALUES", "TABLE"):
                raise Unread
            found.named = found.named or self.words[self.at + 1] in ("=>", ":=")
            # The IN of position(a IN b) is not a comparison.
            found.arguments.append(self.expression(_COMPARISON) if name == "position" else self._argument(name))
        while self.words[self.at] != ")":
            if self.take(","):
                found.named = found.named or self.words[self.at + 1] in ("=>", ":=")
                found.arguments.append(self._argument(name))
            elif self.take("ORDER", "BY"):
                found.others += self._sorted()
            elif self.words[self.at] in ("FROM", "FOR", "IN", "PLACING"):  # substring(a FROM 1 FOR 2)
                found.named = True
                self.at += 1
                found.arguments.append(self.expression(_COMPARISON))
            elif self.take("IGNORE", "NULLS") or self.take("RESPECT", "NULLS"):
                pass
            else:
                raise Unread
        self.at += 1
        found.arguments_end = self.ends[self.at]
        self._modified(found)
        found.end = self.ends[self.at]
        return found

    def _modified(self, call: n.Call) -> None:
        """WITHIN GROUP (ORDER BY …), FILTER (WHERE …), IGNORE NULLS, OVER …"""
        if self.take("WITHIN", "GROUP"):
            self.expect("(", "ORDER", "BY")
            call.others += self._sorted()
            self.expect(")")
        if self.take("FILTER"):
            self.expect("(", "WHERE")
            call.others.append(self.expression())
            self.expect(")")
        if self.words[self.at] in ("IGNORE", "RESPECT") and self.words[self.at + 1] == "NULLS":
            self.at += 2
        if self.take("OVER"):
            call.over = True
            if self.take("("):
                call.others += self._window()
            else:
                call.over_name = True
                self.name()

    def _window(self) -> list[n.Node]:
        """Parses up to the closing parenthesis of a window."""
        found = list[n.Node]()
        if self.kinds[self.at] == "word" and self.words[self.at] not in (
            "PARTITION",
            "ORDER",
            "ROWS",
            "RANGE",
            "GROUPS",
        ):
            self.name()
        if self.take("PARTITION", "BY"):
            found += self._expressions()
        if self.take("ORDER", "BY"):
            found += self._sorted()
        if self.words[self.at] in ("ROWS", "RANGE", "GROUPS"):
            while self.words[self.at] != ")":
                if self.kinds[self.at] in ("number", "string", "word"):
                    self.at += 1
                elif self.kinds[self.at] == "end":
                    raise Unread
                else:
                    raise Unread
        self.expect(")")
        return found

    def _case(self) -> n.Node:
        start = self.starts[self.at]
        self.at += 1
        operand = None if self.words[self.at] == "WHEN" else self.expression()
        conditions, results = list[n.Node](), list[n.Node]()
        while self.take("WHEN"):
            conditions.append(self.expression())
            self.expect("THEN")
            results.append(self.expression())
        if self.take("ELSE"):
            results.append(self.expression())
        self.expect("END")
        return n.Case(start, self.ends[self.at], operand, conditions, results)

    def _cast(self) -> n.Node:
        start, form = self.starts[self.at], "TRY_CAST" if self.words[self.at] != "CAST" else "CAST"
        self.at += 2
        operand = self.expression()
        self.expect("AS")
        type = self._type()
        if self.words[self.at] == "FORMAT":
            raise Unread
        self.expect(")")
        return n.Cast(start, self.ends[self.at], operand, type, "TRY_CAST" if form == "TRY_CAST" else "CAST")

    def _extract(self) -> n.Node:
        start = self.starts[self.at]
        self.at += 2
        part = self.texts[self.at].lower()
        self.at += 1
        self.expect("FROM")
        operand = self.expression()
        self.expect(")")
        return n.Extract(start, self.ends[self.at], part, operand)

    def _interval(self) -> n.Node:
        start = self.starts[self.at]
        if self.kinds[self.at + 1] not in ("string", "number", "parameter", "word", "quoted") and self.words[
            self.at + 1
        ] not in (
            "(",
            "-",
        ):
            return self._column()
        if self.words[self.at + 1] in _RESERVED or self.words[self.at + 1] in ("FROM", ","):
            return self._column()
        self.at += 1
        operand: n.Node | None = None
        value: str | None = None
        if self.kinds[self.at] in ("string", "number"):
            value = self.texts[self.at]
            self.at += 1
        else:
            operand = self._prefix()
        unit = None
        if self.words[self.at] in _UNITS:
            unit = self.words[self.at].lower()
            self.at += 1
            if self.words[self.at] == "TO":
                raise Unread
        return n.Interval(start, self.ends[self.at], value, unit, operand)

    def _type(self) -> n.TypeName:
        start = self.starts[self.at]
        if self.kinds[self.at] != "word":
            raise Unread
        name = self.words[self.at]
        self.at += 1
        if name == "DOUBLE" and self.take("PRECISION"):
            pass
        elif name in ("CHARACTER", "CHAR") and self.take("VARYING"):
            name = "VARCHAR"
        elif name in _SIGNED and self.take("UNSIGNED"):
            name += " UNSIGNED"
        numbers: tuple[int, ...] = ()
        if self.words[self.at] == "(" and self.kinds[self.at + 1] == "number":
            self.at += 1
            found = list[int]()
            while self.kinds[self.at] == "number" and self.texts[self.at].isdigit():
                found.append(int(self.texts[self.at]))
                self.at += 1
                self.take(",")
            self.expect(")")
            numbers = tuple(found)
        elif self.words[self.at] == "<" and name in ("ARRAY", "LIST", "MAP", "STRUCT"):
            self._skip_angles()
        elif self.words[self.at] == "(":
            raise Unread
        if name in ("TIMESTAMP", "TIME"):
            if self.take("WITH", "TIME", "ZONE"):
                name += " WITH TIME ZONE"
            else:
                self.take("WITHOUT", "TIME", "ZONE")
        if self.words[self.at] == "[":
            size = 1.0
            while self.take("["):
                if self.kinds[self.at] == "number":
                    size *= float(self.texts[self.at].replace("_", ""))
                    if size > _LONGEST_FIXED:
                        raise NotSupportedError(f"lists of {size:.0f} values in a type are not supported: write INT[]")
                    self.at += 1
                self.expect("]")
                name += "[]"
        return n.TypeName(start, self.ends[self.at], name, numbers)
