"""Random queries of the forms that optimisers get wrong: subqueries that refer to the row around them, outer joins,
aggregates without groups, conditions that are constant or NULL, rows as values, windows, set operations.

They mean the same in PostgreSQL and here, over small tables with NULLs and duplicates. Types are kept simple, since
`test_differential_queries.py` is about these.
"""

from __future__ import annotations

from random import Random

INT, TEXT, BOOLEAN = "INT", "VARCHAR", "BOOLEAN"

TABLES = {
    "a": {"id": INT, "k": INT, "x": INT, "s": TEXT},
    "b": {"id": INT, "k": INT, "y": INT, "f": BOOLEAN},
    "c": {"k": INT, "z": INT, "s": TEXT},
    "e": {"id": INT, "k": INT},
}
SETUP = [
    *(f"CREATE TABLE {name} ({', '.join(f'{c} {t}' for c, t in columns.items())})" for name, columns in TABLES.items()),
    "INSERT INTO a VALUES (1, 1, 3, 'u'), (2, 2, NULL, 'v'), (3, NULL, 5, NULL), (4, 1, 3, 'u'), (5, 5, 2, 'w')",
    "INSERT INTO a VALUES (6, NULL, NULL, 'u'), (6, 3, 0, ''), (2, 2, 2, 'v')",
    "INSERT INTO b VALUES (1, 1, 3, TRUE), (2, 2, NULL, FALSE), (3, NULL, 5, NULL), (7, 1, 2, TRUE), (8, 9, 4, FALSE)",
    "INSERT INTO b VALUES (1, 1, 3, TRUE), (NULL, 4, 0, NULL)",
    "INSERT INTO c VALUES (1, 5, 'u'), (NULL, NULL, 'v'), (9, 4, NULL), (1, 5, 'u'), (3, 0, 'w')",
]

Columns = dict[str, str]
"""How each column is written, and its type."""


