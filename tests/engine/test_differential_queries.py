"""Random queries over the same random tables, here and in DuckDB: the same rows, in the same order where one is asked.

PINAKES_LONG=1 runs 5,000. What the generator leaves out is told in `differential.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.differential import BIGINT, BOOLEAN, DECIMAL, DOUBLE, INT, Both, Chance, Table
from tests.engine.support import an_engine, chance, do, how_many, in_order, rows, seed_of

GROUP = 100
"""Queries per test, over tables of its own."""

Columns = dict[str, str]


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Both]:
    with an_engine(tmp_path, target_partitions=2) as engine:
        yield Both(engine.session())


@pytest.mark.slow
@pytest.mark.parametrize("group", range(how_many(200, 5000) // GROUP))
def test_random_queries(both: Both, group: int) -> None:
    seed = seed_of("differential queries")
    tables = filled(both, Chance(chance(seed, "tables", group)))
    made = both.history
    found = 0
    for number in range(group * GROUP, (group + 1) * GROUP):
        sql, ordered = query(tables, Chance(chance(seed, number)))
        both.history = [*made, f"-- #{number}"]
        found += bool(both.compare(sql, ordered=ordered))
    assert found > GROUP // 3, "most queries give no rows: they would not show a difference"


WRONG_IN_DATAFUSION = {
    "a constant filter goes below an aggregate without groups": (
        "SELECT * FROM (SELECT count(*) AS c FROM k) AS q WHERE c BETWEEN NULL AND 7",
        [],
    ),
    "a CASE in an IN list of a join": (
        "SELECT l.id, r.id FROM k AS l CROSS JOIN k AS r "
        "WHERE l.id IN (17, CASE WHEN l.x IS NOT NULL THEN -5 ELSE r.id END)",
        [(2, 2), (17, 1), (17, 2), (17, 17)],
    ),
}
"""Queries of which DataFusion 55 gives wrong rows by itself, and the right ones."""


@pytest.mark.parametrize("what", WRONG_IN_DATAFUSION)
def test_what_is_wrong_in_datafusion_is_right_here(both: Both, what: str) -> None:
    sql, right = WRONG_IN_DATAFUSION[what]
    do(both.session, "CREATE TABLE k (id INT, x INT)")
    do(both.session, "INSERT INTO k VALUES (1, 2), (2, NULL), (17, 5)")
    assert in_order(rows(both.session, sql)) == right


def filled(both: Both, dice: Chance) -> list[Table]:
    """Two tables of several files each, and an empty one."""
    tables = [dice.table("a"), dice.table("b"), dice.table("e")]
    tables[0].partitioned, tables[1].partitioned = tables[0].partitioned[:1], ()  # many files take their time
    history: list[str] = []
    for table in tables:
        both.create(table)
        for _ in range(0 if table.name == "e" else 2):
            values = ", ".join(dice.row(list(table.columns.values())) for _ in range(14))
            both.change(f"INSERT INTO {table.name} VALUES {values}")
        history += both.history
    both.history = history
    return tables


def query(tables: list[Table], dice: Chance) -> tuple[str, bool]:
    """A query, and whether its order is the rows' own."""
    kind = dice.random.random()
    if kind < 0.15:
        return set_operation(tables, dice), False
    if kind < 0.3:
        return with_query(tables, dice), False
    sql, columns = select(tables, dice)
    if dice.random.random() < 0.4:
        return sql, False
    order = ", ".join(f"{c} {dice.pick(('ASC', 'DESC'))} NULLS {dice.pick(('FIRST', 'LAST'))}" for c in columns)
    limit = dice.pick(("", f" LIMIT {dice.random.randrange(12)}", f" LIMIT 5 OFFSET {dice.random.randrange(8)}"))
    return f"{sql} ORDER BY {order}{limit}", True


def select(tables: list[Table], dice: Chance) -> tuple[str, Columns]:
    """SELECT … FROM …, and its columns: plain ones, or groups, or windows."""
    source, columns = relation(tables, dice)
    where = f" WHERE {condition(tables, columns, dice)}" if dice.random.random() < 0.6 else ""
    if dice.random.random() < 0.35:
        return grouped(source, where, columns, dice)
    types = [dice.pick(list(columns.values())) for _ in range(dice.random.randint(1, 4))]
    made = {f"x{i}": t for i, t in enumerate(types)}
    texts = [f"{dice.expression(t, columns)} AS {name}" for name, t in made.items()]
    if dice.random.random() < 0.15:
        texts.append(f"{window(columns, dice)} AS w")
        made["w"] = BIGINT
    return f"SELECT {dice.pick(('', '', 'DISTINCT '))}{', '.join(texts)} FROM {source}{where}", made


