"""Calls of SQL functions (CREATE FUNCTION) in a text, and the text with each call replaced by the function's body.

A body takes its arguments as bracketed expressions, cast to the declared types. The text is expanded before it is
classified, so that all rules for expressions apply to the result. Each function is expanded once per statement, and the
length of every result is limited, so that functions that call each other can't make texts without end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from pinakes.core.errors import InvalidArgument, NotSupportedError, ParseError, Position
from pinakes.core.names import Name, Part, quote
from pinakes.parser.brackets import check_brackets
from pinakes.parser.catalog_calls import Places, name_at
from pinakes.parser.faults import Fault
from pinakes.parser.keywords import RESERVED
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.splice import Edit
from pinakes.parser.statements import FunctionForm

MOST_CHARACTERS = 100_000
"""Of an expanded function, and of all calls of a statement."""
DEEPEST = 50
"""Functions that call each other."""

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_QUERIES = frozenset({"SELECT", "WITH", "FROM", "TABLE", "VALUES"})
_NO_CALL_AFTER = frozenset(
    "AS INTO TABLE VIEW COPY EXECUTE PREPARE CALL ANALYZE OVERWRITE FUNCTION MACRO RECURSIVE EXISTS UPDATE".split()
)
"""Words before a name in whose brackets columns or other names stand, not arguments."""
_BEFORE_CALL = (RESERVED - _NO_CALL_AFTER - {"NULL", "TRUE", "FALSE", "END"}) | frozenset(
    {"RETURNING", "SIMILAR", "ILIKE", "ESCAPE", "RETURN", "DEFAULT", "CHECK", "SUMMARIZE", "EXPLAIN", "IF", "TO", "DIV",
     "FILTER", "EXCLUDE", "REPLACE", "FIRST", "NEXT", "MATCHED", "WITHIN", "ONLY", "VERBOSE", "FULL"}
)  # fmt: skip
NO_FUNCTIONS = frozenset(
    """
    ABS AVG CAST CHAR COALESCE CONCAT COUNT DATE_TRUNC DECIMAL EXTRACT GENERATE_SERIES GREATEST LAG LEAD LEAST LENGTH
    LOWER MAX MIN NULLIF NUMERIC OVERLAY POSITION RANGE RANK READ_CSV READ_JSON READ_PARQUET ROUND ROW ROW_NUMBER
    SUBSTRING SUM TRIM TRY_CAST UPPER
    BUCKET DAY DAYS HOUR HOURS IDENTITY MONTH MONTHS TRUNCATE VOID YEAR YEARS
    COLUMNS CONFLICT CUBE EXCLUDE FILTER GROUPING GROUPS IF INTERVAL KEY MATERIALIZED ORDINALITY OPTIONS PARTITIONED
    PIVOT PROPERTIES RENAME REPLACE RETURNING ROLLUP ROWS SAMPLE SETS SORTED TABLESAMPLE UNPIVOT WITHIN
    """.split()
)
"""Words before brackets that no SQL function has as its name: most statements have no others."""
_AFTER_ROWS = frozenset(
    {"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "QUALIFY", "WINDOW", "TABLESAMPLE", "PIVOT",
     "UNPIVOT", "RETURNING", "WHEN", "SET", "ASOF", "POSITIONAL", "FOR", "WITH"}
)  # fmt: skip
_AFTER_CALL = frozenset({"OVER", "FILTER", "WITHIN", "IGNORE", "RESPECT"})
_NOT_ARGUMENTS = frozenset({"DISTINCT", "ALL", "*", "SELECT", "WITH"})
_VOLATILE = re.compile(
    r"\b\"?(?:rand|random|uuid|gen_random_uuid|uuidv4|uuidv7|newid|nextval)\"?\s*\(|"
    r"\.\s*\"?\w+\"?\s*\(|\b(?:limit|fetch|tablesample|sample)\b",
    re.IGNORECASE,
)
"""In an argument that must be computed once: functions that may return another value each time, functions of workers,
and queries that return any rows."""


class Found(Protocol):
    """An SQL function that a name means."""

    @property
    def key(self) -> tuple[str, ...]:
        """Identifies the function."""
        ...

    @property
    def forms(self) -> Sequence[FunctionForm]: ...


Find = Callable[[Name], Found | None]


class Call(NamedTuple):
    """A call among tokens: the indexes of its name, its bracket and its closing bracket."""

    first: int
    bracket: int
    close: int
    name: Name
    gives_rows: bool


def called_names(text: str, *, cached: bool = True) -> frozenset[Name]:
    """Returns the names that a text calls, without the most common functions; empty if it can't be read."""
    if "(" not in text:
        return frozenset()
    return _called_names(text) if cached and len(text) <= 10_000 else _called_names.__wrapped__(text)


