"""Random changes of random tables, here and in DuckDB: after every statement both have the same rows.

PINAKES_LONG=1 runs 1,000 sequences. What the generator leaves out is told in `differential.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.engine.differential import BIGINT, INT, TYPES, Both, Chance, Table
from tests.engine.support import an_engine, chance, how_many, in_order, seed_of

GROUP = 10
"""Sequences per test, and so per engine."""
MOST_ROWS = 150
STATEMENTS = ("delete", "update", "merge")
MODES = ("copy-on-write", "merge-on-read", "merge-on-read")


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Both]:
    with an_engine(tmp_path, target_partitions=2) as engine:
        yield Both(engine.session())


@pytest.mark.slow
@pytest.mark.parametrize("group", range(how_many(60, 1000) // GROUP))
def test_random_changes(both: Both, group: int, tmp_path: Path) -> None:
    seed = seed_of("differential DML")
    for number in range(group * GROUP, (group + 1) * GROUP):
        rows = sequence(both, Chance(chance(seed, number)))
        assert read_by_pyiceberg(tmp_path, "t") == rows, both.shown(f"pyiceberg reads something else (#{number})")


def sequence(both: Both, dice: Chance) -> list[tuple[object, ...]]:
    """Some changes of a new table, compared after each; its rows in the end."""
    table = dice.table("t")
    table.properties = {"format-version": dice.pick("123"), **{f"write.{s}.mode": dice.pick(MODES) for s in STATEMENTS}}
    both.create(table)
    both.change(insert(table, dice))
    rows = both.compare("SELECT * FROM t")
    for _ in range(dice.random.randint(2, 5)):
        change = dice.pick(CHANGES if len(rows) < MOST_ROWS else (delete, truncate))
        sql = change(table, dice)
        both.change(sql, counted=change not in (alter, truncate))
        rows = both.compare("SELECT * FROM t")
    return rows


# --- changes -----------------------------------------------------------------------------------------------------


def insert(table: Table, dice: Chance) -> str:
    columns = list(table.columns)
    if dice.random.random() < 0.3:  # the others get NULL
        columns = ["id", *dice.random.sample(columns[1:], dice.random.randrange(len(columns)))]
    types = [table.columns[c] for c in columns]
    values = ", ".join(dice.row(types) for _ in range(dice.random.randint(1, 12)))
    return f"INSERT INTO t ({', '.join(columns)}) VALUES {values}"


def insert_select(table: Table, dice: Chance) -> str:
    expressions = ", ".join(dice.expression(t, table.columns) for t in table.columns.values())
    return f"INSERT INTO t SELECT {expressions} FROM t WHERE {dice.condition(table.columns)}"


def update(table: Table, dice: Chance) -> str:
    chosen = dice.random.sample(list(table.columns), dice.random.randint(1, min(3, len(table.columns))))
    settings = ", ".join(f"{c} = {dice.expression(table.columns[c], table.columns)}" for c in chosen)
    where = f" WHERE {dice.condition(table.columns)}" if dice.random.random() < 0.9 else ""
    return f"UPDATE t SET {settings}{where}"


def update_from(table: Table, dice: Chance) -> str:
    column = dice.pick(list(table.columns))
    new = dice.expression(table.columns[column], source_columns(table, column))
    return f"UPDATE t SET {column} = {new} FROM {source(table, dice, column)} WHERE t.id = s.k"


def delete(table: Table, dice: Chance) -> str:
    return f"DELETE FROM t WHERE {dice.condition(table.columns)}"


def delete_subquery(table: Table, dice: Chance) -> str:
    return f"DELETE FROM t WHERE id IN (SELECT id + 1 FROM t AS o WHERE {dice.condition(table.columns)})"


def delete_using(table: Table, dice: Chance) -> str:
    return f"DELETE FROM t USING {source(table, dice, 'id')} WHERE t.id = s.k"


def merge(table: Table, dice: Chance) -> str:
    column = dice.pick(list(table.columns))
    known = source_columns(table, column)
    clauses = []
    if dice.random.random() < 0.4:
        clauses.append(f"WHEN MATCHED AND {dice.condition(known, 1)} THEN DELETE")
    if dice.random.random() < 0.8 or not clauses:
        clauses.append(f"WHEN MATCHED THEN UPDATE SET {column} = {dice.expression(table.columns[column], known)}")
    if dice.random.random() < 0.8:
        values = f"(id, {column}) VALUES (s.k, s.v)" if column != "id" else "(id) VALUES (s.k)"
        extra = f" AND {dice.condition({'s.v': table.columns[column]}, 1)}" if dice.random.random() < 0.3 else ""
        clauses.append(f"WHEN NOT MATCHED{extra} THEN INSERT {values}")
    if dice.random.random() < 0.3:
        own = {f"t.{c}": t for c, t in table.columns.items()}
        action = dice.pick(("DELETE", f"UPDATE SET {column} = {dice.expression(table.columns[column], own)}"))
        clauses.append(f"WHEN NOT MATCHED BY SOURCE AND {dice.condition(own, 1)} THEN {action}")
    return f"MERGE INTO t USING {source(table, dice, column)} ON t.id = s.k {' '.join(clauses)}"


def source(table: Table, dice: Chance, column: str) -> str:
    """Rows (k, v) with different k: a value of the column's type for some ids."""
    keys = dice.random.sample(range(-6, 22), dice.random.randint(1, 8))
    values = ", ".join(f"({k}, {dice.value(table.columns[column])})" for k in keys)
    return f"(SELECT * FROM (VALUES {values}) AS x(k, v)) AS s"


