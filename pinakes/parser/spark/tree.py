"""Parses planned text for translation; calls stay calls.

sqlglot has a class for many functions and gives each the meaning of some dialect. Here every call must keep its
DataFusion name, since our own table (`functions.py`) decides the translation: so calls are parsed under names that
sqlglot doesn't know.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import expressions as exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError as SqlglotError

from pinakes.core.errors import NotSupportedError
from pinakes.parser.dialect import converted
from pinakes.parser.lexer import Token, tokenize

CALL = "call$"
"""The prefix of call names in the tree."""


class Plain(Dialect):
    """NULL is larger than all values, as in DataFusion; sqlglot writes NULLS FIRST and LAST where Spark differs."""

    NULL_ORDERING = "nulls_are_large"


_DIALECT = Plain()

_SYMBOLS = frozenset("( ) , . + - * / % = <> != < > <= >= || :: ; ~".split())
"""Operators with the same meaning and precedence in sqlglot and DataFusion."""
_READ_BY_SQLGLOT = frozenset("CAST TRY_CAST EXTRACT SUBSTRING TRIM POSITION".split())
_NO_CALLS = frozenset(
    "ALL AND ANY AS BETWEEN BY CASE CUBE DISTINCT ELSE END ESCAPE EXCEPT EXCLUDE EXISTS FILTER FROM GROUP HAVING ILIKE "
    "IN INTERSECT INTERVAL IS JOIN LATERAL LIKE LIMIT NOT NULL OFFSET ON OR ORDER OVER PARTITION QUALIFY RECURSIVE "
    "ROLLUP ROW ROWS SELECT SETS SOME TABLE THEN UNION USING VALUES WHEN WHERE WINDOW WITH WITHIN "
    "DECIMAL NUMERIC DEC VARCHAR CHAR CHARACTER TIMESTAMP TIME FLOAT TEXT STRING INT BIGINT SMALLINT TINYINT "
    "DOUBLE".split()
)
"""Words before a bracket that are not calls."""


def read(text: str) -> exp.Expr:
    """Parses a query. Refuses text that DataFusion would parse differently."""
    tokens = [_renamed(token, after) for token, after in _pairs(tokenize(text))]
    for token in tokens:
        if token.kind == "symbol" and token.word not in _SYMBOLS:
            raise refused(f"the operator {token.text}")
    try:
        trees = _DIALECT.parser().parse(converted(tokens), text)
    except SqlglotError as error:
        raise NotSupportedError("this statement can't be translated for Spark: its form is not known") from error
    if len(trees) != 1 or trees[0] is None:
        raise NotSupportedError("this statement can't be translated for Spark: it is not one query")
    return _restored(trees[0])


def refused(what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{what} is not known to give the same on Spark, so this statement can't run there. SET engine = 'local', or "
        f"write it otherwise."
    )


def _pairs(tokens: Sequence[Token]) -> list[tuple[Token, str]]:
    return [(token, after.word) for token, after in zip(tokens, [*tokens[1:], Token("end", "", "", 0, 0)], strict=True)]


def _renamed(token: Token, after: str) -> Token:
    if token.kind != "word" or after != "(" or token.word in _NO_CALLS or token.word in _READ_BY_SQLGLOT:
        return token
    name = CALL + token.text.lower()
    return token._replace(text=name, word=name)


def _restored(tree: exp.Expr) -> exp.Expr:
    """Restores names that looked like a call but are a table with its columns, as in WITH t (a, b)."""
    for identifier in tree.find_all(exp.Identifier):
        if identifier.name.startswith(CALL):
            identifier.set("this", identifier.name.removeprefix(CALL))
    return tree


def name_of(call: exp.Anonymous) -> str:
    return str(call.name).removeprefix(CALL).lower()