@lru_cache(maxsize=512)
def _called_names(text: str) -> frozenset[Name]:
    try:
        tokens = tokenize(text)
        return frozenset(call.name for call in calls(tokens) if call.name.last.text.upper() not in NO_FUNCTIONS)
    except Fault:
        return frozenset()


def calls(tokens: Sequence[Token]) -> Iterator[Call]:
    """Yields the calls among tokens, outer calls before those in their arguments."""
    closes = _closes(tokens)
    places = Places()
    at = 0
    while at < len(tokens):
        end = _name_end(tokens, at)
        if end > at and end in closes and _may_call(tokens, at, closes[end], rows=places.rows):
            yield Call(at, end, closes[end], name_at(tokens, at, end), places.rows)
        for token in tokens[at : max(end, at + 1)]:
            places.see(token, is_name=end > at + 1)
        at = max(end, at + 1)


def _closes(tokens: Sequence[Token]) -> dict[int, int]:
    """The index of the closing bracket by that of the opening one, for round brackets."""
    stack: list[int] = []
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.word in _OPEN:
            stack.append(at)
        elif token.word in _CLOSE and stack:
            opened = stack.pop()
            if token.word == ")":
                found[opened] = at
    return found


def _name_end(tokens: Sequence[Token], at: int) -> int:
    """The end of the name before a bracket that starts here; `at` if there is none."""
    if tokens[at].kind not in ("word", "quoted") or (at and tokens[at - 1].word == "."):
        return at
    end = at + 1
    while end + 1 < len(tokens) and tokens[end].word == "." and tokens[end + 1].kind in ("word", "quoted"):
        end += 2
    return end if end < len(tokens) and tokens[end].word == "(" else at


def _may_call(tokens: Sequence[Token], at: int, close: int, *, rows: bool) -> bool:
    """Whether a name before a bracket can be a call: not the alias, table or CTE with columns in the brackets."""
    if tokens[at].word in RESERVED:
        return False
    after = [token.word for token in tokens[close + 1 : close + 3]]
    if after == ["AS", "("] or (after[:1] == ["AS"] and after[1:] in (["MATERIALIZED"], ["NOT"])):
        return rows
    if at == 0 or rows:
        return True
    before = tokens[at - 1]
    if before.kind == "word":
        return before.word in _BEFORE_CALL
    return before.kind == "symbol" and before.word not in _CLOSE


# --- functions as pieces of text --------------------------------------------------------------------------------------

Piece = str | int
"""Text, or the number of a parameter."""


@dataclass(frozen=True, slots=True)
class _Template:
    """A function with everything that it calls expanded."""

    pieces: tuple[Piece, ...]
    form: FunctionForm
    uses: dict[int, int]
    """How often each parameter is used."""
    in_query: frozenset[int]
    """The parameters that are used within a subquery."""
    words: frozenset[str]
    """The identifiers of the body, folded: tables, aliases and columns."""
    lambdas: bool
    """Whether the body has lambda expressions."""