def source_columns(table: Table, column: str) -> dict[str, str]:
    return {f"t.{c}": t for c, t in table.columns.items()} | {"s.k": INT, "s.v": table.columns[column]}


def truncate(table: Table, dice: Chance) -> str:
    return "TRUNCATE TABLE t"


def alter(table: Table, dice: Chance) -> str:
    """Adds, drops, renames or widens a column that no partition field uses."""
    free = [c for c in table.columns if c != "id" and not any(c in term for term in table.partitioned)]
    widened = [c for c in free if table.columns[c] == INT]
    number = 1 + max((int(c[1:]) for c in table.columns if c != "id"), default=0)
    what = dice.pick(("add", "drop", "rename", "widen"))
    if what == "drop" and free:
        gone = dice.pick(free)
        del table.columns[gone]
        return f"ALTER TABLE t DROP COLUMN {gone}"
    if what == "rename" and free:
        old, new = dice.pick(free), f"r{number}"
        table.columns = {new if c == old else c: t for c, t in table.columns.items()}
        return f"ALTER TABLE t RENAME COLUMN {old} TO {new}"
    if what == "widen" and widened:
        column = dice.pick(widened)
        table.columns[column] = BIGINT
        return f"ALTER TABLE t ALTER COLUMN {column} SET DATA TYPE BIGINT"
    table.columns[f"c{number}"] = kind = dice.pick(TYPES)
    return f"ALTER TABLE t ADD COLUMN c{number} {kind}"


CHANGES: tuple[Callable[[Table, Chance], str], ...] = (
    insert, insert, insert_select, update, update, update_from, delete, delete_subquery, delete_using, merge, merge,
    merge, alter, alter, truncate,
)  # fmt: skip


def read_by_pyiceberg(directory: Path, name: str) -> list[tuple[object, ...]]:
    """The table's rows by pyiceberg's own catalog and reader."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{directory / 'catalog.db'}", warehouse=str(directory / "warehouse"))
    try:
        found = catalog.load_table(("default", name)).scan().to_arrow()
    finally:
        catalog.close()
    return in_order(list(zip(*(column.to_pylist() for column in found.columns), strict=True)))
