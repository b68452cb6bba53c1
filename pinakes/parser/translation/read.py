"""Reads a text of another dialect: tokens of our lexer, then the tree of sqlglot's parser of that dialect.

The parsers keep each call of a function as it is written: sqlglot's own conversion of functions is not used, since it
does not keep all differences of meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import expressions as exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.trino import Trino
from sqlglot.errors import ParseError as SqlglotError
from sqlglot.tokenizer_core import Token as SqlglotToken
from sqlglot.tokenizer_core import TokenType

from pinakes.parser.dialect import PLAIN_TYPES, check_size, message_of
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.parameters import join_named

_MARK = "\x01"
"""Starts the name of a call, so that sqlglot's parser does not know the function and keeps the call as it is."""
_CALLED = frozenset("FILTER REPLACE LEFT RIGHT FIRST FORMAT LIST RANGE SEQUENCE DATE UUID JSON TRUNCATE".split())
"""Keywords that are functions before a bracket."""
_SYNTAX = ("CAST", "TRY_CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
"""Functions with words between their arguments."""
_DEEPEST = 400
"""Levels of a tree: sqlglot prints it with a recursion that no check ends."""


def _as_written(self: Dialect, path: exp.Expr | None) -> exp.Expr | None:
    return path


class TrinoText(Trino):
    """Trino's SQL, with indexes and paths as they are written."""

    INDEX_OFFSET = 0
    to_json_path = _as_written


class DuckText(DuckDB):
    """DuckDB's SQL, with indexes and paths as they are written."""

    INDEX_OFFSET = 0
    to_json_path = _as_written


class SparkText(Spark):
    """Spark's SQL, with indexes and paths as they are written."""

    INDEX_OFFSET = 0
    to_json_path = _as_written


class _Words:
    """The words and symbols of a dialect's tokens, as those of `dialect.py`."""

    def __init__(self, dialect: Dialect) -> None:
        tokenizer = dialect.tokenizer_class
        keywords = tokenizer.KEYWORDS
        self.parser = dialect
        functions = {*dialect.parser_class.FUNCTIONS, *dialect.parser_class.FUNCTION_PARSERS}.difference(_SYNTAX)
        self.words = {w: t for w, t in keywords.items() if w.isidentifier() and t not in PLAIN_TYPES}
        self.functions = frozenset(f for f in functions if f in _CALLED or f not in self.words)
        self.types = frozenset(w for w, t in self.words.items() if t in dialect.parser_class.TYPE_TOKENS)
        self.symbols = {
            **{s: t for s, t in keywords.items() if not s[0].isalpha()},
            **tokenizer.SINGLE_TOKENS,
            "==": TokenType.EQ,
        }
        self.pairs: dict[str, dict[str, TokenType]] = {}
        for keyword, kind in keywords.items():
            if keyword.count(" ") == 1 and keyword[0].isalpha():
                first, second = keyword.split(" ")
                self.pairs.setdefault(first, {})[second] = kind


_DIALECTS: dict[str, type[Dialect]] = {"trino": TrinoText, "duckdb": DuckText, "spark": SparkText}
_WORDS: dict[str, _Words] = {}


def words_of(dialect: str) -> _Words:
    if dialect not in _WORDS:
        _WORDS[dialect] = _Words(_DIALECTS[dialect]())
    return _WORDS[dialect]


# --- tokens ------------------------------------------------------------------------------------------------------

_SPARK = re.compile(
    r"""(--[^\n]*)|(/\*)|(`(?:[^`]|``)*+`)|([rR]?)('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")|('|")""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([0-3][0-7]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "Z": "\x1a", "0": "\0", "%": "\\%", "_": "\\_"}


def tokens_of(text: str, dialect: str) -> list[Token]:
    """Returns the tokens of a text, which have the offsets of this text."""
    return join_named(_spark_tokens(text) if dialect == "spark" else tokenize(text))


def _spark_tokens(text: str) -> list[Token]:
    """Reads strings in single and double quotes with backslashes: our lexer sees plain ones of the same length."""
    pieces, values, at = list[str](), dict[int, str](), 0
    while (found := _SPARK.search(text, at)) is not None:
        line, block, name, raw, string, open_ = found.groups()
        pieces.append(text[at : found.start()])
        at = found.end()
        if open_:
            raise Fault("this string is never closed", found.start())
        if block:
            at = text.find("*/", at) + 2
            if at < 2:
                raise Fault("this comment is never closed: */ is missing", found.start())
            pieces.append(" " * (at - found.start()))
        elif string:
            start = found.start(5)
            if raw:
                raise Fault(
                    "strings r'…' are not translated: write the string with backslashes",
                    found.start(),
                    unsupported=True,
                )
            if start and text[start - 1] in "eEnNbBuU&" and (start < 2 or not text[start - 2].isalnum()):
                raise Fault("strings with such a letter before them are not translated", start - 1, unsupported=True)
            body = string[1:-1]
            if start and text[start - 1] in "xX":
                pieces.append(string)
            else:
                values[start] = _ESCAPE.sub(_unescape, body)
                pieces.append("'" + "s" * len(body) + "'")
        else:
            pieces.append(" " * len(line) if line else name)
    pieces.append(text[at:])
    tokens = list[Token]()
    for token in tokenize("".join(pieces)):
        if token.kind == "quoted" and text[token.start] == '"':
            raise Fault("this string is never closed", token.start)
        before = tokens[-1] if tokens else None
        if before is not None and before.kind == "number" and token.kind == "word" and token.start == before.end:
            if token.word != "L":
                raise Fault(
                    f"numbers such as {before.text}{token.text} are not translated: write CAST",
                    before.start,
                    unsupported=True,
                )
            tokens[-1] = before._replace(end=token.end)
            continue
        tokens.append(token._replace(text=values.get(token.start, token.text)))
    return tokens


def _unescape(found: re.Match[str]) -> str:
    code, octal, char = found.groups()
    if code or octal:
        number = int(code, 16) if code else int(octal, 8)
        return chr(number) if not 0xD800 <= number <= 0xDFFF else "\N{REPLACEMENT CHARACTER}"
    return _ESCAPED.get(char, char)


# --- trees -------------------------------------------------------------------------------------------------------


def parse(tokens: Sequence[Token], text: str, dialect: str) -> exp.Expr:
    """Returns the tree of a statement or query. Raises a Fault at the position where sqlglot stopped."""
    words = words_of(dialect)
    check_size(tokens, words.types)
    try:
        trees = words.parser.parser().parse(_converted(tokens, text, words), text)
    except SqlglotError as error:
        details = error.errors[0] if error.errors else {}
        raise Fault(
            message_of(str(details.get("description", ""))), int(details.get("col") or tokens[0].start)
        ) from error
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise Fault("this statement can't be read", tokens[0].start) from error
    if len(trees) != 1 or trees[0] is None:
        raise Fault("expected one statement", tokens[0].start)
    _check_depth(trees[0], tokens[0].start)
    for node in trees[0].walk():
        if isinstance(node, exp.Anonymous | exp.Identifier) and isinstance(node.this, str):
            node.set("this", node.this.removeprefix(_MARK))
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            start = node.this.meta.get("start", 0)
            if text[start : start + 1] in _QUOTES[dialect]:  # FROM 'a.parquet'
                node.set("this", exp.Literal.string(node.this.name))
    return trees[0]


def _check_depth(tree: exp.Expr, start: int) -> None:
    level, depth = [tree], 0
    while level:
        level = [child for node in level for child in node.iter_expressions()]
        depth += 1
        if depth > _DEEPEST:
            raise Fault(
                f"this statement is nested more than {_DEEPEST} levels deep, which is not translated: "
                "SET dialect = 'pinakes'",
                start,
                unsupported=True,
            )


def _converted(tokens: Sequence[Token], text: str, words: _Words) -> list[SqlglotToken]:
    """Converts tokens to sqlglot's; `col` is the offset. Each `?` gets its number, since arguments may be moved."""
    made, marks = list[SqlglotToken](), 0
    pending: dict[str, TokenType] | None = None
    for at, (kind, value, word, start, end) in enumerate(tokens):
        if value[:1] == _MARK and kind == "quoted":
            raise Fault("a name can't start with the character U+0001", start)
        if word == "[" and at and tokens[at - 1].word == "IN":  # sqlglot reads it as IN (…), which NULLs differ for
            raise Fault("IN […] is not translated: write list_contains(list, x)", start, unsupported=True)
        is_function = word in words.functions or (kind == "quoted" and value.upper() in words.functions)
        if is_function and _is_call(tokens, at):
            made.append(SqlglotToken(_NAME[kind == "quoted"], _MARK + value, 1, start, start, end - 1))
            pending = None
            continue
        if kind == "word" and pending is not None and word in pending:
            first = made.pop()
            made.append(SqlglotToken(pending[word], f"{first.text} {value}", 1, first.start, first.start, end - 1))
            pending = None
            continue
        pending = words.pairs.get(word) if kind == "word" else None
        if kind == "word":
            found = words.words.get(word, TokenType.VAR)
        elif kind == "symbol":
            found = words.symbols.get(word, TokenType.UNKNOWN)
        elif kind == "parameter":
            marks += value == "?"
            value, found = f"${marks}" if value == "?" else f"${value[1:]}", TokenType.VAR
        elif kind == "string":
            found, value = _string(text, value, start)
            if at and tokens[at - 1].word == "DECIMAL" and _DECIMAL.fullmatch(value):  # DECIMAL '1.50'
                made.pop()
                found, value = TokenType.NUMBER, value if "." in value else f"{value}."
        else:
            found = TokenType.IDENTIFIER if kind == "quoted" else TokenType.NUMBER
        made.append(SqlglotToken(found, value, 1, start, start, end - 1))
    return made


_QUOTES = {"trino": "'", "duckdb": "'", "spark": "'\""}
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_NAME = {True: TokenType.IDENTIFIER, False: TokenType.VAR}


def _is_call(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether a name is called: not in FILTER (WHERE …) and * REPLACE (…)."""
    word = tokens[at].word
    after = [token.word for token in tokens[at + 1 : at + 3]]
    if after[:1] != ["("] or (word == "FILTER" and after[1:] == ["WHERE"]):
        return False
    before = [token.word for token in tokens[max(at - 2, 0) : at]]
    is_star = before[-1:] == ["*"] and before[0] in ("SELECT", ",", ".", "DISTINCT", "ALL", "(")
    return word != "REPLACE" or not (is_star or before[-1:] == [")"])


def _string(text: str, value: str, start: int) -> tuple[TokenType, str]:
    mark = text[start].upper()
    if mark == "X":
        return TokenType.HEX_STRING, value
    if mark in "UNBR":
        raise Fault(f"strings {text[start]}'…' are not translated: write a plain string", start, unsupported=True)
    return TokenType.STRING, value
