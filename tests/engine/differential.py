"""Random tables, expressions and conditions that mean the same in DuckDB and here, and the two side by side.

What is known to differ, and is therefore never generated:

- `/` of integers (DuckDB gives a DOUBLE), `%` by zero (DuckDB gives NULL), casts of DOUBLE to integers (DuckDB rounds);
- avg() of decimals (DuckDB gives a DOUBLE, here a decimal of four more digits), text of DOUBLE and TIMESTAMP values;
- the place of NULL in an order that does not say it (DESC puts it first here), text in another case than ASCII and é;
- DATE plus INTERVAL (a TIMESTAMP in DuckDB): generated only with a cast back to DATE;
- MERGE and UPDATE … FROM whose source has two rows for one row of the target (here an error): sources are unique.

Doubles are multiples of 1/8, so that sums of them are exact in any order. Statements that end in one of the errors of
`KNOWN` are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import duckdb

from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.support import Row, in_order, rows

INT, BIGINT, TEXT, DECIMAL = "INT", "BIGINT", "VARCHAR", "DECIMAL(10, 2)"
DATE, TIMESTAMP, DOUBLE, BOOLEAN = "DATE", "TIMESTAMP", "DOUBLE", "BOOLEAN"
TYPES = (INT, BIGINT, TEXT, DECIMAL, DATE, TIMESTAMP, DOUBLE, BOOLEAN)
KNOWN = re.compile(
    "Physical input schema should be the same as the one converted from logical"  # CASE with a condition that is NULL
    "|'bit_wise_and' has no kernel matching input types .bool, bool"  # two constants as filters of an Arrow dataset
    "|for comparison operation [^ ]+ IS NOT DISTINCT FROM"  # takes the wrong column of a join
    "|a condition on the result of this RIGHT or FULL JOIN"  # refused by us, since it takes the wrong column of a join
)
"""Errors of DataFusion's and Arrow's in queries that are right."""
WORDS = ("", "a", "A", "ab", "b%", "it's", "é", "日本", "x y", "a_b", "null", "zz")


@dataclass
class Table:
    name: str
    columns: dict[str, str] = field(default_factory=dict)
    """Name and type of each; the first is always the INT `id`."""
    partitioned: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    """Those of the Iceberg table; DuckDB has none."""

    @property
    def create(self) -> str:
        return f"CREATE TABLE {self.name} ({', '.join(f'{c} {t}' for c, t in self.columns.items())})"

    @property
    def partitioning(self) -> str:
        text = f" PARTITIONED BY ({', '.join(self.partitioned)})" if self.partitioned else ""
        given = ", ".join(f"'{key}' = '{value}'" for key, value in self.properties.items())
        return f"{text} WITH ({given})" if given else text


class Both:
    """The same statements in both; every difference is an assertion that shows all that led to it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.peer = duckdb.connect()
        self.history: list[str] = []

    def create(self, table: Table) -> None:
        self.history = [table.create + table.partitioning]
        self.peer.execute(f"DROP TABLE IF EXISTS {table.name}")
        self.session.run(f"DROP TABLE IF EXISTS {table.name}").close()
        self.peer.execute(table.create)
        self.session.run(table.create + table.partitioning).close()

    def change(self, sql: str, *, counted: bool = True) -> None:
        """Carry out a change in both, and compare the number of rows it says it changed. Both may fail."""
        ours = _outcome(lambda: self._change_here(sql))
        if is_known(ours):
            return
        self.history.append(sql)
        theirs = _outcome(lambda: self.peer.execute(sql).fetchall())
        failed = [isinstance(outcome, Exception) for outcome in (ours, theirs)]
        same = failed[0] == failed[1] and (any(failed) or not counted or ours == theirs[0][0])
        assert same, self.shown(f"here: {ours!r}\nDuckDB: {theirs!r}")

    def _change_here(self, sql: str) -> int | None:
        result = self.session.run(sql)
        result.close()
        return result.count

    def compare(self, sql: str, *, ordered: bool = False) -> list[Row]:
        """The rows of a query, which are the same in both; none when it ends in a known error."""
        ours = _outcome(lambda: rows(self.session, sql))
        if is_known(ours):
            return []
        theirs = _outcome(lambda: self.peer.execute(sql).fetchall())
        assert isinstance(ours, list) and isinstance(theirs, list), self.shown(f"{sql}\n{ours!r}\nDuckDB: {theirs!r}")  # noqa: PT018
        if not ordered:
            ours, theirs = in_order(ours), in_order(theirs)
        assert ours == theirs, self.shown(
            f"{sql}\nhere:   {_different(ours, theirs)}\nDuckDB: {_different(theirs, ours)}"
        )
        return ours

    def shown(self, what: str) -> str:
        return "\n" + ";\n".join(self.history) + ";\n" + what


