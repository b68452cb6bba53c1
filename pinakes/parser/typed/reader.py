"""Parses planned text to its tree, with DataFusion's precedence (that of sqlparser's generic dialect). Only || is
parsed as in PostgreSQL, after + and *: `rewrite.py` adds the parentheses that DataFusion needs for that.

sqlglot locates the names of a text. It is not used here, since its compiled parser gives no extent of an expression and
has other precedence in places (`a = b IS NULL`); see ADR 33. Unknown forms raise `Unread`: such a text is planned
unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.errors import NotSupportedError
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.typed import nodes as n


class Unread(Exception):
    """The text has an unknown form."""


_OR, _AND, _NOT, _OTHER, _IS, _LIKE, _COMPARISON = 5, 10, 15, 16, 17, 19, 20
_PIPE, _CARET, _AMPERSAND, _XOR, _APPEND = 21, 22, 23, 24, 25
_PLUS, _TIMES, _ZONE, _COLONS, _PERIOD = 30, 40, 41, 50, 100
"""In DataFusion || has the precedence of *. Here it is lower than that of +, as in PostgreSQL: `rewrite.py` adds
parentheses.
"""

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
    **dict.fromkeys(("->", "->>", "#>", "#>>", "@>", "<@"), _OTHER),
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
    "BLOB UUID NVARCHAR".split()
)
_WORD_VALUES = frozenset("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP".split())
_SET_OPERATORS = {"UNION": 10, "EXCEPT": 10, "INTERSECT": 20}
_MOST_NESTED = 400
"""Limited by Python's stack; DataFusion's own limit is lower for most forms."""


def read(text: str) -> n.Query:
    """Parses one query."""
    reader = _Reader(text, tokenize(text))
    while reader.word in ("EXPLAIN", "ANALYZE", "VERBOSE"):
        reader.at += 1
    found = reader.query()
    if reader.word == ";":
        reader.at += 1
    if reader.kind != "end":
        raise Unread
    return found


class _Reader:
    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = [*tokens, *[Token("end", "", "", len(text), len(text))] * 4]
        self.at = 0
        self.depth = 0

    # --- tokens ----------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def word(self) -> str:
        return self.tokens[self.at].word

    @property
    def kind(self) -> str:
        return self.tokens[self.at].kind

    @property
    def start(self) -> int:
        return self.tokens[self.at].start

    @property
    def end(self) -> int:
        """The end offset of the last token taken."""
        return self.tokens[self.at - 1].end

    def ahead(self, count: int) -> str:
        return self.tokens[min(self.at + count, len(self.tokens) - 1)].word

    def take(self, *words: str) -> bool:
        """Takes these words, if they come next."""
        tokens, at = self.tokens, self.at
        for word in words:
            if tokens[at].word != word:  # the tokens at the end equal no word
                return False
            at += 1
        self.at = at
        return True

    def expect(self, *words: str) -> None:
        if not self.take(*words):
            raise Unread

    def name(self) -> str:
        token = self.token
        if token.kind == "word":
            self.at += 1
            return token.text.lower()
        if token.kind == "quoted":
            self.at += 1
            return token.text
        raise Unread

    def names(self) -> tuple[str, ...]:
        """Parses names in parentheses; DataFusion also accepts 'a' as a name."""
        self.expect("(")
        found = [self._named()]
        while self.take(","):
            found.append(self._named())
        self.expect(")")
        return tuple(found)

    def _named(self) -> str:
        if self.kind != "string":
            return self.name()
        self.at += 1
        return self.tokens[self.at - 1].text

    # --- queries ---------------------------------------------------------------------------------------------------

    def query(self) -> n.Query:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise Unread
        start, defined, recursive = self.start, list[n.Defined](), False
        if self.take("WITH"):
            recursive = self.take("RECURSIVE")
            defined.append(self._defined())
            while self.take(","):
                defined.append(self._defined())
        body = self._set_operations(0)
        found = n.Query(start, self.end, defined, recursive, body)
        if self.take("ORDER", "BY"):
            found.order = self._sorted()
        while self.word in ("LIMIT", "OFFSET"):
            self.at += 1
            if not self.take("ALL"):
                found.tail.append(self.expression())
            if self.word in ("ROW", "ROWS"):
                self.at += 1
        if self.word == "FETCH":
            raise Unread
        found.end = self.end
        self.depth -= 1
        return found

    def _defined(self) -> n.Defined:
        start, name = self.start, self.name()
        columns = self.names() if self.word == "(" else ()
        self.expect("AS")
        self.take("NOT")
        self.take("MATERIALIZED")
        self.expect("(")
        query = self.query()
        self.expect(")")
        return n.Defined(start, self.end, name, columns, query)

    def _set_operations(self, least: int) -> n.Node:
        left = self._body()
        while (strength := _SET_OPERATORS.get(self.word, 0)) > least:
            operator = self.word
            self.at += 1
            keeps_all = self.take("ALL")
            self.take("DISTINCT")
            by_name = self.take("BY", "NAME")
            right = self._set_operations(strength)
            left = n.SetOperation(left.start, right.end, operator, left, right, not keeps_all, by_name)
        return left

    def _body(self) -> n.Node:
        start = self.start
        if self.take("("):
            inner = self.query()
            self.expect(")")
            return n.Query(start, self.end, [], recursive=False, body=inner)
        if self.word in ("SELECT", "FROM"):
            return self._select()
        if self.take("VALUES"):
            rows = [self._row()]
            while self.take(","):
                rows.append(self._row())
            return n.Values(start, self.end, rows)
        if self.take("TABLE"):
            parts = self._parts()
            return n.TableOf(start, self.end, parts)
        raise Unread

    def _row(self) -> n.Row:
        start = self.start
        self.take("ROW")
        self.expect("(")
        items = [] if self.word == ")" else self._expressions()
        self.expect(")")
        return n.Row(start, self.end, items)

    def _select(self) -> n.Select:
        found = n.Select(self.start, self.end, [], [])
        starts_with_from = found.from_first = self._sources(found)
        if self.take("SELECT"):
            self._selected(found)
        elif starts_with_from:
            found.items = [n.Item(found.start, found.start, n.Star(found.start, found.start), None)]
        if not starts_with_from:
            self._sources(found)
        if self.take("WHERE"):
            found.where = self.expression()
        if self.take("GROUP", "BY"):
            found.groups = self._groups()
        if self.take("HAVING"):
            found.having = self.expression()
        if self.take("WINDOW"):
            while True:
                self.name()
                self.expect("AS")
                self.expect("(")
                found.windows += self._window()
                if not self.take(","):
                    break
        if self.take("QUALIFY"):
            found.qualify = self.expression()
        found.end = self.end
        return found

    def _sources(self, select: n.Select) -> bool:
        """Parses FROM …, if it comes next."""
        if not self.take("FROM"):
            return False
        select.sources.append(self._joined())
        while self.take(","):
            select.sources.append(self._joined())
        return True

    def _selected(self, select: n.Select) -> None:
        if self.take("DISTINCT"):
            select.distinct = True
            if self.take("ON"):
                self.expect("(")
                select.distinct_on = self._expressions()
                self.expect(")")
        else:
            self.take("ALL")
        if self.word != "FROM" or self.ahead(1) == ".":
            select.items = self._items()

    def _items(self) -> list[n.Item]:
        found = [self._item()]
        while self.take(","):
            if self.word in ("FROM", ")", ";") or self.kind == "end":  # DataFusion accepts a trailing comma
                break
            found.append(self._item())
        return found

    def _item(self) -> n.Item:
        start = self.start
        value = self._star() or self.expression()
        alias = None if isinstance(value, n.Star) else self._alias()
        return n.Item(start, self.end, value, alias)

    def _alias(self) -> str | None:
        if self.take("AS"):
            if self.kind == "string":
                self.at += 1
                return self.tokens[self.at - 1].text
            return self.name()
        is_name = self.kind == "quoted" or (self.kind == "word" and self.word not in _RESERVED)
        return self.name() if is_name else None

    def _star(self) -> n.Star | None:
        start, begin, parts = self.start, self.at, list[str]()
        while self.kind in ("word", "quoted") and self.ahead(1) == ".":
            parts.append(self.name())
            self.at += 1
        if self.word != "*":
            self.at = begin
            return None
        self.at += 1
        found = n.Star(start, self.end, tuple(parts))
        while self.word in ("EXCEPT", "EXCLUDE", "REPLACE", "RENAME", "ILIKE") and self.ahead(1) not in (
            "SELECT",
            "ALL",
            "DISTINCT",
            "VALUES",
        ):
            if self.ahead(1) == "(" and self.ahead(2) in ("SELECT", "VALUES", "WITH", "("):
                break
            word = self.word
            self.at += 1
            if word in ("EXCEPT", "EXCLUDE"):
                found.excluded += self.names() if self.word == "(" else (self.name(),)
                continue
            found.changes = True
            if word == "REPLACE":
                self.expect("(")
                found.items += self._items()
                self.expect(")")
            elif self.word == "(":
                self._skip()
            else:
                self.name()
        found.end = self.end
        return found

    def _skip(self) -> None:
        """Skips a group in parentheses."""
        depth = 0
        while True:
            depth += (self.word == "(") - (self.word == ")")
            if self.kind == "end":
                raise Unread
            self.at += 1
            if depth == 0:
                return

    def _skip_angles(self) -> None:
        """Skips the parameters of a nested type."""
        depth = 0
        while True:
            depth += (self.word == "<") - (self.word == ">") - 2 * (self.word == ">>")
            if self.kind == "end" or depth < 0:
                raise Unread
            self.at += 1
            if depth == 0:
                return

    def _groups(self) -> list[n.Node]:
        if self.word == "ALL" and self.ahead(1) != "(":
            self.at += 1
            return [n.AllItems(self.tokens[self.at - 1].start, self.end)]
        found = [self._group()]
        while self.take(","):
            found.append(self._group())
        return found

    def _group(self) -> n.Node:
        start = self.start
        if self.word in ("ROLLUP", "CUBE") and self.ahead(1) == "(":
            self.at += 2
            items = self._grouped()
            self.expect(")")
            return n.Row(start, self.end, items)
        if self.take("GROUPING", "SETS"):
            self.expect("(")
            items = self._grouped()
            self.expect(")")
            return n.Row(start, self.end, items)
        return self._grouped()[0] if self.word == "(" and self.ahead(1) == ")" else self.expression()

    def _grouped(self) -> list[n.Node]:
        found = list[n.Node]()
        while True:
            start = self.start
            if self.take("(", ")"):
                found.append(n.Row(start, self.end, []))
            else:
                found.append(self._group())
            if not self.take(","):
                return found

    def _sorted(self) -> list[n.Node]:
        found = list[n.Node]()
        while True:
            if not self.take("ALL"):
                found.append(self.expression())
            if self.word in ("ASC", "DESC"):
                self.at += 1
            if self.take("NULLS") and self.word in ("FIRST", "LAST"):
                self.at += 1
            if not self.take(","):
                return found

    # --- FROM ------------------------------------------------------------------------------------------------------

    def _joined(self) -> n.Node:
        left = self._source()
        while True:
            begin, start = self.at, left.start
            natural = self.take("NATURAL")
            words = list[str]()
            while self.word in ("INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "SEMI", "ANTI"):
                words.append(self.word)
                self.at += 1
            if not self.take("JOIN"):
                if natural or words or self.word in ("ASOF", "POSITIONAL", "PIVOT", "UNPIVOT"):
                    self.at = begin
                    raise Unread
                return left
            right = self._source()
            joins = self.word in ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "JOIN")
            if joins and not natural and "CROSS" not in words:
                raise Unread  # nested joins whose conditions follow later
            on: n.Node | None = None
            using: tuple[str, ...] = ()
            if self.take("ON"):
                on = self.expression()
            elif self.take("USING"):
                using = self.names()
            kind = " ".join((["NATURAL"] if natural else []) + words)
            left = n.Join(start, self.end, left, right, kind, on, using)

    def _source(self) -> n.Node:
        start = self.start
        self.take("LATERAL")
        if self.take("("):
            if self._opens_query():
                query = self.query()
                self.expect(")")
                alias, columns = self._table_alias()
                return n.Derived(start, self.end, query, alias, columns)
            inner = self._joined()
            self.expect(")")
            alias, columns = self._table_alias()
            if alias is not None:
                return n.Aliased(start, self.end, inner, alias, columns)
            return n.Paren(start, self.end, inner)
        parts = self._parts()
        if self.word == "(":
            self.at += 1
            arguments = [] if self.word == ")" else [self._argument() for _ in (0,)]
            while self.take(","):
                arguments.append(self._argument())
            self.expect(")")
            if self.word == "WITH":
                raise Unread
            alias, columns = self._table_alias()
            return n.TableCall(start, self.end, parts[-1].lower(), arguments, alias, columns)
        alias, columns = self._table_alias()
        if self.word in ("TABLESAMPLE", "FOR"):
            raise Unread
        return n.Table(start, self.end, parts, alias, columns)

    def _opens_query(self) -> bool:
        """Returns whether an opening parenthesis is followed by a query, not a join or an expression."""
        at = self.at
        while self.tokens[at].word == "(":
            at += 1
        return self.tokens[at].word in ("SELECT", "WITH", "VALUES", "TABLE", "FROM")

    def _parts(self) -> tuple[str, ...]:
        found = [self.name()]
        while self.take("."):
            found.append(self.name())
        return tuple(found)

    def _table_alias(self) -> tuple[str | None, tuple[str, ...]]:
        alias = self._alias()
        return alias, self.names() if alias is not None and self.word == "(" else ()

    # --- expressions -----------------------------------------------------------------------------------------------

    def _expressions(self) -> list[n.Node]:
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        return found

    def expression(self, least: int = 0) -> n.Node:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise Unread
        left = self._prefix()
        while True:
            left, goes_on = self._infix(left, least)
            if not goes_on:
                self.depth -= 1
                return left

    def _infix(self, left: n.Node, least: int) -> tuple[n.Node, bool]:
        word, begin = self.word, self.at
        strength = _BINARY.get(word)
        if word in ("<", ">") and self.ahead(1) == word and self.tokens[begin + 1].start == self.tokens[begin].end:
            strength, word = _PIPE, word * 2
            self.at += strength > least
        if strength is not None:
            if strength <= least:
                return left, False
            self.at += 1
            if word in COMPARISONS and self.word in ("ANY", "ALL", "SOME") and self.ahead(1) == "(":
                return self._quantified(left), True
            right = self.expression(strength)
            return n.Binary(left.start, right.end, word, left, right), True
        if word == "::":
            if least >= _COLONS:
                return left, False
            self.at += 1
            type = self._type()
            return n.Cast(left.start, self.end, left, type, "::"), True
        if word == "AT" and self.ahead(1) == "TIME" and self.ahead(2) == "ZONE":
            if least >= _ZONE:
                return left, False
            self.at += 3
            zone = self.expression(_ZONE)
            return n.AtTimeZone(left.start, zone.end, left, zone), True
        if word == "[":
            return self._index(left), True
        if word == ".":
            if not isinstance(left, n.Paren | n.Call | n.Index | n.Field | n.Cast | n.Struct):
                raise Unread
            self.at += 1
            name = self.name()
            return n.Field(left.start, self.end, left, name), True
        if word == "IS":
            return self._is(left, least)
        return self._tested(left, least)

    def _quantified(self, left: n.Node) -> n.Node:
        self.at += 2
        query: n.Node = self.query() if self._opens_query() else self.expression()
        self.expect(")")
        return n.Quantified(left.start, self.end, left, query)

    def _index(self, left: n.Node) -> n.Node:
        self.at += 1
        items, slices = list[n.Node](), False
        while self.word != "]":
            if self.take(":"):
                slices = True
                continue
            items.append(self.expression())
        self.at += 1
        return n.Index(left.start, self.end, left, items, slices)

    def _is(self, left: n.Node, least: int) -> tuple[n.Node, bool]:
        if least >= _IS:
            return left, False
        self.at += 1
        self.take("NOT")
        if self.take("DISTINCT", "FROM"):
            right = self.expression(_IS)
            return n.Binary(left.start, right.end, "IS DISTINCT FROM", left, right), True
        if self.word not in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            raise Unread
        self.at += 1
        return n.Test(left.start, self.end, [left]), True

    def _tested(self, left: n.Node, least: int) -> tuple[n.Node, bool]:
        negated = self.word == "NOT" and self.ahead(1) in (
            "IN",
            "BETWEEN",
            "LIKE",
            "ILIKE",
            "SIMILAR",
            "RLIKE",
            "REGEXP",
        )
        word = self.ahead(1) if negated else self.word
        strength = {"IN": _COMPARISON, "BETWEEN": _COMPARISON, "OVERLAPS": _COMPARISON}.get(word, _LIKE)
        if word not in ("IN", "BETWEEN", "LIKE", "ILIKE", "SIMILAR", "RLIKE", "REGEXP") or least >= strength:
            return left, False
        self.at += 2 if negated else 1
        if word == "BETWEEN":
            low = self.expression(_COMPARISON)
            self.expect("AND")
            high = self.expression(_COMPARISON)
            return n.Between(left.start, high.end, left, low, high), True
        if word == "IN":
            return self._in(left), True
        self.take("TO")
        if self.word in ("ANY", "ALL"):
            raise Unread
        pattern = self.expression(_LIKE)
        if self.take("ESCAPE"):
            self.expression(_LIKE)
        return n.Test(left.start, self.end, [left, pattern]), True

    def _in(self, left: n.Node) -> n.Node:
        if self.word == "UNNEST":
            raise Unread
        self.expect("(")
        if self._opens_query() and not (self.word == "(" and self._is_list_of_queries()):
            query = self.query()
            self.expect(")")
            return n.InQuery(left.start, self.end, left, query)
        items = [] if self.word == ")" else self._expressions()
        self.expect(")")
        return n.InList(left.start, self.end, left, items)

    def _is_list_of_queries(self) -> bool:
        """Returns whether this is a list that starts like a query: IN ((SELECT 1), 2)."""
        begin = self.at
        self._skip()
        found = self.word == ","
        self.at = begin
        return found

    # --- operands --------------------------------------------------------------------------------------------------

    def _prefix(self) -> n.Node:
        token, start = self.token, self.start
        if token.kind == "number":
            self.at += 1
            return n.Number(start, self.end, token.text)
        if token.kind == "string":
            self.at += 1
            if self.kind == "string" and "\n" not in self.text[self.end : self.start]:
                raise Unread
            if self.text[start] != "'":  # E'…', $$…$$ and others keep their text; their value is not used
                if self.text[start] in "eE$":
                    return n.Text(start, self.end, token.text)
                return n.Bytes(start, self.end) if self.text[start] in "xX" else n.Struct(start, self.end, [])
            return n.Text(start, self.end, token.text)
        if token.kind == "parameter":
            self.at += 1
            return n.Parameter(start, self.end, token.text.removeprefix("$"))
        if token.kind == "quoted":
            return self._column()
        if token.kind == "symbol":
            return self._symbol()
        if token.kind == "word":
            return self._word()
        raise Unread

    def _symbol(self) -> n.Node:
        word, start = self.word, self.start
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
            items = list[n.Node]()
            while not self.take("}"):
                if self.kind not in ("string", "word", "quoted"):
                    raise Unread
                self.at += 1
                self.expect(":")
                items.append(self.expression())
                self.take(",")
            return n.Struct(start, self.end, items)
        raise Unread

    def _map(self) -> n.Node:
        start, items = self.start, list[n.Node]()
        self.at += 2
        while not self.take("}"):
            items.append(self.expression())
            self.expect(":")
            items.append(self.expression())
            self.take(",")
        return n.Struct(start, self.end, items)

    def _array(self, start: int) -> n.Array:
        self.expect("[")
        items = [] if self.word == "]" else self._expressions()
        self.expect("]")
        return n.Array(start, self.end, items)

    def _parenthesis(self) -> n.Node:
        start = self.start
        self.at += 1
        if self._opens_query() and not self._opens_expression():
            query = self.query()
            self.expect(")")
            return n.Scalar(start, self.end, query)
        items = self._expressions()
        self.expect(")")
        if len(items) > 1:
            return n.Row(start, self.end, items)
        if self.word == "->":
            raise Unread  # a lambda
        return n.Paren(start, self.end, items[0])

    def _opens_expression(self) -> bool:
        """Returns whether this is an expression that starts like a query: ((SELECT 1) + 2)."""
        if self.word != "(":
            return False
        begin = self.at
        self._skip()
        found = self.word != ")" and self.word not in _SET_OPERATORS and self.word not in ("ORDER", "LIMIT", "OFFSET")
        self.at = begin
        return found or (self.ahead(1) == "(" and self._inner_opens_expression())

    def _inner_opens_expression(self) -> bool:
        self.at += 1
        found = self._opens_expression()
        self.at -= 1
        return found

    def _word(self) -> n.Node:
        word, start, after = self.word, self.start, self.ahead(1)
        match word:
            case "NULL":
                self.at += 1
                return n.Null(start, self.end)
            case "TRUE" | "FALSE":
                self.at += 1
                return n.Boolean(start, self.end)
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
                return n.Exists(start, self.end, query)
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
            typed = self._typed_text()
            if typed is not None:
                return typed
        if word in _WORD_VALUES and after != "(":
            self.at += 1
            return n.Call(start, self.end, word.lower(), [], arguments_end=self.end)
        if word in _RESERVED and after != "(" and after != ".":
            raise Unread
        if after == "->":
            raise Unread  # a lambda, or JSON access, which depends on the types
        return self._column()

    def _typed_text(self) -> n.Node | None:
        """Parses DATE '…'; None if the word is the name of a column or a function."""
        begin, start = self.at, self.start
        try:
            type = self._type()
        except Unread:
            self.at = begin
            return None
        token = self.token
        if token.kind != "string":
            self.at = begin
            return None
        self.at += 1
        return n.TypedText(start, self.end, type, token.text)

    def _column(self) -> n.Node:
        """Parses a column or a call."""
        start, parts = self.start, [self.name()]
        while self.word == "." and self.tokens[self.at + 1].kind in ("word", "quoted"):
            self.at += 1
            parts.append(self.name())
        if self.word == "(":
            return self._call(start, ".".join(parts))
        return n.Column(start, self.end, tuple(parts))

    def _argument(self) -> n.Node:
        if self.kind in ("word", "quoted") and self.ahead(1) in ("=>", ":="):
            self.at += 2
        if self.word == "*" or (self.kind in ("word", "quoted") and self.ahead(1) == "." and self.ahead(2) == "*"):
            star = self._star()
            assert star is not None
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
        if name == "trim" and self.word in ("BOTH", "LEADING", "TRAILING"):
            self.at += 1
            found.named = True
        if self.word not in (")", "FROM"):
            if self.word in ("SELECT", "WITH", "VALUES", "TABLE"):
                raise Unread
            found.named = found.named or self.ahead(1) in ("=>", ":=")
            # The IN of position(a IN b) is not a comparison.
            found.arguments.append(self.expression(_COMPARISON) if name == "position" else self._argument())
        while self.word != ")":
            if self.take(","):
                found.named = found.named or self.ahead(1) in ("=>", ":=")
                found.arguments.append(self._argument())
            elif self.take("ORDER", "BY"):
                found.others += self._sorted()
            elif self.word in ("FROM", "FOR", "IN", "PLACING"):  # substring(a FROM 1 FOR 2)
                found.named = True
                self.at += 1
                found.arguments.append(self.expression(_COMPARISON))
            elif self.take("IGNORE", "NULLS") or self.take("RESPECT", "NULLS"):
                pass
            else:
                raise Unread
        self.at += 1
        found.arguments_end = self.end
        self._modified(found)
        found.end = self.end
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
        if self.word in ("IGNORE", "RESPECT") and self.ahead(1) == "NULLS":
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
        if self.kind == "word" and self.word not in ("PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"):
            self.name()
        if self.take("PARTITION", "BY"):
            found += self._expressions()
        if self.take("ORDER", "BY"):
            found += self._sorted()
        if self.word in ("ROWS", "RANGE", "GROUPS"):
            while self.word != ")":
                if self.kind in ("number", "string", "word"):
                    self.at += 1
                elif self.kind == "end":
                    raise Unread
                else:
                    raise Unread
        self.expect(")")
        return found

    def _case(self) -> n.Node:
        start = self.start
        self.at += 1
        operand = None if self.word == "WHEN" else self.expression()
        conditions, results = list[n.Node](), list[n.Node]()
        while self.take("WHEN"):
            conditions.append(self.expression())
            self.expect("THEN")
            results.append(self.expression())
        if self.take("ELSE"):
            results.append(self.expression())
        self.expect("END")
        return n.Case(start, self.end, operand, conditions, results)

    def _cast(self) -> n.Node:
        start, form = self.start, "TRY_CAST" if self.word != "CAST" else "CAST"
        self.at += 2
        operand = self.expression()
        self.expect("AS")
        type = self._type()
        if self.word == "FORMAT":
            raise Unread
        self.expect(")")
        return n.Cast(start, self.end, operand, type, "TRY_CAST" if form == "TRY_CAST" else "CAST")

    def _extract(self) -> n.Node:
        start = self.start
        self.at += 2
        part = self.token.text.lower()
        self.at += 1
        self.expect("FROM")
        operand = self.expression()
        self.expect(")")
        return n.Extract(start, self.end, part, operand)

    def _interval(self) -> n.Node:
        start = self.start
        if self.tokens[self.at + 1].kind not in ("string", "number", "parameter", "word", "quoted") and self.ahead(
            1
        ) not in (
            "(",
            "-",
        ):
            return self._column()
        if self.ahead(1) in _RESERVED or self.ahead(1) in ("FROM", ","):
            return self._column()
        self.at += 1
        token = self.token
        operand: n.Node | None = None
        value: str | None = None
        if token.kind in ("string", "number"):
            self.at += 1
            value = token.text
        else:
            operand = self._prefix()
        unit = None
        if self.word in _UNITS:
            unit = self.word.lower()
            self.at += 1
            if self.word == "TO":
                raise Unread
        return n.Interval(start, self.end, value, unit, operand)

    def _type(self) -> n.TypeName:
        start = self.start
        if self.kind != "word":
            raise Unread
        name = self.word
        self.at += 1
        if name == "DOUBLE" and self.take("PRECISION"):
            pass
        elif name in ("CHARACTER", "CHAR") and self.take("VARYING"):
            name = "VARCHAR"
        numbers: tuple[int, ...] = ()
        if self.word == "(" and self.tokens[self.at + 1].kind == "number":
            self.at += 1
            found = list[int]()
            while self.kind == "number" and self.token.text.isdigit():
                found.append(int(self.token.text))
                self.at += 1
                self.take(",")
            self.expect(")")
            numbers = tuple(found)
        elif self.word == "<" and name in ("ARRAY", "LIST", "MAP", "STRUCT"):
            self._skip_angles()
        elif self.word == "(":
            raise Unread
        if name in ("TIMESTAMP", "TIME"):
            if self.take("WITH", "TIME", "ZONE"):
                name += " WITH TIME ZONE"
            else:
                self.take("WITHOUT", "TIME", "ZONE")
        if self.word == "[":
            size = 1.0
            while self.take("["):
                if self.kind == "number":
                    size *= float(self.token.text.replace("_", ""))
                    if size > _LONGEST_FIXED:
                        raise NotSupportedError(f"lists of {size:.0f} values in a type are not supported: write INT[]")
                    self.at += 1
                self.expect("]")
                name += "[]"
        return n.TypeName(start, self.end, name, numbers)