class Hard:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.pick = random.choice
        self._aliases = 0

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def alias(self, prefix: str = "t") -> str:
        self._aliases += 1
        return f"{prefix}{self._aliases}"

    # --- queries ---------------------------------------------------------------------------------------------------

    def query(self) -> str:
        shape = self.random.random()
        if shape < 0.15:
            name = self.alias("w")
            inner, columns = self.select(2, {})
            again = f"{name} AS {name}_2" if self.chance(0.4) else ""
            given = {f"{name}.{c}": t for c, t in columns.items()}
            if again:
                given |= {f"{name}_2.{c}": t for c, t in columns.items()}
            outer = ", ".join(f"{c} AS o{i}" for i, c in enumerate(given))
            joined = f"{name} CROSS JOIN {again}" if again else name
            return f"WITH {name} AS ({inner}) SELECT {outer} FROM {joined} WHERE {self.condition(given, {}, 2)}"
        if shape < 0.25:
            types = [self.pick((INT, INT, TEXT)) for _ in range(self.random.randint(1, 2))]
            word = self.pick(("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
            sides = f" {word} ".join(self.columns(types, {}, 1) for _ in range(2))
            if self.chance(0.5):
                return sides
            given = {f"q.o{i}": t for i, t in enumerate(types)}
            return f"SELECT * FROM ({sides}) AS q WHERE {self.condition(given, {}, 1)}"
        return self.select(3, {})[0]

    def select(self, depth: int, outer: Columns) -> tuple[str, Columns]:
        """A SELECT, and its columns."""
        source, columns = self.source(depth, outer)
        where = f" WHERE {self.condition(columns, outer, depth)}" if self.chance(0.6) else ""
        shape = self.random.random()
        if shape < 0.2:
            return self.aggregated(source, where, columns, outer, depth)
        if shape < 0.4:
            return self.grouped(source, where, columns, outer, depth)
        types = [self.pick((INT, INT, TEXT, BOOLEAN)) for _ in range(self.random.randint(1, 3))]
        made = {f"o{i}": t for i, t in enumerate(types)}
        texts = [f"{self.value(t, columns, outer, depth)} AS {name}" for name, t in made.items()]
        if self.chance(0.15):
            ints = [c for c, t in columns.items() if t == INT]
            call = (
                self.pick((f"count({self.pick(ints)})", f"max({self.pick(ints)})", "count(*)")) if ints else "count(*)"
            )
            texts.append(f"{call} OVER (PARTITION BY {self.pick(list(columns))}) AS o9")
            made["o9"] = INT
        distinct = self.pick(("", "", "", "DISTINCT "))
        return f"SELECT {distinct}{', '.join(texts)} FROM {source}{where}", made

    def aggregated(self, source: str, where: str, columns: Columns, outer: Columns, depth: int) -> tuple[str, Columns]:
        made = {f"o{i}": INT for i in range(self.random.randint(1, 2))}
        texts = [f"{self.aggregate(columns)} AS {name}" for name in made]
        if self.chance(0.2):
            texts.append("1 AS one")
            made["one"] = INT
        having = f" HAVING {self.having(columns, outer, depth)}" if self.chance(0.35) else ""
        return f"SELECT {', '.join(texts)} FROM {source}{where}{having}", made

    def grouped(self, source: str, where: str, columns: Columns, outer: Columns, depth: int) -> tuple[str, Columns]:
        keys = self.random.sample(list(columns), min(len(columns), self.random.randint(1, 2)))
        made = {f"o{i}": columns[c] for i, c in enumerate(keys)} | {"n": INT}
        texts = [*(f"{c} AS o{i}" for i, c in enumerate(keys)), f"{self.aggregate(columns)} AS n"]
        listed = ", ".join(keys)
        groups = self.pick((
            listed, listed, listed, f"ROLLUP ({listed})", f"CUBE ({listed})",
            f"GROUPING SETS (({listed}), ({keys[0]}), ())",
            f"GROUPING SETS ({listed}), ({listed})",
        ))  # fmt: skip
        if len(keys) == 1 and groups.endswith(f", ({listed})"):
            groups = listed
        having = f" HAVING {self.having(columns, outer, depth)}" if self.chance(0.4) else ""
        return f"SELECT {', '.join(texts)} FROM {source}{where} GROUP BY {groups}{having}", made

    def having(self, columns: Columns, outer: Columns, depth: int) -> str:
        """A condition on aggregates, on what is around, or on nothing."""
        first = f"{self.aggregate(columns)} {self.pick(('>', '<', '=', '<>'))} {self.random.randrange(4)}"
        other = self.pick((
            self.constant(BOOLEAN), f"{self.aggregate(columns)} BETWEEN {self.constant(INT)} AND 7",
            f"{self.scalar(outer, depth)} > {self.random.randrange(4)}", "1 > 2", f"{self.aggregate(columns)} IS NULL",
        ))  # fmt: skip
        return self.pick((first, other, other, f"{first} AND {other}", f"{first} OR {other}", f"NOT ({other})"))

    def columns(self, types: list[str], outer: Columns, depth: int) -> str:
        """A SELECT of columns of these types."""
        if self.chance(0.15) and set(types) == {INT}:
            source, columns = self.source(depth, outer)
            texts = ", ".join(f"{self.aggregate(columns)} AS o{i}" for i in range(len(types)))
            return f"SELECT {texts} FROM {source}"
        source, columns = self.source(depth, outer)
        texts = ", ".join(f"{self.value(t, columns, {}, 0)} AS o{i}" for i, t in enumerate(types))
        where = f" WHERE {self.condition(columns, outer, depth)}" if self.chance(0.7) else ""
        return f"SELECT {texts} FROM {source}{where}"

    def source(self, depth: int, outer: Columns) -> tuple[str, Columns]:
        """A table, a subquery, or a join."""
        left, columns = self.one_source(depth)
        if depth < 1 or self.chance(0.55):
            return left, columns
        right, others = self.one_source(depth)
        both = columns | others
        kind = self.pick(("JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LATERAL"))
        if kind == "LATERAL":
            name = self.alias("l")
            inner, made = self.select(0, columns)
            given = columns | {f"{name}.{c}": t for c, t in made.items()}
            return f"{left} CROSS JOIN LATERAL ({inner}) AS {name}", given
        if kind == "CROSS JOIN":
            return f"{left} CROSS JOIN {right}", both
        keys = [(p, q) for p in columns for q in others if columns[p] == others[q] != BOOLEAN]
        if not keys:
            return f"{left} CROSS JOIN {right}", both
        one, other = self.pick(keys)
        on = f"{one} = {other}"
        if kind != "FULL JOIN" and self.chance(0.4):
            more = self.pick((self.constant(BOOLEAN), self.condition(both, {}, 0), f"({one}, 1) = ({other}, 1)"))
            on = self.pick((f"{on} AND {more}", more))
        return f"{left} {kind} {right} ON {on}", both

    def one_source(self, depth: int) -> tuple[str, Columns]:
        name = self.alias()
        if depth > 0 and self.chance(0.25):
            inner, columns = self.select(depth - 1, {})
            return f"({inner}) AS {name}", {f"{name}.{c}": t for c, t in columns.items()}
        table = self.pick(("a", "a", "b", "b", "c", "e"))
        return f"{table} AS {name}", {f"{name}.{c}": t for c, t in TABLES[table].items()}

    # --- values ----------------------------------------------------------------------------------------------------

    def constant(self, kind: str) -> str:
        if self.chance(0.2):
            return f"CAST(NULL AS {kind})"
        if kind == INT:
            return str(self.random.randrange(7))
        return self.pick(("'u'", "'v'", "''")) if kind == TEXT else self.pick(("TRUE", "FALSE"))

    def column(self, kind: str, columns: Columns, outer: Columns) -> str:
        own = [c for c, t in columns.items() if t == kind]
        others = [c for c, t in outer.items() if t == kind]
        if others and self.chance(0.3):
            return self.pick(others)
        return self.pick(own) if own and self.chance(0.85) else self.constant(kind)

    def value(self, kind: str, columns: Columns, outer: Columns, depth: int) -> str:
        if kind == BOOLEAN:
            return f"({self.condition(columns, {}, min(depth, 1) if self.chance(0.2) else 0)})"
        if kind == INT and depth > 1 and self.chance(0.2):
            return self.scalar(columns, depth - 1)
        first, other = self.column(kind, columns, outer), self.column(kind, columns, {})
        if kind == TEXT:
            return self.pick((first, f"coalesce({first}, 'n')", f"nullif({first}, {other})"))
        case = f"CASE WHEN {self.condition(columns, {}, 0)} THEN {first} ELSE {other} END"
        return self.pick((first, first, f"({first} + 1)", f"coalesce({first}, {other})", case))

    def aggregate(self, columns: Columns) -> str:
        ints = [c for c, t in columns.items() if t == INT]
        if not ints:
            return "count(*)"
        column = self.pick(ints)
        return self.pick((
            "count(*)", "count(*)", f"count({column})", f"sum({column})", f"max({column})", f"min({column})",
            f"count(DISTINCT {column})", f"coalesce(sum({column}), 0)", f"count(*) FILTER (WHERE {column} > 2)",
        ))  # fmt: skip

    def scalar(self, outer: Columns, depth: int) -> str:
        """A subquery that gives one row."""
        source, columns = self.source(min(depth - 1, 1), outer)
        where = f" WHERE {self.correlated(columns, outer, depth - 1)}" if self.chance(0.85) else ""
        having = f" HAVING {self.having(columns, {}, 0)}" if self.chance(0.15) else ""
        item = (
            self.aggregate(columns)
            if self.chance(0.9)
            else f"CASE WHEN {self.aggregate(columns)} > 1 THEN 1 ELSE 5 END"
        )
        return f"(SELECT {item} FROM {source}{where}{having})"

    # --- conditions ------------------------------------------------------------------------------------------------

    def correlated(self, columns: Columns, outer: Columns, depth: int) -> str:
        """A condition in a subquery; most of them speak of the row around it."""
        pairs = [(p, q) for p, t in columns.items() for q, u in outer.items() if t == u == INT]
        if not pairs or self.chance(0.15):
            return self.condition(columns, {}, depth)
        one, other = self.pick(pairs)
        found = f"{one} {self.pick(('=', '=', '=', '=', '<', 'IS NOT DISTINCT FROM'))} {other}"
        if self.chance(0.3):
            found = f"({found}) {self.pick(('AND', 'AND', 'OR'))} {self.condition(columns, {}, 0)}"
        return found

    def condition(self, columns: Columns, outer: Columns, depth: int) -> str:
        if depth > 0 and self.chance(0.3):
            one, other = self.condition(columns, outer, depth - 1), self.condition(columns, outer, depth - 1)
            return self.pick((f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})"))
        if depth > 1 and self.chance(0.45):
            return self.subquery_condition(columns, depth)
        ints = [c for c, t in columns.items() if t == INT]
        kind = INT if ints and self.chance(0.75) else self.pick(list(columns.values()) or [INT])
        one, other = self.column(kind, columns, outer), self.column(kind, columns, outer)
        if kind == BOOLEAN:
            return self.pick((one, f"NOT {one}", f"({one}) IS NOT TRUE", f"{one} = {other}", self.constant(BOOLEAN)))
        operator = self.pick(("=", "=", "<>", "<", "<=", ">", ">="))
        third = self.constant(kind)
        choices = [
            f"{one} {operator} {other}", f"{one} {operator} {third}", f"{one} IS {self.pick(('', 'NOT '))}NULL",
            f"{one} {self.pick(('', 'NOT '))}IN ({other}, {third}, {self.constant(kind)})",
            f"{one} {self.pick(('', 'NOT '))}IN ({self.constant(kind)}, {third}, {self.constant(kind)}, {other}, 1)"
            if kind == INT else f"{one} NOT IN ({third}, {self.constant(kind)}, {other}, 'x', 'y')",
            f"{one} {self.pick(('', 'NOT '))}BETWEEN {third} AND {other}",
            f"{one} IS {self.pick(('', 'NOT '))}DISTINCT FROM {other}",
            f"({one}, {self.column(INT, columns, {})}) {operator} ({other}, {self.constant(INT)})",
            f"({one}, {self.column(INT, columns, {})}) {self.pick(('', 'NOT '))}IN (({other}, 1), ({third}, 2))",
            f"{one} {operator} {self.pick(('ANY', 'ALL'))} (ARRAY[{other}, {third}, {self.constant(kind)}])",
            f"{one} IN ({third}, CASE WHEN {other} IS NULL THEN {third} ELSE {other} END)",
        ]  # fmt: skip
        return self.pick(choices)

    def subquery_condition(self, columns: Columns, depth: int) -> str:
        ints = [c for c, t in columns.items() if t == INT]
        one = self.pick(ints) if ints else self.constant(INT)
        if self.chance(0.3):
            return f"{one} {self.pick(('=', '<', '>', '<>'))} {self.scalar(columns, depth - 1)}"
        source, own = self.source(min(depth - 1, 1), columns)
        where = f" WHERE {self.correlated(own, columns, depth - 2)}" if self.chance(0.85) else ""
        inner = [c for c, t in own.items() if t == INT] or ["1"]
        item = self.aggregate(own) if self.chance(0.2) else self.pick(inner)
        grouped = f" GROUP BY {self.pick(inner)} HAVING count(*) > 1" if item not in inner and self.chance(0.4) else ""
        end = self.pick(("", "", "", "", " LIMIT 1", " OFFSET 1", " LIMIT 0"))
        union = f" UNION ALL SELECT z FROM c WHERE {self.condition({'c.k': INT, 'c.z': INT}, {}, 0)}"
        query = f"SELECT {item} FROM {source}{where}{grouped}"
        if self.chance(0.1):
            query += union
        negated = self.pick(("", "NOT "))
        return self.pick((
            f"{negated}EXISTS ({query}{end})", f"{negated}EXISTS ({query}{end})", f"{one} {negated}IN ({query})",
            f"{one} {self.pick(('=', '>', '<>'))} {self.pick(('ANY', 'ALL'))} ({query})",
        ))  # fmt: skip