def _outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the error it ends in."""
    try:
        return call()
    except (PinakesError, duckdb.Error) as error:
        return error


def is_known(outcome: object) -> bool:
    return isinstance(outcome, PinakesError) and KNOWN.search(outcome.message) is not None


def _different(some: list[Row], others: list[Row]) -> str:
    only = [row for row in some if row not in others]
    return f"{len(some)} rows, of which the other lacks {only[:5]}" if only else f"{len(some)} rows: {some[:8]}"


# --- values and expressions --------------------------------------------------------------------------------------


class Chance:
    """Random SQL over the columns at hand, given as {how it is written: its type}."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.pick = random.choice

    def table(self, name: str) -> Table:
        types = {"id": INT} | {f"c{i}": self.pick(TYPES) for i in range(self.random.randint(1, 5))}
        usable = [c for c, t in types.items() if t != DOUBLE]
        terms = {
            self._term(c, types[c]) for c in self.random.sample(usable, min(len(usable), self.random.randint(1, 2)))
        }
        return Table(name, types, tuple(sorted(terms)) if self.random.random() < 0.5 else ())

    def _term(self, column: str, kind: str) -> str:
        if kind in (DATE, TIMESTAMP) and self.random.random() < 0.7:
            return f"{self.pick(('year', 'month', 'day'))}({column})"
        if kind in (INT, BIGINT, TEXT, DECIMAL) and self.random.random() < 0.5:
            return f"bucket(3, {column})" if self.random.random() < 0.5 else f"truncate(2, {column})"
        return column

    def row(self, types: list[str]) -> str:
        return f"({', '.join(self.value(t) for t in types)})"

    def value(self, kind: str, nulls: float = 0.2) -> str:
        """A constant."""
        if self.random.random() < nulls:
            return f"CAST(NULL AS {kind})"
        number = self.random.randint
        match kind:
            case "INT":
                return str(number(-5, 20))
            case "BIGINT":
                return f"CAST({self.pick((number(-9, 9), number(-(10**12), 10**12)))} AS BIGINT)"
            case "VARCHAR":
                return "'" + self.pick(WORDS).replace("'", "''") + "'"
            case "DECIMAL(10, 2)":
                return f"CAST('{number(-9999, 9999) / 100:.2f}' AS {DECIMAL})"
            case "DATE":
                return f"DATE '{number(1960, 2030)}-{number(1, 12):02}-{number(1, 28):02}'"
            case "TIMESTAMP":
                day = f"{number(1960, 2030)}-01-{number(1, 28):02}"
                return f"TIMESTAMP '{day} {number(0, 23):02}:30:15.{number(0, 999999):06}'"
            case "DOUBLE":
                return f"CAST('{number(-80, 80) / 8}' AS DOUBLE)"
            case _:
                return self.pick(("TRUE", "FALSE"))

    def expression(self, kind: str, columns: dict[str, str], depth: int = 2) -> str:
        """Something of this type."""
        own = [c for c, t in columns.items() if t == kind]
        if depth == 0 or self.random.random() < 0.3:
            return self.pick(own) if own and self.random.random() < 0.7 else self.value(kind)

        def sub(of: str = kind) -> str:
            return self.expression(of, columns, depth - 1)

        if self.random.random() < 0.3:
            return self.pick((
                f"CASE WHEN {self.condition(columns, depth - 1)} THEN {sub()} ELSE {sub()} END",
                f"coalesce({sub()}, {sub()})",
                f"nullif({sub()}, {sub()})",
            ))  # fmt: skip
        match kind:
            case "INT":
                return self.pick(
                    (f"abs({sub()})", f"({sub()} % 7)", f"CAST(length({sub(TEXT)}) AS INT)", f"(- {sub()})")
                )
            case "BIGINT":
                return self.pick((f"({sub()} + 3)", f"({sub()} - {sub(INT)})", f"CAST({sub(INT)} AS BIGINT)"))
            case "VARCHAR":
                return self.pick((
                    f"({sub()} || {sub()})", f"upper({sub()})", f"substr({sub()}, 1, 2)", f"trim({sub()})",
                    f"CAST({sub(INT)} AS VARCHAR)", f"replace({sub()}, 'a', 'bb')",
                ))  # fmt: skip
            case "DECIMAL(10, 2)":
                return self.pick(
                    (f"CAST({sub()} + {self.value(DECIMAL, 0)} AS {DECIMAL})", f"CAST({sub(INT)} AS {DECIMAL})")
                )
            case "DATE":
                return self.pick((f"CAST({sub()} + INTERVAL '3 day' AS DATE)", f"CAST({sub(TIMESTAMP)} AS DATE)"))
            case "TIMESTAMP":
                return self.pick((f"({sub()} + INTERVAL '90 minute')", f"CAST({sub(DATE)} AS TIMESTAMP)"))
            case "DOUBLE":
                return self.pick((f"({sub()} + {sub()})", f"({sub()} * 0.5e0)", f"CAST({sub(INT)} AS DOUBLE)"))
            case _:
                return f"({self.condition(columns, depth - 1)})"

    def condition(self, columns: dict[str, str], depth: int = 2) -> str:
        if depth > 0 and self.random.random() < 0.35:
            a, b = self.condition(columns, depth - 1), self.condition(columns, depth - 1)
            return self.pick((f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})"))
        column, kind = self.pick(list(columns.items()))
        value = self.expression(kind, columns, max(0, depth - 1))
        own = [c for c, t in columns.items() if t == kind]
        choices = [
            f"{column} {self.pick(('=', '<>', '<', '<=', '>', '>='))} {value}",
            f"{column} IS {self.pick(('', 'NOT '))}NULL",
            f"{column} IN ({self.value(kind, 0.1)}, {self.value(kind, 0.1)}, {self.pick(own)})",
            f"{column} BETWEEN {self.value(kind, 0)} AND {self.pick((self.value(kind, 0), *own))}",
            f"{column} IS NOT DISTINCT FROM {value}",
        ]
        if kind == TEXT:
            choices.append(f"{column} LIKE '{self.pick(('a%', '%b%', '_', '%', ''))}'")
        if kind == BOOLEAN:
            choices += [column, f"NOT {column}"]
        return self.pick(choices)
