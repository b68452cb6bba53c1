"""CHECK constraints: conditions that every new row of a table satisfies, unless they are NULL.

They are properties of the table (`core/iceberg_metadata.py`), so other engines do not know them. Every file of rows is
written by `files.py`, which has new rows checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
from pyiceberg.schema import Schema

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import (
    CheckViolation,
    ConstraintExists,
    ExecutionError,
    InvalidArgument,
    NotSupportedError,
    TypeMismatch,
)
from pinakes.core.iceberg_metadata import CHECKS, checks_of
from pinakes.core.names import Part, quote, spell
from pinakes.core.output.value_format import as_text, rows
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.binding.planned_text import planned_text
from pinakes.engine.binding.relation import Relation
from pinakes.engine.binding.sql_functions import expanded_text
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.parser import classify
from pinakes.parser.brackets import check_brackets
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.splice import Edit, splice
from pinakes.parser.statements import Check, Planned, Query

if TYPE_CHECKING:
    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.statement_context import Execution

_KEY = ("$change", "$change", "checked")
_LONGEST = 200
"""Characters of a row in an error."""
_QUERIES = frozenset({"FROM", "TABLE", "VALUES", "WITH"})
_VOLATILE = re.compile(r"(?:rand|random|uuid|gen_random_uuid|uuidv4|uuidv7|nextval)\Z", re.IGNORECASE)


class RowChecks:
    """The CHECK constraints of a table that rows are written to."""

    def __init__(self, conditions: Mapping[str, str], schema: pa.Schema, execution: Execution) -> None:
        self._conditions = conditions
        for name, condition in conditions.items():
            try:
                _check_tokens(tokenize(condition))
            except (Fault, NotSupportedError) as error:
                raise InvalidArgument(
                    f"the CHECK constraint {spell(name)} can't be read: ALTER TABLE … DROP CONSTRAINT {quote(name)}"
                ) from error
        self._schema = schema
        self._execution = execution

    def check(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Raises CheckViolation with a row that does not satisfy a condition."""
        table = pa.Table.from_batches(batches, schema=self._schema)
        failed = self._failed(table, list(self._conditions.values()))
        if failed is None:
            return
        for name, condition in self._conditions.items():
            if self._failed(failed, [condition]) is not None:
                raise CheckViolation(
                    f"a new row violates the CHECK constraint {spell(name)}, {condition}: ({_shown(failed)})"
                )

    def _failed(self, table: pa.Table, conditions: Sequence[str]) -> pa.Table | None:
        """A row for which a condition is false."""
        fails = " OR ".join(f"({condition}\n) IS FALSE" for condition in conditions)
        found = _rows_where(fails, table, self._execution)
        return found if found.num_rows else None


def _shown(row: pa.Table) -> str:
    values = next(rows(row.to_batches()[0]))
    named = zip(row.column_names, values, strict=True)
    text = ", ".join(f"{spell(name)} = {'NULL' if value is None else as_text(value)}" for name, value in named)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _rows_where(condition: str, table: pa.Table, execution: Execution) -> pa.Table:
    """One of the rows that satisfy a condition, if there is one."""
    planner = execution.planner()
    text, statement = _bound(f"SELECT * FROM checked WHERE {condition} LIMIT 1", table, planner)
    return execution.collect(planner.plan(text, statement))


def _bound(text: str, table: pa.Table, planner: Planner) -> tuple[str, Planned]:
    """A query over rows in memory as DataFusion reads it, and its statement."""
    return _over(planner.add(Relation(_KEY, Rows(table).provider, tuple(table.column_names))), text, planner)


def _over(relation: Relation, text: str, planner: Planner) -> tuple[str, Planned]:
    statement = classify(text)
    if not isinstance(statement, Query) or len(statement.tables) != 1 or statement.placeholders:
        raise NotSupportedError("a CHECK is about the columns of one row")
    return planned_text(statement, {0: relation}, planner.execution.session.value).text, statement


def count_failing(condition: str, table: IcebergTable, execution: Execution) -> int:
    """Returns the number of rows of a table that do not satisfy a condition."""
    planner = execution.planner()
    relation = planner.add(planner.iceberg(_KEY, table))
    text, statement = _over(relation, f"SELECT count(*) FROM checked WHERE ({condition}\n) IS FALSE", planner)
    return int(execution.collect(planner.plan(text, statement)).column(0)[0].as_py())


# --- definitions -----------------------------------------------------------------------------------------------------


