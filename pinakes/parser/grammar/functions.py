"""CREATE FUNCTION and CREATE MACRO, in the forms of the SQL standard, PostgreSQL, DuckDB, Trino and Spark, and DROP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pinakes.parser.brackets import check_brackets
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.grammar.query import STARTS
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.statements import CreateFunction, DropFunction, FunctionForm, FunctionParameter, Span
from pinakes.parser.types import read_type

_DEFAULTS = ("DEFAULT", "=", ":=")
_IGNORED = (
    ("IMMUTABLE",),
    ("STABLE",),
    ("VOLATILE",),
    ("DETERMINISTIC",),
    ("NOT", "DETERMINISTIC"),
    ("CALLED", "ON", "NULL", "INPUT"),
    ("CONTAINS", "SQL"),
    ("READS", "SQL", "DATA"),
    ("SECURITY", "INVOKER"),
    ("PARALLEL", "SAFE"),
    ("PARALLEL", "RESTRICTED"),
    ("PARALLEL", "UNSAFE"),
)
"""Clauses of other systems that change no result here: the body of a function becomes part of the query."""
_CLAUSES = frozenset(
    "FROM WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT WINDOW QUALIFY AS".split()
)
MOST_PARAMETERS = 100


class _Clauses:
    """The clauses that may stand on either side of the body."""

    returns: str | None = None
    comment: str | None = None
    is_sql: bool = False


class _Body(NamedTuple):
    text: str
    is_table: bool = False


def create_function(cursor: Cursor, or_replace: bool, temporary: bool) -> CreateFunction:
    """CREATE [OR REPLACE] [TEMP] FUNCTION | MACRO [IF NOT EXISTS] name form [, form]"""
    is_macro = cursor.expect_one("FUNCTION", "MACRO") == "MACRO"
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    start = cursor.peek()
    name = cursor.name("a name for the function")
    if name.is_path:
        raise Fault("the name of a function can't be a path", start.start)
    forms = [_form(cursor, is_macro)]
    while cursor.accept(","):
        forms.append(_form(cursor, is_macro))
    cursor.done()
    return CreateFunction(
        text=cursor.text,
        shown=cursor.shown,
        name=name,
        forms=tuple(forms),
        temporary=temporary,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
    )


def drop_function(cursor: Cursor, temporary: bool) -> DropFunction:
    """DROP [TEMP] FUNCTION | MACRO [TABLE] [IF EXISTS] name [(types)] [CASCADE | RESTRICT]"""
    if cursor.expect_one("FUNCTION", "MACRO") == "MACRO":
        cursor.accept("TABLE")
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name("the name of a function")
    arguments: int | None = None
    if cursor.word == "(":
        arguments = 0 if cursor.accept("(", ")") else len(cursor.listed(_parameter))
    if cursor.word == ",":
        raise cursor.unsupported("one DROP drops one thing: write a statement for each")
    cursor.accept_one("CASCADE", "RESTRICT")
    cursor.done()
    return DropFunction(
        text=cursor.text, shown=cursor.shown, name=name, arguments=arguments, temporary=temporary, if_exists=if_exists
    )


def _form(cursor: Cursor, is_macro: bool) -> FunctionForm:
    """(parameters) [RETURNS type] [clauses] RETURN expression | AS expression | AS TABLE query | AS $$ SELECT … $$"""
    first = cursor.peek()
    parameters = () if cursor.accept("(", ")") else cursor.listed(_parameter)
    _check_parameters(parameters, first)
    clauses = _Clauses()
    while _clause(cursor, clauses):
        pass
    body = _body(cursor, clauses, is_macro)
    if clauses.returns is not None and body.is_table:
        raise cursor.unsupported("RETURNS is not supported for functions of rows: their columns are those of the query")
    return FunctionForm(parameters, body.text, clauses.returns, body.is_table, clauses.comment)


def _check_parameters(parameters: Sequence[FunctionParameter], first: Token) -> None:
    names = [parameter.name.exact for parameter in parameters]
    if len(names) > MOST_PARAMETERS:
        raise Fault(f"a function can't have more than {MOST_PARAMETERS} parameters", first.start)
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise Fault(f"the parameter {twice} is there twice", first.start)
    optional = [parameter.default is not None for parameter in parameters]
    if optional != sorted(optional):
        raise Fault("parameters after one with a default need a default, too", first.start)


def _parameter(cursor: Cursor) -> FunctionParameter:
    """[IN] name [type] [DEFAULT | = | := expression]"""
    if cursor.word in ("OUT", "INOUT", "VARIADIC") and cursor.peek(1).kind in ("word", "quoted"):
        raise cursor.unsupported(f"{cursor.word} parameters are not supported: a function has one result")
    if cursor.word == "IN" and cursor.peek(1).kind in ("word", "quoted"):
        cursor.take()
    name = cursor.part("the name of a parameter")
    kind: str | None = None
    if cursor.word not in (",", ")", *_DEFAULTS):
        first = cursor.at
        read_type(cursor)
        kind = cursor.span_from(first).of(cursor.text)
    default = None
    if cursor.accept_one(*_DEFAULTS):
        default = cursor.until(",", what="a value").of(cursor.text)
    return FunctionParameter(name, kind, default)


def _clause(cursor: Cursor, into: _Clauses) -> bool:
    """Parses a clause before or after the body; returns False if there is none."""
    if cursor.sees("RETURNS", "NULL", "ON") or cursor.sees("STRICT"):
        raise cursor.unsupported(
            "STRICT and RETURNS NULL ON NULL INPUT are not supported: write CASE WHEN x IS NOT NULL THEN … END"
        )
    if cursor.accept("RETURNS"):
        if cursor.word in ("TABLE", "SETOF"):
            raise cursor.unsupported(
                f"RETURNS {cursor.word} is not supported: write CREATE FUNCTION f(a) AS TABLE SELECT …"
            )
        first = cursor.at
        read_type(cursor)
        into.returns = cursor.span_from(first).of(cursor.text)
        return True
    if cursor.accept("COMMENT"):
        into.comment = cursor.string("a comment in single quotes")
        return True
    if cursor.accept("LANGUAGE"):
        token = cursor.take()
        if token.text.upper() != "SQL":
            raise Fault("functions are written in SQL: LANGUAGE sql", token.start, unsupported=True)
        into.is_sql = True
        return True
    if cursor.sees("SECURITY", "DEFINER"):
        raise cursor.unsupported("SECURITY DEFINER is not supported: a function reads with the rights of its caller")
    return any(cursor.accept(*words) for words in _IGNORED)


def _body(cursor: Cursor, clauses: _Clauses, is_macro: bool) -> _Body:
    if cursor.sees("BEGIN") or cursor.sees("RETURN", "BEGIN"):
        raise cursor.unsupported("BEGIN … END is not supported: a function is one expression, RETURN a + b")
    if cursor.accept("RETURN"):
        return _Body(_expression(cursor).of(cursor.text))
    cursor.expect("AS")
    if cursor.sees("TABLE"):
        cursor.take()
        if cursor.word not in STARTS:
            raise cursor.fault("expected a query after AS TABLE")
        first = cursor.at
        if cursor.word == "(":
            cursor.skip_group()
        if not cursor.sees(",", "("):  # else another form follows
            cursor.at = len(cursor.tokens)
        return _Body(cursor.span_from(first).of(cursor.text), is_table=True)
    token = cursor.peek()
    if token.kind == "string" and not is_macro and _is_whole_body(cursor, clauses):
        cursor.take()
        while _clause(cursor, clauses):
            pass
        return _Body(_quoted(token))
    return _Body(_expression(cursor).of(cursor.text))


def _is_whole_body(cursor: Cursor, clauses: _Clauses) -> bool:
    """Whether the string here is a body in quotes, as PostgreSQL has it, not an expression, as DuckDB has it."""
    follows = cursor.peek(1)
    is_last = follows.kind == "end" or follows.kind == "word"
    return is_last and (clauses.is_sql or clauses.returns is not None or follows.kind == "word")


def _expression(cursor: Cursor) -> Span:
    """Up to the comma before another form, or to the end."""
    return cursor.until(",", what="an expression")


def _quoted(token: Token) -> str:
    """The expression of a body in quotes: SELECT expression, or a query that returns one value."""
    try:
        tokens = tokenize(token.text)
        while tokens and tokens[-1].word == ";":
            tokens.pop()
        check_brackets(tokens)
    except Fault as fault:
        raise Fault(f"in the body: {fault.message}", token.start) from None
    if not tokens or tokens[0].word not in ("SELECT", "WITH", "VALUES"):
        raise Fault("the body of a function is SELECT and an expression", token.start, unsupported=True)
    if any(t.word == ";" for t in tokens):
        raise Fault("the body of a function is one query", token.start, unsupported=True)
    depth, clauses = 0, False
    for t in tokens:
        depth += (t.word in ("(", "[", "{")) - (t.word in (")", "]", "}"))
        clauses = clauses or (depth == 0 and (t.word in _CLAUSES or t.word == ","))
    text = token.text[tokens[0].start : tokens[-1].end]
    if tokens[0].word == "SELECT" and len(tokens) > 1 and not clauses and tokens[1].word not in ("DISTINCT", "ALL"):
        return text[tokens[1].start - tokens[0].start :]
    return f"({text})"


def definition(name: str, form: FunctionForm) -> str:
    """Returns the statement that creates a form of a function."""
    parameters = ", ".join(
        " ".join(
            [str(p.name), *([p.type] if p.type else []), *([f"DEFAULT {p.default}"] if p.default is not None else [])]
        )
        for p in form.parameters
    )
    head = f"CREATE FUNCTION {name}({parameters})"
    if form.returns is not None:
        head += f" RETURNS {form.returns}"
    if form.comment is not None:
        comment = form.comment.replace("'", "''")
        head += f" COMMENT '{comment}'"
    return f"{head} AS TABLE {form.body}" if form.is_table else f"{head} RETURN {form.body}"
