"""The tools of this package: the form that is written out, and parts of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pinakes.core.names import quote
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.syntax.tokens import CLOSE, OPEN, opening, word

Pieces = list["str | tuple[int, int]"]
"""New text, and spans of the old text that are copied."""

SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
TAILS = frozenset({"ORDER", "LIMIT", "OFFSET", "FETCH"})
NOT_A_NAME = frozenset(
    "ALL AND ANY AS ASC BETWEEN BY CASE DESC DISTINCT ELSE END EXISTS FALSE FETCH FILTER FIRST FOR FROM FULL GROUP "
    "HAVING ILIKE IN INNER INTERSECT INTERVAL INTO IS JOIN LAST LEFT LIKE LIMIT NATURAL NOT NULL NULLS OFFSET ON OR "
    "ORDER OUTER OVER PARTITION QUALIFY RIGHT SELECT SET SIMILAR SOME THEN TRUE UNION UPDATE USING VALUES WHEN WHERE "
    "WINDOW WITH WITHIN CROSS EXCEPT ESCAPE".split()
)
"""Words in an expression or a FROM clause that are not names."""
_SOURCE_STARTS = frozenset({"FROM", ",", "JOIN", "LATERAL", "("})
_TYPED = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "INTERVAL"})


class Question(Exception):
    """A query for the values of a column, without which a form can't be written out."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(slots=True)
class Form:
    """A form in a text, at the token `at`."""

    text: str
    tokens: Sequence[Token]
    at: int
    answers: list[tuple[str, ...]]
    """The answers to the questions that were asked, in their order."""
    number: int
    """The number of the form, which makes names in it unique."""
    span: tuple[int, int] = field(default=(0, 0))
    """The text that is replaced."""

    def word(self, at: int) -> str:
        return word(self.tokens, at)

    def text_of(self, items: tuple[int, int]) -> str:
        """Returns the text of the tokens from the first up to the one before the second."""
        return self.text[slice(*self.range(items))] if items[0] < items[1] else ""

    def range(self, items: tuple[int, int]) -> tuple[int, int]:
        """Returns the offsets of the same tokens."""
        return self.tokens[items[0]].start, self.tokens[items[1] - 1].end

    def fault(self, message: str, at: int | None = None, *, unsupported: bool = False) -> Fault:
        at = self.at if at is None else at
        offset = self.tokens[at].start if at < len(self.tokens) else len(self.text)
        return Fault(message, offset, unsupported=unsupported)

    def ask_data(self, question: str, instead: str) -> tuple[str, ...]:
        """Returns the answer to a query for values or columns, or asks for it. The definitions of the statement's WITH
        take the place of {} in it.
        """
        name, words = self.tokens[self.at].text.upper(), [token.word for token in self.tokens[:8]]
        kept = "a view" if words[0] in ("CREATE", "ALTER") and "VIEW" in words else ""
        kept = "a prepared statement" if words[0] == "PREPARE" else kept
        if kept:
            raise self.fault(f"{name} without a list is not supported in {kept}: write {instead}", unsupported=True)
        if any(token.kind == "parameter" for token in self.tokens):
            raise self.fault(
                f"{name} without a list is not supported in a statement with parameters: write {instead}",
                unsupported=True,
            )
        given = definitions_before(self, instead)
        question = question.replace("{}", self.text_of(given) + " " if given is not None else "", 1)
        if not self.answers:
            raise Question(question)
        return self.answers.pop(0)


def until(tokens: Sequence[Token], at: int, words: frozenset[str]) -> int:
    """Returns the index of the first of these words outside of brackets and CASE … END, or where the brackets around
    them or the text end.
    """
    depth = 0
    while at < len(tokens):
        text = tokens[at].word
        if text in OPEN or text == "CASE":
            depth += 1
        elif depth == 0 and (text in words or text in CLOSE or text == ";"):
            return at
        elif text in CLOSE or (text == "END" and depth):
            depth -= 1
        at += 1
    return at


def split(tokens: Sequence[Token], start: int, end: int, separator: str = ",") -> list[tuple[int, int]]:
    """Returns the spans between separators outside of brackets."""
    found, first = list[tuple[int, int]](), start
    while first <= end:
        stop = min(until(tokens, first, frozenset({separator})), end)
        found.append((first, stop))
        first = stop + 1
    return found


def with_alias(form: Form, item: tuple[int, int]) -> tuple[tuple[int, int], Token | None]:
    """Separates `expression [AS] name` or `expression [AS] 'name'`."""
    start, end = item
    if end - start > 2 and form.word(end - 2) == "AS" and form.tokens[end - 1].kind in ("word", "quoted", "string"):
        return (start, end - 2), form.tokens[end - 1]
    last, before = form.tokens[end - 1], form.tokens[max(end - 2, start)]
    is_name = last.kind == "quoted" or (last.kind == "word" and last.word not in NOT_A_NAME)
    follows = before.kind in ("word", "quoted", "string", "number") or before.word in CLOSE
    if end - start > 1 and is_name and follows and before.word not in NOT_A_NAME - {"END", "NULL", "TRUE", "FALSE"}:
        return (start, end - 1), last
    return item, None