def check_properties(
    checks: Iterable[Check], text: str, table: str, schema: Schema, known: Mapping[str, str], execution: Execution
) -> dict[str, str]:
    """Returns the properties that hold new CHECK constraints of a table; those without a name get one as in
    PostgreSQL."""
    taken = {name.lower() for name in known}
    found: dict[str, str] = {}
    for check in checks:
        condition = condition_of(check.condition.of(text), table, schema, execution)
        if check.name is None:
            name = next(name for name in _names(table, check) if name.lower() not in taken)
        else:
            name = check.name.exact
            if name.lower() in taken:
                raise ConstraintExists(f"constraint {spell(name)} of {table} already exists")
        taken.add(name.lower())
        found[CHECKS + name] = condition
    return found


def _names(table: str, check: Check) -> Iterator[str]:
    name = f"{table}_{check.column.exact}_check" if check.column is not None else f"{table}_check"
    yield name
    yield from (f"{name}{number}" for number in count(1))


def condition_of(text: str, table: str, schema: Schema, execution: Execution) -> str:
    """Returns the text of a condition, with calls of SQL functions replaced by their bodies, and columns without the
    name of the table, which may change. Raises unless it is a condition about a single row."""
    expanded = _unqualified(expanded_text(text, execution.resolver).strip(), table, schema)
    tokens = tokenize(expanded)
    _check_tokens(tokens)
    columns = {field.name.lower() for field in schema.fields}
    volatile = next((token.text for token in tokens if _VOLATILE.match(token.text)), None)
    if volatile is not None and volatile.lower() not in columns:
        raise InvalidArgument(f"a CHECK can't call {volatile}, whose value differs each time")
    empty = arrow_schema_of(schema).empty_table()
    type = _type_of(expanded, empty, execution)
    if not (pa.types.is_boolean(type) or pa.types.is_null(type)):
        raise TypeMismatch(f"a CHECK is a condition, and {expanded} is {sql_name_of_arrow(type)}")
    try:
        _rows_where(f"({expanded}\n) IS FALSE", empty, execution)
    except ExecutionError as error:
        raise InvalidArgument(f"a CHECK is about the columns of one row: {error.message}") from error
    return expanded


def _unqualified(text: str, table: str, schema: Schema) -> str:
    names = [field.name for field in schema.fields]
    tokens = tokenize(text)
    edits = [
        Edit(token.start, after.start, "")
        for before, token, dot, after in zip([None, *tokens], tokens, tokens[1:], tokens[2:], strict=False)
        if dot.word == "."
        and (before is None or before.word != ".")
        and token.kind in ("word", "quoted")
        and Part(token.text, token.kind == "quoted").matches(table)
        and (table not in names or Part(after.text, after.kind == "quoted").exact in names)
    ]
    return splice(text, edits).text


def _type_of(condition: str, table: pa.Table, execution: Execution) -> pa.DataType:
    planner = execution.planner()
    text, statement = _bound(f"SELECT ({condition}\n) AS c FROM checked", table, planner)
    return planner.types(text, statement)[0]


def _check_tokens(tokens: list[Token]) -> None:
    """Raises unless the tokens may be an expression about one row. Another engine may have stored them."""
    words = [token.word for token in tokens]
    starts = [word for before, word in zip(["(", *words], words, strict=False) if before == "("]
    if "SELECT" in words or not _QUERIES.isdisjoint(starts):
        raise NotSupportedError("a CHECK can't contain a subquery: it is about the columns of one row")
    if ";" in words or any(token.kind == "parameter" for token in tokens):
        raise NotSupportedError("a CHECK can't contain a parameter, or several statements")
    check_brackets(tokens)


def constraint_on(column: str, properties: Mapping[str, str]) -> str | None:
    """Returns the name of a CHECK constraint that names a column."""
    for name, condition in checks_of(properties).items():
        for token in tokenize(condition):
            is_name = token.kind == "quoted" and token.text == column
            if is_name or (token.kind == "word" and token.text.casefold() == column.casefold()):
                return name
    return None


def refuse_checked(properties: Mapping[str, str], what: str) -> None:
    """Raises if a table has CHECK constraints, which `what` would not enforce."""
    names = checks_of(properties)
    if names:
        raise NotSupportedError(
            f"{what} does not enforce the CHECK constraint {spell(next(iter(names)))} of this table: SET engine = "
            f"'local', use INSERT, or ALTER TABLE … DROP CONSTRAINT {quote(next(iter(names)))}"
        )
