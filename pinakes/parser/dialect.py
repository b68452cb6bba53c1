"""The only interface to sqlglot: converts tokens to its syntax tree, which serves to locate names and is never
printed.

The dialect is a subclass, so it inherits the syntax of sqlglot's own parser. As nothing is generated from the tree,
operators with another meaning in sqlglot are passed as any operator of the same precedence. Importing sqlglot costs as
much as importing DataFusion: `locate.py` does it at the first query that has a FROM.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import expressions as exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError as SqlglotError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token as SqlglotToken
from sqlglot.tokenizer_core import TokenType
from sqlglot.tokens import Tokenizer

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token


class Pinakes(Dialect):
    """DataFusion's SQL, as far as sqlglot supports it."""

    SUPPORTS_ORDER_BY_ALL = True
    STRICT_JSON_PATH_SYNTAX = False  # sqlglot would log paths that it can't read


MOST_QUERIES = 5000
MOST_BARE_JOINS = 12
MOST_NESTED_TYPES = 10

_DIALECT = Pinakes()

# Words that start a command in other dialects are plain names within a query.
PLAIN_TYPES = frozenset(
    {
        TokenType.ALTER,
        TokenType.CACHE,
        TokenType.COMMAND,
        TokenType.COMMENT,
        TokenType.CREATE,
        TokenType.DROP,
        TokenType.EXECUTE,
        TokenType.GRANT,
        TokenType.KILL,
        TokenType.LOAD,
        TokenType.REVOKE,
        TokenType.SHOW,
        TokenType.TRUNCATE,
        TokenType.UNCACHE,
    }
)
_WORDS = {w: t for w, t in Tokenizer.KEYWORDS.items() if w.isidentifier() and t not in PLAIN_TYPES}
_TYPES = frozenset(w for w, t in _WORDS.items() if t in Parser.TYPE_TOKENS)
_SYMBOLS = {
    **{s: t for s, t in Tokenizer.KEYWORDS.items() if not s[0].isalpha()},
    **Tokenizer.SINGLE_TOKENS,
    **dict.fromkeys(("~", "!~", "!~~", "!~*", "!~~*"), TokenType.RLIKE),
    "@>": TokenType.AT_GT,
    "<@": TokenType.LT_AT,
    "**": TokenType.CARET,
    "//": TokenType.SLASH,
    "#": TokenType.CARET,
}
_PAIRS: dict[str, dict[str, TokenType]] = {}
for _keyword, _type in Tokenizer.KEYWORDS.items():
    if " " in _keyword:
        _first, _second = _keyword.split(" ")
        _PAIRS.setdefault(_first, {})[_second] = _type
_KINDS = {
    "quoted": TokenType.IDENTIFIER,
    "string": TokenType.STRING,
    "number": TokenType.NUMBER,
    "parameter": TokenType.PLACEHOLDER,
}


def parse(tokens: Sequence[Token], text: str) -> exp.Expr:
    """Parses one statement. Raises a Fault at the position where sqlglot stopped."""
    check_size(tokens)
    try:
        trees = _DIALECT.parser().parse(converted(tokens), text)
    except SqlglotError as error:
        details = error.errors[0] if error.errors else {}
        raise Fault(message_of(str(details.get("description", ""))), int(details.get("col") or 0)) from error
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise Fault("this statement can't be read", tokens[0].start if tokens else 0) from error
    if len(trees) != 1 or trees[0] is None:
        raise Fault("expected one statement", tokens[0].start if tokens else 0)
    return trees[0]


def converted(tokens: Sequence[Token]) -> list[SqlglotToken]:
    """Converts tokens to sqlglot's. `col` carries the offset, so that errors have the position in the text."""
    made: list[SqlglotToken] = []
    pending: dict[str, TokenType] | None = None
    for kind, text, word, start, end in tokens:
        if kind == "word":
            if pending is not None and word in pending:
                first = made.pop()
                made.append(SqlglotToken(pending[word], f"{first.text} {text}", 1, first.start, first.start, end - 1))
                pending = None
                continue
            pending = _PAIRS.get(word)
            token_type = _WORDS.get(word, TokenType.VAR)
        else:
            pending = None
            token_type = _SYMBOLS.get(word, TokenType.UNKNOWN) if kind == "symbol" else _KINDS[kind]
        made.append(SqlglotToken(token_type, text, 1, start, start, end - 1))
    return made


def check_size(tokens: Sequence[Token], types: frozenset[str] | None = None) -> None:
    """Rejects statements that would crash sqlglot's parser or make it run without end.

    It recurses for each FROM and SELECT without a check: some 8,000 overflow the stack. It tries every assignment of
    the ONs to the JOINs: each JOIN without one doubles the time. So does a bracket after the name of a type, which may
    be a type or a function, within another such bracket.
    """
    words = [t.word for t in tokens]
    if len(words) > MOST_QUERIES and words.count("SELECT") + words.count("FROM") > MOST_QUERIES:
        raise Fault(f"a statement can't have more than {MOST_QUERIES} SELECT and FROM", tokens[0].start)
    joins = words.count("JOIN") - words.count("CROSS") - words.count("ON") - words.count("USING")
    if joins > MOST_BARE_JOINS:
        raise Fault("a JOIN needs ON or USING", tokens[words.index("JOIN")].start)
    types = _TYPES if types is None else types
    if len([w for w in words if w in types]) > MOST_NESTED_TYPES:
        _check_nested_types(tokens, words, types)


def _check_nested_types(tokens: Sequence[Token], words: Sequence[str], types: frozenset[str]) -> None:
    opened: list[bool] = []
    for at, word in enumerate(words):
        if word in ("(", "["):
            opened.append(at > 0 and words[at - 1] in types)
            if opened[-1] and sum(opened) > MOST_NESTED_TYPES:
                raise Fault(f"types are nested more than {MOST_NESTED_TYPES} deep", tokens[at].start)
        elif word in (")", "]") and opened:
            opened.pop()


def message_of(description: str) -> str:
    """Rewrites sqlglot's message, without its repr of a token, which contains the user's text."""
    if description.startswith("Required keyword"):
        return "an expression is missing here"
    if description.startswith("Invalid expression") or not description:
        return "this can't stand here"
    message = description.split(" but got ")[0].split(", got ")[0].split("<")[0].rstrip(". ")
    return message[:1].lower() + message[1:]
