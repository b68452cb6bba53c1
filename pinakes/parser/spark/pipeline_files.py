"""SQL files of a pipeline: definitions as in Spark's declarative pipelines, and expectations as Databricks has them.

CREATE [OR REFRESH] MATERIALIZED VIEW name [(columns, CONSTRAINT c EXPECT (p) ON VIOLATION …)] [clauses] AS query
CREATE [OR REFRESH] STREAMING TABLE name … [AS query]
CREATE TEMPORARY VIEW name AS query
CREATE FLOW name AS INSERT INTO target BY NAME query
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sqlglot import TokenType
from sqlglot.errors import TokenError

from pinakes.core.errors import ParseError, Position
from pinakes.parser.spark.references import DIALECT, references

Kind = Literal["materialized_view", "table", "temporary_view", "flow"]
Action = Literal["warn", "drop", "fail"]

_FORMS = "CREATE MATERIALIZED VIEW, CREATE STREAMING TABLE, CREATE TEMPORARY VIEW and CREATE FLOW"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition that rows must satisfy."""

    name: str
    predicate: str
    action: Action


@dataclass(slots=True)
class SqlDefinition:
    """One statement of a file. `line` is the line of its start, `at` the offset of its query."""

    kind: Kind
    name: tuple[str, ...]
    line: int
    target: tuple[str, ...] = ()
    columns: str | None = None
    comment: str | None = None
    partitions: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    query: str | None = None
    at: int = 0


def definitions(text: str) -> list[SqlDefinition]:
    """Parses the statements of a file. Raises ParseError with a position for other forms."""
    return [_Reader(text, statement).read() for statement in _statements(_words(text))]


class _Word(NamedTuple):
    """A word, symbol or quoted text, with its offsets."""

    text: str
    start: int
    end: int
    is_string: bool = False


def _words(text: str) -> list[_Word]:
    """Returns sqlglot's tokens, with those of several words, such as PARTITIONED BY, split."""
    try:
        tokens = DIALECT.tokenize(text)
    except TokenError as error:
        raise ParseError("a quote or comment is not closed", position=Position.of(text, len(text))) from error
    found = []
    for token in tokens:
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or " " not in token.text:
            found.append(_Word(token.text, token.start, token.end, token.token_type == TokenType.STRING))
        else:
            found += [_Word(word, token.start, token.end) for word in token.text.split()]
    return found


def _statements(words: list[_Word]) -> Iterator[list[_Word]]:
    found: list[_Word] = []
    for token in words:
        if token.text != ";" or token.is_string:
            found.append(token)
        elif found:
            yield found
            found = []
    if found:
        yield found


