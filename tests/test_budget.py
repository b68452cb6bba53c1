"""How often one statement is parsed, planned and optimized: a table of budgets, which is exact in both directions.

A statement that takes more fails here, so that no change adds a plan or a parse unseen. One that takes fewer fails
too, so that the table states what is true: write the smaller number into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from datafusion import DataFrame, SessionContext

import pinakes
from pinakes.parser import dialect
from pinakes.parser.typed import reader


class Work(NamedTuple):
    """What is done for one statement, before and while it runs."""

    plans: int = 0
    """Logical plans that DataFusion makes from SQL."""
    optimizations: int = 0
    """Logical plans that DataFusion optimizes for us; running a plan optimizes it once more."""
    parses: int = 0
    """Texts that sqlglot parses, to locate names."""
    reads: int = 0
    """Texts that our own parser of expressions reads (`parser/typed/reader.py`)."""


# The targets are, at most: plans SELECT 2, INSERT VALUES 1, UPDATE 2, MERGE 4; parses UPDATE 1, MERGE 2.
BUDGETS: dict[str, tuple[str, Work]] = {
    "SELECT, new text": ("SELECT id, name FROM t WHERE id = {n}", Work(plans=1, optimizations=1, parses=1, reads=1)),
    "SELECT, repeated": ("SELECT id, name FROM t WHERE id = 1", Work()),
    "SELECT, many files": (
        "SELECT id, name FROM many WHERE id = {n}",
        Work(plans=2, optimizations=1, parses=1, reads=1),
    ),
    "SELECT, view": ("SELECT name FROM v WHERE id = {n}", Work(plans=2, optimizations=1, parses=2, reads=1)),
    "INSERT VALUES": ("INSERT INTO t VALUES (1, 'a', {n}), (2, 'b', 2)", Work(plans=1, optimizations=1, reads=2)),
    "INSERT SELECT": (
        "INSERT INTO t SELECT id + {n}, name, n FROM s WHERE id > 1",
        Work(plans=2, optimizations=2, parses=1, reads=2),
    ),
    "UPDATE": ("UPDATE t SET n = n + {n} WHERE id = 1", Work(plans=2, optimizations=2, parses=1, reads=2)),
    "UPDATE, many files": (
        "UPDATE many SET name = name || '{n}' WHERE id = 1",
        Work(plans=3, optimizations=3, parses=1, reads=2),
    ),
    "DELETE": ("DELETE FROM t WHERE id = {n}", Work(plans=4, optimizations=4, parses=1, reads=4)),
    "MERGE": (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name, n = s.n + {n} "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id + {n}, s.name, s.n)",
        Work(plans=4, optimizations=4, parses=1, reads=5),
    ),
    "CREATE TABLE AS": (
        "CREATE TABLE c{n} AS SELECT id, name FROM t WHERE id > {n}",
        Work(plans=1, optimizations=2, parses=1, reads=1),
    ),
}
"""Each kind with a statement of it, whose text is another one for each {n}."""

KEPT = (
    "CREATE TABLE many (id INT, name VARCHAR) WITH (partitioning = ARRAY['id'])",
    "INSERT INTO many SELECT value, 'a' FROM generate_series(1, 20)",
)
RENEWED = (
    "CREATE OR REPLACE TABLE t (id INT, name VARCHAR, n INT)",
    "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
    "CREATE OR REPLACE TABLE s (id INT, name VARCHAR, n INT)",
    "INSERT INTO s VALUES (3, 'x', 1), (9, 'y', 2)",
    "CREATE OR REPLACE VIEW v AS SELECT id, name FROM t WHERE n > 0",
)


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with pinakes.connect(data=":memory:") as connection:
        for sql in KEPT:
            connection.execute(sql)
        yield connection


@pytest.fixture
def connection(opened: Any) -> Any:
    for sql in RENEWED:
        opened.execute(sql)
    return opened


def run(connection: Any, sql: str) -> None:
    """A query to its last row."""
    cursor = connection.execute(sql)
    if cursor.description is not None:
        cursor.fetchall()


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_statement_keeps_its_budget(kind: str, connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sql, budget = BUDGETS[kind]
    run(connection, sql.format(n=1))  # types of expressions are asked of DataFusion once per process
    done: list[str] = []

    def count(owner: object, name: str, what: str) -> None:
        call: Callable[..., Any] = getattr(owner, name)

        def counting(*arguments: Any, **named: Any) -> Any:
            done.append(what)
            return call(*arguments, **named)

        monkeypatch.setattr(owner, name, counting)

    count(SessionContext, "sql_with_options", "plans")
    count(DataFrame, "optimized_logical_plan", "optimizations")
    count(dialect, "parse", "parses")
    count(reader, "_Reader", "reads")
    run(connection, sql.format(n=2))
    work = Work(**{what: done.count(what) for what in Work._fields})
    assert work == budget, f"{kind} takes {work}"