def folded(token: Token) -> str:
    """Returns the name that a token means."""
    return token.text.lower() if token.kind == "word" else token.text


def columns_in(form: Form, item: tuple[int, int]) -> list[str]:
    """Returns the names of the columns in an expression, which have no qualifier, as SQL."""
    found = list[str]()
    for at in range(*item):
        token = form.tokens[at]
        if token.kind not in ("word", "quoted") or token.word in NOT_A_NAME or form.word(at + 1) == "(":
            continue
        if form.word(at - 1) in ("AS", "::", "[") and at > item[0]:
            continue  # a type
        if token.word in _TYPED and at + 1 < len(form.tokens) and form.tokens[at + 1].kind == "string":
            continue
        if "." in (form.word(at - 1) if at > item[0] else "", form.word(at + 1)):
            raise form.fault("PIVOT takes names of columns without a qualifier", at, unsupported=True)
        found.append(quote(token.text) if token.kind == "quoted" else token.text.lower())
    return found


def without(columns: Sequence[str]) -> str:
    """Returns the star without some columns."""
    unique = dict.fromkeys(columns)
    return f"* EXCLUDE ({', '.join(unique)})" if unique else "*"


def source_before(form: Form, at: int) -> int:
    """Returns the index of the first token of the source of FROM that ends before `at`."""
    at -= 1
    while at > 0:
        if form.tokens[at].word in CLOSE:
            at = opening(form.tokens, at)
        if form.word(at - 1) in _SOURCE_STARTS:
            return at
        at -= 1
    raise form.fault(f"{form.tokens[form.at].text.upper()} stands after a table or subquery in FROM")


def source_after(form: Form, at: int, ends: frozenset[str]) -> int:
    """Returns the index of the token after the source that a PIVOT statement reads, which may be joins with ON and
    USING of their own.
    """
    open_joins = 0
    while True:
        at = until(form.tokens, at, ends | {"JOIN", "ON", "USING"})
        text = form.word(at)
        if text == "JOIN":
            kind = form.word(at - 1)
            open_joins += kind not in ("CROSS", "POSITIONAL") and "NATURAL" not in (kind, form.word(at - 2))
        elif text in ("ON", "USING") and open_joins:
            open_joins -= 1
        else:
            return at
        at += 1


def starts_statement(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether a word at `at` can be the start of a PIVOT statement, by the tokens around it."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or not (after.kind in ("word", "quoted", "string") or after.word == "("):
        return False
    if after.kind == "word" and after.word in NOT_A_NAME:
        return False
    before = word(tokens, at - 1)
    if at == 0 or before in SET_OPERATORS | {"(", "ALL", "EXPLAIN", "ANALYZE", "FULL", "VERBOSE", "DESCRIBE"}:
        return True
    if before in ("AS", "SUMMARIZE", "DESC", "NAME"):
        return True
    if before == ")" and _ends_definition(tokens, at - 1):
        return True
    is_insert = tokens[0].word == "INSERT" or (tokens[0].word == "EXPLAIN" and "INSERT" in _words(tokens[:at]))
    if not is_insert or before in ("INTO", "OVERWRITE", "TABLE", "."):
        return False
    return _words(tokens[:at]).isdisjoint(("SELECT", "FROM", "VALUES"))


def _words(tokens: Sequence[Token]) -> set[str]:
    return {token.word for token in tokens}


def definitions_before(form: Form, instead: str) -> tuple[int, int] | None:
    """Returns the WITH of the statement up to the last definition that ends before the form; None if there is none.
    Raises for a form within a query that has a WITH of its own.
    """
    tokens, depth, first, last = form.tokens, 0, None, None
    opened = list[int]()
    for at in range(form.at):
        text = tokens[at].word
        if text == "WITH" and depth and form.word(at + 1) not in ("ORDINALITY", "TIES"):
            opened.append(depth)
        depth += (text in OPEN) - (text in CLOSE)
        opened = [known for known in opened if known <= depth]
        if text == "WITH" and depth == 0 and first is None and form.word(at + 1) != "ORDINALITY":
            first = at
        if text == ")" and depth == 0 and first is not None and _ends_definition(tokens, at):
            last = at + 1
    if opened:
        raise form.fault(
            f"this is not supported in a subquery with a WITH of its own: write {instead}",
            unsupported=True,
        )
    return None if first is None or last is None else (first, last)


def _ends_definition(tokens: Sequence[Token], closed: int) -> bool:
    at = opening(tokens, closed)
    return word(tokens, at - 1) in ("AS", "MATERIALIZED")