class Expander:
    """Expands the calls of one statement. `find` returns the function that a name means, or None."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._templates: dict[tuple[str, ...], _Template] = {}
        self._chain: list[tuple[str, ...]] = []
        self._length = 0
        self.found: list[Found] = []
        """The functions that were called."""

    def edits(self, text: str) -> list[Edit]:
        """Returns the edits that replace all calls in a text."""
        tokens = tokenize(text)
        found = _Text(text, tokens)
        made: list[Edit] = []
        done = 0
        for call in found.calls.values():
            if call.first < done:
                continue
            pieces = self._call(found, call, None)
            if pieces is None:
                continue
            start, end = tokens[call.first].start, tokens[call.close].end
            written = "".join(piece for piece in pieces if isinstance(piece, str))
            self._length += len(written)
            self._check_length(self._length, call.name, Position.of(text, start))
            made.append(Edit(start, end, written))
            done = call.close
        return made and [*made, *_numbered(found, made)]

    def _call(self, text: _Text, call: Call, parameters: dict[str, int] | None) -> list[Piece] | None:
        """The text that replaces a call; None if it calls no SQL function."""
        name = call.name
        function = self._find(name)
        if function is None:
            return None
        position = Position.of(text.text, text.tokens[call.first].start) if parameters is None else None
        self.found.append(function)
        given, named = self._arguments(text, call, parameters, position)
        form = _chosen(name, function, len(given), named, position)
        if form.is_table != call.gives_rows:
            use = "in FROM, as a table" if form.is_table else "in an expression"
            raise InvalidArgument(f"{name} is a function of {'rows' if form.is_table else 'values'}: call it {use}")
        follows = text.tokens[call.close + 1].word if call.close + 1 < len(text.tokens) else ""
        if follows in _AFTER_CALL and not form.is_table:
            raise NotSupportedError(
                f"{follows} can't stand after {name}: an SQL function is an expression, so write {follows} after the "
                f"aggregate in it",
                position=position,
            )
        template = self._template(name, function, form)
        pieces = self._substituted(name, template, _by_number(form, given, named), position)
        if form.is_table:
            return [*pieces, *_alias(text.tokens, call)]
        return pieces

    def _arguments(
        self, text: _Text, call: Call, parameters: dict[str, int] | None, position: Position | None
    ) -> tuple[list[list[Piece]], dict[str, list[Piece]]]:
        given: list[list[Piece]] = []
        named: dict[str, list[Piece]] = {}
        for first, end in text.arguments(call):
            tokens = text.tokens[first:end]
            is_named = len(tokens) > 2 and tokens[0].kind in ("word", "quoted") and tokens[1].word in (":=", "=>")
            if not tokens or tokens[0].word in _NOT_ARGUMENTS:
                raise NotSupportedError(
                    f"{tokens[0].text if tokens else 'nothing'} can't be an argument of {call.name}: it takes "
                    f"expressions",
                    position=position,
                )
            pieces = self._pieces(text, first + 2 if is_named else first, end, parameters)
            if is_named:
                key = Part(tokens[0].text, tokens[0].kind == "quoted").exact
                if key in named:
                    raise InvalidArgument(f"{call.name} is given {key} twice", position=position)
                named[key] = pieces
            elif named:
                raise InvalidArgument(f"{call.name}: arguments without a name come first", position=position)
            else:
                given.append(pieces)
        return given, named

    def _pieces(self, text: _Text, first: int, end: int, parameters: dict[str, int] | None) -> list[Piece]:
        """The text of tokens with parameters and calls replaced."""
        found: list[Piece] = []
        tokens, at, done, length = text.tokens, first, text.tokens[first].start, 0
        while at < end:
            token, call = tokens[at], text.calls.get(at)
            replaced: list[Piece] | None = None
            last = at
            if call is not None:
                replaced, last = self._call(text, call, parameters), call.close
            elif parameters and (number := _parameter(tokens, at, parameters)) is not None:
                replaced = [number]
                if at + 2 < end and tokens[at + 1].word == "." and tokens[at + 2].kind in ("word", "quoted"):
                    replaced, last = [number, f"['{_field(tokens[at + 2])}']"], at + 2
            elif at in text.ordinals:
                replaced = [f"${text.ordinals[at]}"]
            if replaced is None:
                at += 1
                continue
            found += [text.text[done : token.start], *replaced]
            length += _length(replaced)
            self._check_length(length, None, None)
            at, done = last + 1, tokens[last].end
        found.append(text.text[done : tokens[end - 1].end])
        return found

    def _template(self, name: Name, function: Found, form: FunctionForm) -> _Template:
        key = (*function.key, str(form.most))
        if key in self._chain:
            raise NotSupportedError(
                f"function {name} calls itself: a function is expanded where it is called. Write WITH RECURSIVE."
            )
        if len(self._chain) >= DEEPEST:
            raise NotSupportedError(f"functions that call each other are nested more than {DEEPEST} deep at {name}")
        if key not in self._templates:
            self._chain.append(key)
            try:
                self._templates[key] = self._expanded(name, form)
            finally:
                self._chain.pop()
        return self._templates[key]

    def _expanded(self, name: Name, form: FunctionForm) -> _Template:
        text = body_of(name, form)
        parameters = {parameter.name.exact: at for at, parameter in enumerate(form.parameters)}
        pieces = self._pieces(text, 0, len(text.tokens), parameters)
        uses: dict[int, int] = {}
        in_query = set[int]()
        for piece, within in _within_queries(pieces, is_query=form.is_table):
            uses[piece] = uses.get(piece, 0) + 1
            in_query.update({piece} if within else ())
        texts = "".join(f" {piece} " for piece in pieces if isinstance(piece, str))
        tokens = tokenize(texts)
        words = frozenset(t.text.casefold() for t in tokens if t.kind in ("word", "quoted"))
        lambdas = any(t.word == "->" for t in tokens)
        return _Template(tuple(pieces), form, uses, frozenset(in_query), words, lambdas)

    def _substituted(
        self, name: Name, template: _Template, given: list[list[Piece]], position: Position | None
    ) -> list[Piece]:
        form = template.form
        cast: list[list[Piece]] = []
        for number, (parameter, argument) in enumerate(zip(form.parameters, given, strict=True)):
            texts = "".join(piece if isinstance(piece, str) else " p " for piece in argument)
            if template.uses.get(number, 0) > 1 and _VOLATILE.search(texts):
                raise NotSupportedError(
                    f"the argument {parameter.name} of {name} is used more than once in it and may have another value "
                    f"each time: compute it in a subquery first, FROM (SELECT … AS x) AS t",
                    position=position,
                )
            if number in template.in_query or template.lambdas:
                _check_capture(name, parameter.name, texts, template, number in template.in_query, position)
            inner: list[Piece] = argument if _is_plain(argument) else ["(", *argument, ")"]
            cast.append(["CAST(", *inner, f" AS {parameter.type})"] if parameter.type else inner)
        lengths = [_length(pieces) for pieces in cast]
        total = sum(len(piece) if isinstance(piece, str) else lengths[piece] for piece in template.pieces)
        self._check_length(total, name, position)
        body: list[Piece] = []
        for piece in template.pieces:
            if isinstance(piece, str):
                body.append(piece)
            else:
                body += cast[piece]
        if form.returns:
            return ["CAST((", *body, f") AS {form.returns})"]
        return ["(", *body, ")"]

    def _check_length(self, length: int, name: Name | None, position: Position | None) -> None:
        if length > MOST_CHARACTERS:
            what = f"the call of {name}" if name is not None else "a call"
            raise NotSupportedError(
                f"{what} is longer than {MOST_CHARACTERS:,} characters when functions are replaced by their bodies: "
                f"use each argument fewer times, or keep what is computed in a table",
                position=position,
            )


class _Text:
    """A text with its tokens and calls."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.calls = {call.first: call for call in calls(tokens)}
        marks = [at for at, token in enumerate(tokens) if _is_mark(token)]
        self.ordinals = {at: number for number, at in enumerate(marks, 1)}
        """The number of each ?, by its index."""

    def arguments(self, call: Call) -> list[tuple[int, int]]:
        """The first and the end of each argument, as indexes."""
        found: list[tuple[int, int]] = []
        depth, first = 0, call.bracket + 1
        for at in range(first, call.close):
            word = self.tokens[at].word
            depth += (word in _OPEN) - (word in _CLOSE)
            if depth == 0 and word == ",":
                found.append((first, at))
                first = at + 1
        return found if call.close == call.bracket + 1 else [*found, (first, call.close)]