def relation(tables: list[Table], dice: Chance) -> tuple[str, Columns]:
    """A table, a join of two, or a subquery."""
    one, other = dice.pick(tables[:2]), dice.pick(tables)
    shape = dice.random.random()
    if shape < 0.45:
        return f"{one.name} AS l", _as("l", one)
    both = _as("l", one) | _as("r", other)
    if shape < 0.85:
        kind = dice.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        extra = (
            f" AND {dice.condition(_as('r', other), 1)}"
            if kind in ("JOIN", "LEFT JOIN") and dice.random.random() < 0.3
            else ""
        )
        return f"{one.name} AS l {kind} {other.name} AS r ON l.id = r.id{extra}", both
    if shape < 0.92:
        return f"{one.name} AS l CROSS JOIN (SELECT * FROM {other.name} WHERE id < 3) AS r", both
    inner, columns = select(tables, dice)
    return f"({inner}) AS q", {f"q.{c}": t for c, t in columns.items()}


def _as(alias: str, table: Table) -> Columns:
    return {f"{alias}.{c}": t for c, t in table.columns.items()}


def condition(tables: list[Table], columns: Columns, dice: Chance) -> str:
    """A condition; sometimes with a subquery."""
    ints = [c for c, t in columns.items() if t == INT]
    if not ints or dice.random.random() < 0.7:
        return dice.condition(columns)
    inner = dice.pick(tables)
    column = dice.pick(ints)
    own = {f"i.{c}": t for c, t in inner.columns.items()}
    where = dice.condition(own, 1)
    return dice.pick((
        f"{column} IN (SELECT i.id FROM {inner.name} AS i WHERE {where})",
        f"{column} NOT IN (SELECT i.id FROM {inner.name} AS i WHERE i.id IS NOT NULL AND {where})",
        f"EXISTS (SELECT 1 FROM {inner.name} AS i WHERE i.id = {column} AND {where})",
        f"NOT EXISTS (SELECT 1 FROM {inner.name} AS i WHERE i.id = {column} AND {where})",
        f"{column} > (SELECT min(i.id) FROM {inner.name} AS i WHERE {where})",
    ))  # fmt: skip


def grouped(source: str, where: str, columns: Columns, dice: Chance) -> tuple[str, Columns]:
    keys = [dice.pick(list(columns)) for _ in range(dice.random.randint(0, 2))]
    made = {f"k{i}": columns[c] for i, c in enumerate(keys)}
    texts = [f"{c} AS k{i}" for i, c in enumerate(keys)]
    for number in range(dice.random.randint(1, 3)):
        text, kind = aggregate(columns, dice)
        made[f"g{number}"] = kind
        texts.append(f"{text} AS g{number}")
    group = f" GROUP BY {', '.join(dict.fromkeys(keys))}" if keys else ""
    having = f" HAVING count(*) > {dice.random.randrange(3)}" if keys and dice.random.random() < 0.4 else ""
    return f"SELECT {', '.join(texts)} FROM {source}{where}{group}{having}", made


def aggregate(columns: Columns, dice: Chance) -> tuple[str, str]:
    column, kind = dice.pick(list(columns.items()))
    choices = [("count(*)", BIGINT), (f"count({column})", BIGINT), (f"count(DISTINCT {column})", BIGINT)]
    if kind != BOOLEAN:
        choices += [(f"min({column})", kind), (f"max({column})", kind)]
    if kind in (INT, BIGINT):
        choices += [(f"CAST(sum({column}) AS BIGINT)", BIGINT), (f"avg({column})", DOUBLE)]
        choices += [(f"CAST(sum({column}) FILTER (WHERE {column} > 2) AS BIGINT)", BIGINT)]
    if kind == DOUBLE:
        choices += [(f"sum({column})", DOUBLE), (f"avg({column})", DOUBLE)]
    if kind == DECIMAL:
        choices += [(f"CAST(sum({column}) AS {DECIMAL})", DECIMAL)]
    return dice.pick(choices)


def window(columns: Columns, dice: Chance) -> str:
    ints = [c for c, t in columns.items() if t == INT] or ["1"]
    over = f"PARTITION BY {dice.pick(list(columns))}"
    return f"CAST({dice.pick(('count', 'sum', 'max'))}({dice.pick(ints)}) OVER ({over}) AS BIGINT)"


def set_operation(tables: list[Table], dice: Chance) -> str:
    one, other = dice.pick(tables), dice.pick(tables)
    types = [dice.pick(list(one.columns.values())) for _ in range(dice.random.randint(1, 3))]
    parts = []
    for table in (one, other):
        texts = ", ".join(f"{dice.expression(t, table.columns, 1)} AS x{i}" for i, t in enumerate(types))
        parts.append(f"SELECT {texts} FROM {table.name} WHERE {dice.condition(table.columns, 1)}")
    return f" {dice.pick(('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'))} ".join(parts)


def with_query(tables: list[Table], dice: Chance) -> str:
    """A CTE that is read twice."""
    inner, columns = select(tables, dice)
    name, kind = dice.pick(list(columns.items()))
    where = dice.condition({f"p.{c}": t for c, t in columns.items()}, 1)
    if kind == BOOLEAN:
        return f"WITH c AS ({inner}) SELECT p.{name}, count(*) FROM c AS p WHERE {where} GROUP BY p.{name}"
    twice = f"c AS p JOIN c AS q ON p.{name} = q.{name}"
    return f"WITH c AS ({inner}) SELECT count(*), max(p.{name}) FROM {twice} WHERE {where}"