class _Reader:
    """Parses one statement from its tokens."""

    def __init__(self, text: str, tokens: list[_Word]) -> None:
        self._text, self._tokens, self._at = text, tokens, 0

    def read(self) -> SqlDefinition:
        line = self._text.count("\n", 0, self._tokens[0].start) + 1
        self._expect("CREATE")
        if self._takes("FLOW"):
            return self._flow(line)
        self._takes("OR", "REFRESH")
        kind: Kind
        if self._takes("MATERIALIZED", "VIEW"):
            kind = "materialized_view"
        elif self._takes("STREAMING", "TABLE"):
            kind = "table"
        elif self._takes("TEMPORARY", "VIEW") or self._takes("TEMP", "VIEW"):
            kind = "temporary_view"
        else:
            raise self._fault(f"what a pipeline's file has are {_FORMS}; this is none of them")
        self._takes("IF", "NOT", "EXISTS")
        found = SqlDefinition(kind, self._name(), line)
        self._clauses(found)
        if found.query is None and kind != "table":
            raise self._fault(f"{'.'.join(found.name)} has no query: AS SELECT … is missing")
        return found

    def _flow(self, line: int) -> SqlDefinition:
        found = SqlDefinition("flow", self._name(), line)
        for word in ("AS", "INSERT", "INTO"):
            self._expect(word)
        found.target = self._name()
        self._takes("BY", "NAME")
        self._query(found)
        return found

    def _clauses(self, found: SqlDefinition) -> None:
        if self._word() == "(":
            self._columns(found)
        while self._at < len(self._tokens):
            if self._takes("AS"):
                self._query(found)
            elif self._takes("COMMENT"):
                found.comment = self._string()
            elif self._takes("USING"):
                if (format := self._next().text).casefold() != "iceberg":
                    raise self._fault(f"tables of a pipeline are Iceberg tables: USING {format} is not possible")
            elif self._takes("PARTITIONED", "BY"):
                found.partitions = tuple(self._items())
            elif self._takes("TBLPROPERTIES"):
                found.properties = dict(self._property(item) for item in self._items())
            else:
                raise self._fault(f"{self._tokens[self._at].text!r} is not expected here; AS and a query are")

    def _columns(self, found: SqlDefinition) -> None:
        """Parses columns as text, and constraints separately."""
        columns: list[str] = []
        constraints: list[str] = []
        for item in self._items():
            is_constraint = item.split(maxsplit=1)[0].upper() == "CONSTRAINT"
            (constraints if is_constraint else columns).append(item)
        found.columns = ", ".join(columns) or None
        found.constraints = tuple(self._constraint(item) for item in constraints)

    def _constraint(self, item: str) -> Constraint:
        inner = _Reader(item, _words(item))
        inner._expect("CONSTRAINT")
        name = inner._next().text
        if not inner._takes("EXPECT") or inner._word() != "(":
            raise self._fault(f"of constraints, CONSTRAINT {name} EXPECT (condition) [ON VIOLATION …] is known")
        (predicate,) = [", ".join(inner._items())]
        action: Action = "warn"
        if inner._takes("ON", "VIOLATION"):
            if inner._takes("DROP", "ROW"):
                action = "drop"
            elif inner._takes("FAIL", "UPDATE"):
                action = "fail"
            else:
                raise self._fault("ON VIOLATION is followed by DROP ROW or FAIL UPDATE")
        return Constraint(name, predicate, action)

    def _query(self, found: SqlDefinition) -> None:
        if self._at >= len(self._tokens):
            raise self._fault("a query is missing")
        found.at = self._tokens[self._at].start
        found.query = self._text[found.at : self._tokens[-1].end + 1]
        self._at = len(self._tokens)
        try:
            references(found.query)
        except ParseError as error:
            raise self._moved(error, found.at) from error

    def _moved(self, error: ParseError, by: int) -> ParseError:
        """Returns the error with its position in the file."""
        at = error.position
        if at is None:
            return error
        lines = self._text[by:].split("\n")
        offset = by + sum(len(line) + 1 for line in lines[: at.line - 1]) + at.column - 1
        return ParseError(error.message, position=Position.of(self._text, offset))

    def _items(self) -> Iterator[str]:
        """Yields the comma-separated items between brackets, as text."""
        if self._word() != "(":
            raise self._fault("a bracket ( is expected here")
        self._at += 1
        depth, begin = 0, self._at
        while True:
            word = self._next().text
            last = self._at - 1
            if depth == 0 and word in (",", ")"):
                if last > begin:
                    yield self._text[self._tokens[begin].start : self._tokens[last - 1].end + 1]
                begin = self._at
                if word == ")":
                    return
            depth += (word == "(") - (word == ")")

    def _property(self, item: str) -> tuple[str, str]:
        key, equals, value = item.partition("=")
        if not equals:
            raise self._fault("a property is 'name' = 'value'")
        return key.strip().strip("'\"`"), value.strip().strip("'\"")

    # --- tokens ----------------------------------------------------------------------------------------------------

    def _word(self) -> str:
        return self._tokens[self._at].text.upper() if self._at < len(self._tokens) else ""

    def _takes(self, *words: str) -> bool:
        found = [token.text.upper() for token in self._tokens[self._at : self._at + len(words)]]
        if found == list(words):
            self._at += len(words)
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            raise self._fault(f"{word} is expected here: what a pipeline's file has are {_FORMS}")

    def _next(self) -> _Word:
        if self._at >= len(self._tokens):
            raise self._fault("the statement ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _name(self) -> tuple[str, ...]:
        parts = [self._next().text]
        while self._takes("."):
            parts.append(self._next().text)
        return tuple(parts)

    def _string(self) -> str:
        token = self._next()
        if not token.is_string:
            raise self._fault("a text in quotes is expected here")
        return token.text

    def _fault(self, message: str) -> ParseError:
        at = self._tokens[min(self._at, len(self._tokens) - 1)]
        return ParseError(message, position=Position.of(self._text, at.start))