def body_of(name: Name, form: FunctionForm) -> _Text:
    """Returns the body of a function, whose text must be one expression or one query."""
    try:
        tokens = tokenize(form.body)
        check_brackets(tokens)
    except Fault as fault:
        raise ParseError(f"the body of function {name} can't be read: {fault.message}") from fault
    if not tokens or any(token.word == ";" for token in tokens):
        raise ParseError(f"the body of function {name} is not one expression")
    if any(token.kind == "parameter" for token in tokens):
        raise NotSupportedError(f"the body of function {name} can't have parameters of a statement: use its own names")
    return _Text(form.body, tokens)


def parameter_tokens(form: FunctionForm, name: Name) -> list[Token]:
    """Returns the tokens of the body that mean a parameter."""
    text = body_of(name, form)
    parameters = {parameter.name.exact: at for at, parameter in enumerate(form.parameters)}
    return [t for at, t in enumerate(text.tokens) if _parameter(text.tokens, at, parameters) is not None]


def _parameter(tokens: Sequence[Token], at: int, parameters: dict[str, int]) -> int | None:
    """The number of the parameter that a token means. A name after a dot, before a bracket, or of an argument is
    another one."""
    token = tokens[at]
    if token.kind not in ("word", "quoted"):
        return None
    number = parameters.get(token.text if token.kind == "quoted" else token.text.lower())
    if number is None or (at and tokens[at - 1].word == "."):
        return None
    follows = tokens[at + 1].word if at + 1 < len(tokens) else ""
    return None if follows in ("(", ":=", "=>", ":") else number


def _field(token: Token) -> str:
    """The name of a field of a parameter that is a struct."""
    return Part(token.text, token.kind == "quoted").exact.replace("'", "''")


