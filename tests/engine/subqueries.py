"""Random queries with subqueries that refer to the outer row, in every place that an expression may have."""

from __future__ import annotations

from random import Random

TABLES = {"a": ("k", "x", "f"), "b": ("k", "y", "g"), "c": ("k", "z", "h")}
"""The third column of each is a DOUBLE."""


def tables(dice: Random) -> list[str]:
    """The statements that make the tables. They are small, with NULLs and duplicates, so that groups are empty or have
    ties."""
    found = list[str]()
    for name, columns in TABLES.items():
        values = ", ".join(f"({integer(dice)}, {integer(dice)}, {double(dice)})" for _ in range(dice.randint(4, 8)))
        found.append(f"CREATE TABLE {name} ({columns[0]} INT, {columns[1]} INT, {columns[2]} DOUBLE)")
        found.append(f"INSERT INTO {name} VALUES {values}")
    return found


def integer(dice: Random) -> str:
    return dice.choice(["NULL", "1", "1", "2", "2", "3", "4", "5"])


def double(dice: Random) -> str:
    return dice.choice(["NULL", "0e0", "-0e0", "1.5e0", "2e0", "3e0"])


class Query:
    """One random query. `outer` columns may be used in subqueries."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.pick = dice.choice
        self.number = 0

    def alias(self) -> str:
        self.number += 1
        return f"q{self.number}"

    def outer(self) -> str:
        sources, columns = self.sources()
        kind = self.dice.random()
        column = self.pick(columns)
        if kind < 0.15:
            where = f" WHERE {self.condition(columns)}" if self.dice.random() < 0.5 else ""
            value = self.pick(
                [f"(SELECT count(*) FROM b AS i WHERE i.k <= {column})", f"sum({self.scalar(columns, 1)})"]
            )
            having = f" HAVING {self.truth([column], 1)}" if self.dice.random() < 0.4 else ""
            return f"SELECT {column} AS g, {value} AS v FROM {sources}{where} GROUP BY {column}{having}"
        if kind < 0.3:
            name = self.alias()
            inner = self.query(columns, 1, name="n")
            word = self.pick(
                [", LATERAL {} AS {}", " CROSS JOIN LATERAL {} AS {}", " LEFT JOIN LATERAL {} AS {} ON true"]
            )
            if " JOIN " not in word and " JOIN " in sources:
                word = " CROSS JOIN LATERAL {} AS {}"
            items = (
                self.pick(["*", f"{column} AS o, {name}.n AS n"])
                if " JOIN " not in sources
                else f"{column} AS o, {name}.n AS n"
            )
            return f"SELECT {items} FROM {sources}{word.format(f'({inner})', name)}"
        items = ", ".join(f"{c} AS o{i}" for i, c in enumerate(columns))
        value = self.pick([self.scalar, self.truth, self.truth])(columns, 1)
        where = f" WHERE {self.truth(columns, 1)}" if self.dice.random() < 0.4 else ""
        return f"SELECT {items}, {value} AS v FROM {sources}{where}"

    def sources(self) -> tuple[str, list[str]]:
        one, other = self.alias(), self.alias()
        table, second = self.pick(["a", "b", "c"]), self.pick(["a", "b"])
        columns = [f"{one}.{c}" for c in TABLES[table]]
        match self.dice.randrange(5):
            case 0:
                text = f"{table} AS {one} LEFT JOIN {second} AS {other} ON {one}.k = {other}.k"
            case 1:
                text = f"{table} AS {one} JOIN {second} AS {other} ON {one}.k < {other}.k"
            case 2:
                return f"(SELECT * FROM {table} WHERE k > 1) AS {one}", columns
            case _:
                return f"{table} AS {one}", columns
        return text, [*columns, f"{other}.{TABLES[second][1]}"]

    def value(self, columns: list[str]) -> str:
        return self.pick([*columns, *columns, *columns, f"{self.pick(columns)} + 1", str(self.dice.randint(0, 4))])

    def condition(self, columns: list[str], others: list[str] | None = None) -> str:
        operator = self.pick(["=", "=", "<", "<=", ">", "<>", "IS NOT DISTINCT FROM"])
        found = f"{self.pick(columns)} {operator} {self.value(others or columns)}"
        return self.pick(
            [found, found, found, f"({found} OR {self.pick(columns)} = 3)", f"{self.pick(columns)} IS NOT NULL"]
        )

    def scalar(self, columns: list[str], depth: int) -> str:
        return f"({self.query(columns, depth, single=True)})"

    def truth(self, columns: list[str], depth: int) -> str:
        inner = self.query(columns, depth)
        operand = self.value(columns)
        found = self.pick(
            [f"EXISTS ({inner})"] * 2
            + [f"NOT EXISTS ({inner})"]
            + [f"{operand} IN ({inner})"] * 2
            + [f"{operand} NOT IN ({inner})"] * 2
            + [f"{operand} > {self.scalar(columns, depth)}"]
        )
        more = f"{self.pick(columns)} = 2"
        return self.pick(
            [found] * 4
            + [f"({found} OR {more})", f"NOT ({found} AND {more})", f"({found}) IS NULL"]
            + [f"CASE WHEN {found} THEN {more} ELSE {self.pick(columns)} IS NULL END"]
        )

    def query(self, outer: list[str], depth: int, *, single: bool = False, name: str = "v") -> str:
        """A query with one column. If it is `single`, it mostly has one row at most."""
        alias, table = self.alias(), self.pick(["a", "b", "c"])
        own = [f"{alias}.{c}" for c in TABLES[table]]
        source = f"{table} AS {alias}"
        if self.dice.random() < 0.15:
            second = self.alias()
            join = self.pick(["JOIN", "LEFT JOIN"])
            source += f" {join} a AS {second} ON {alias}.k = {second}.k"
            if self.dice.random() < 0.4:
                source += f" AND {second}.x <= {self.pick(outer)}"
            own.append(f"{second}.x")
        elif self.dice.random() < 0.15:
            columns = ", ".join(TABLES[table])
            source = f"(SELECT {columns} FROM {table} WHERE {self.condition(['k'], outer)}) AS {alias}"
        conditions = [self.condition(own, outer)] if self.dice.random() < 0.9 else []
        if self.dice.random() < 0.3:
            conditions.append(self.condition(own))
        if depth and self.dice.random() < 0.25:
            conditions.append(self.truth(own + (outer if self.dice.random() < 0.3 else []), depth - 1))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        value = self.pick([*own, *own, f"{own[0]} + {self.pick(outer)}"])
        keys = [f"{column} {self.pick(['ASC', 'DESC'])} NULLS LAST" for column in self.shuffled(own)]
        order = f" ORDER BY {', '.join(keys)}"
        limit = f"{order}, 1 NULLS FIRST LIMIT {self.pick([1, 1, 2])}" + self.pick(["", "", " OFFSET 1"])
        aggregate = self.pick(
            ["count(*)", f"count({own[1]})", f"max({own[1]})", f"sum({own[0]})", f"min({own[2]}) + 1"]
        )
        one = [
            f"SELECT {aggregate} AS {name} FROM {source}{where}",
            f"SELECT {aggregate} AS {name} FROM {source}{where}",
            f"SELECT {value} AS {name} FROM {source}{where}{order}, {value} NULLS FIRST LIMIT 1",
            f"SELECT {aggregate} AS {name} FROM {source}{where} HAVING count(*) > 1",
        ]
        if single and self.dice.random() < 0.85:
            return self.pick(one)
        return self.pick(
            [
                *one,
                f"SELECT {value} AS {name} FROM {source}{where}",
                f"SELECT {value} AS {name} FROM {source}{where}",
                f"SELECT DISTINCT {value} AS {name} FROM {source}{where}",
                f"SELECT {value} AS {name} FROM {source}{where}{limit}",
                f"SELECT {own[0]} AS {name} FROM {source}{where} GROUP BY {own[0]} HAVING count(*) > 1",
                f"SELECT {own[0]} AS {name} FROM {source}{where} UNION SELECT {self.pick(outer)}",
                f"SELECT {own[0]} AS {name} FROM {source}{where} EXCEPT "
                f"SELECT i.k FROM b AS i WHERE i.y < {self.pick(outer)}",
                f"SELECT rank() OVER (ORDER BY {own[1]} NULLS LAST) AS {name} FROM {source}{where}",
            ]
        )

    def shuffled(self, columns: list[str]) -> list[str]:
        return self.dice.sample(columns, len(columns))