def _within_queries(pieces: Sequence[Piece], *, is_query: bool) -> Iterator[tuple[int, bool]]:
    """Yields each parameter, and whether it is within a query."""
    opened: list[bool] = []
    pending = False
    for piece in pieces:
        if isinstance(piece, int):
            pending = False
            yield piece, is_query or any(opened)
            continue
        for token in tokenize(piece):
            if pending and token.word in _QUERIES:
                opened[-1] = True
            pending = token.word == "("
            if token.word in _OPEN:
                opened.append(False)
            elif token.word in _CLOSE and opened:
                opened.pop()


def _check_capture(
    name: Name, parameter: Part, text: str, template: _Template, in_query: bool, position: Position | None
) -> None:
    """An error if a column of the caller could mean a column of the function: such as `id` in `(SELECT … FROM t WHERE
    t.id = p)`."""
    for qualifier, column in _columns(text):
        first = qualifier or column
        if first.casefold() in template.words or (in_query and not qualifier):
            raise NotSupportedError(
                f"{column or 'a column'} as the argument {parameter} of {name} could mean a column within the "
                f"function: write it with an alias of its table that the function does not use, FROM t AS x … "
                f"x.{column or 'a'}",
                position=position,
            )


def _columns(text: str) -> list[tuple[str, str]]:
    """The columns of an expression, each with the first part of its name; an unknown one if it can't be read."""
    from sqlglot import expressions as exp

    from pinakes.parser import dialect

    try:
        tree = dialect.parse(tokenize(f"SELECT {text}"), text)
    except Fault:
        return [("", "")]
    found = []
    for column in tree.find_all(exp.Column):
        parts = [part.name for part in column.parts]
        if parts != ["p"] or " p " not in text:
            found.append((parts[0] if len(parts) > 1 else "", parts[-1]))
    return found


def _chosen(
    name: Name, function: Found, given: int, named: dict[str, list[Piece]], position: Position | None
) -> FunctionForm:
    for form in function.forms:
        names = [parameter.name.exact for parameter in form.parameters]
        free = names[given:]
        required = {p.name.exact for p in form.parameters[given:] if p.default is None}
        if given <= len(names) and set(named) <= set(free) and required <= set(named):
            return form
    signatures = " or ".join(signature(str(name), form) for form in function.forms)
    count = given + len(named)
    raise InvalidArgument(
        f"{signatures} can't be called with {count} argument{'s' * (count != 1)}"
        + (f", {', '.join(named)} by name" if named else ""),
        position=position,
    )


def signature(name: str, form: FunctionForm) -> str:
    """Returns how a function is called: `f(a, [b])`."""
    shown = [f"[{p.name}]" if p.default is not None else str(p.name) for p in form.parameters]
    return f"{name}({', '.join(shown)})"


def _by_number(form: FunctionForm, given: list[list[Piece]], named: dict[str, list[Piece]]) -> list[list[Piece]]:
    found = [*given]
    for parameter in form.parameters[len(given) :]:
        argument = named.get(parameter.name.exact)
        found.append(argument if argument is not None else [parameter.default or "NULL"])
    return found


def _alias(tokens: Sequence[Token], call: Call) -> list[Piece]:
    """The name of the function as an alias of its rows, unless one follows."""
    token = tokens[call.close + 1] if call.close + 1 < len(tokens) else None
    is_alias = token is not None and (
        token.kind == "quoted"
        or token.word == "AS"
        or (token.kind == "word" and token.word not in RESERVED and token.word not in _AFTER_ROWS)
    )
    return [] if is_alias else [f" AS {quote(call.name.last.exact)}"]


def _numbered(text: _Text, made: Sequence[Edit]) -> Iterator[Edit]:
    """Numbers for the ? outside of calls, since those within may now occur several times."""
    edits = iter(made)
    edit = next(edits, None)
    for at, number in text.ordinals.items():
        token = text.tokens[at]
        while edit is not None and edit.end <= token.start:
            edit = next(edits, None)
        if edit is None or token.start < edit.start:
            yield Edit(token.start, token.end, f"${number}")


def _is_mark(token: Token) -> bool:
    return token.kind == "parameter" and token.text == "?"


def _is_plain(pieces: Sequence[Piece]) -> bool:
    """Whether an argument needs no brackets: a parameter, which gets them, or a number or a string."""
    return len(pieces) == 1 and (isinstance(pieces[0], int) or re.fullmatch(r"[0-9]+|'[^']*'", pieces[0]) is not None)


def _length(pieces: Sequence[Piece]) -> int:
    return sum(len(piece) if isinstance(piece, str) else 1 for piece in pieces)
