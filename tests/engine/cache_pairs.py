"""Random statements for two engines, each with a lake of its own: one remembers all that it may, the other nothing.

Whatever three sessions of two users do, both must give the same rows, or the same kind of error. Tables, views, files
and temporary things share a few names, and queries a few texts, so that what is remembered is asked for again and again
after all else has changed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pinakes.api.build import open_engine
from pinakes.config.model import CachesConfig, Config, EngineConfig, SizedCacheConfig
from pinakes.core.errors import PinakesError
from pinakes.core.identity import Identity

PEOPLE = {
    "alice": Identity("alice", roles=frozenset({"admin"})),
    "alice again": Identity("alice", roles=frozenset({"admin"})),
    "bob": Identity("bob"),
}
NAMES = ("one.s.a", "two.s.a", "one.s.b", "two.r.a", "a", "b")
"""`one` and `two` are mounts of one place; a name alone is looked up where the session is."""
MARKS = ("x", "y")
ZONES = ("UTC", "Europe/Berlin", "Asia/Tokyo")

Answer = tuple[Any, ...]


@dataclass(frozen=True)
class Step:
    who: str
    sql: str
    parameters: dict[str, Any] = field(default_factory=dict)


class Twin:
    """One engine of the pair, with sessions, mounts and a directory of files."""

    def __init__(self, place: Path, caches: CachesConfig) -> None:
        self.place = place
        self.engine = open_engine(Config(engine=replace(EngineConfig(), data=str(place / "lake")), caches=caches))
        self.sessions = {name: self.engine.session(who) for name, who in PEOPLE.items()}
        self.write_file(0)
        options = "CATALOG_NAME 'w', VISIBILITY all"
        admin = self.sessions["alice"]
        for mount in ("one", "two"):
            admin.run(f"ATTACH '{place / 'shared'}' AS {mount} (TYPE sqlite, {options})")
        admin.run(f"ATTACH '{place / 'files'}' AS f (TYPE files, VISIBILITY all)")
        for schema in ("s", "r"):
            admin.run(f"CREATE SCHEMA one.{schema}")

    def write_file(self, number: int) -> None:
        """A file that a catalog has as a table, changed behind its back."""
        (self.place / "files").mkdir(exist_ok=True)
        (self.place / "files" / "c.csv").write_text(f"id,v\n{number},{number * 2}\n")

    def answer(self, step: Step) -> Answer:
        try:
            result = self.sessions[step.who].run(step.sql, step.parameters)
            if result.kind != "rows":
                result.read_all()
                return ("done", result.count)
            rows = result.read_all()
        except PinakesError as error:
            if error.code == "TRANSACTION_ABORTED":
                self.sessions[step.who].run("ROLLBACK")
            return ("error", error.code)
        return ("rows", str(rows.schema), sorted(map(repr, rows.to_pylist())))

    def close(self) -> None:
        self.engine.close()


def without_memory() -> CachesConfig:
    """Caches that keep nothing."""
    caches = CachesConfig()
    sections = {f.name: getattr(caches, f.name) for f in fields(caches) if f.name != "memory_budget"}
    off = {
        name: replace(section, **{"max_bytes" if isinstance(section, SizedCacheConfig) else "max_entries": 0})
        for name, section in sections.items()
    }
    return replace(caches, **off)


# --- statements --------------------------------------------------------------------------------------------------


def steps(chance: random.Random, count: int) -> Iterator[Step | int]:
    """What is done, one after the other; a number is what a file has from now on. A few queries are asked over and
    over, by one session and by all."""
    people, usual = list(PEOPLE), [_asked(chance, "") for _ in range(6)]
    for name in NAMES[:4]:
        yield Step("alice", f"CREATE TABLE IF NOT EXISTS {name} AS SELECT 1 AS id, 10 AS v")
    yield from (Step(who, f"USE one.{chance.choice('sr')}") for who in people)
    for number in range(1, count + 1):
        if chance.random() < 0.05:
            yield number
        else:
            yield _changed(chance, chance.choice(people), number)
        asked = replace(chance.choice(usual), who=chance.choice(people))
        yield from (asked, asked, replace(asked, who=chance.choice(people)), _asked(chance, chance.choice(people)))


def _changed(chance: random.Random, who: str, number: int) -> Step:
    makers = list(_CHANGES)
    maker = chance.choices(makers, [_CHANGES[m] for m in makers])[0]
    return Step(who, maker(chance, chance.choice(NAMES), number))


def _asked(chance: random.Random, who: str) -> Step:
    text = chance.choice(_QUERIES).format(chance.choice(NAMES), chance.choice(NAMES), mark=chance.choice(MARKS))
    if ":p" not in text:
        return Step(who, text)
    return Step(who, text, {"p": chance.choice([1, 1.0, "1", True, None, 2])})


Maker = Callable[[random.Random, str, int], str]


def _schema(chance: random.Random, name: str, number: int) -> str:
    del name, number
    return chance.choice(["USE one.s", "USE two.s", "USE one.r", "USE lake.default"])


def _settings(chance: random.Random, name: str, number: int) -> str:
    del name
    return chance.choice(
        [
            f"SET time_zone = '{chance.choice(ZONES)}'",
            f"SET batch_size = {chance.choice([1, 7, 32768])}",
            f"SET result_cache = {chance.choice(['true', 'false'])}",
            f"SET target_partitions = {1 + number % 3}",
        ]
    )


def _columns(chance: random.Random, name: str, number: int) -> str:
    return chance.choice(
        [
            f"ALTER TABLE {name} ADD COLUMN c{number % 3} BIGINT",
            f"ALTER TABLE {name} DROP COLUMN c{number % 3}",
            f"ALTER TABLE {name} RENAME COLUMN v TO w",
            f"ALTER TABLE {name} RENAME COLUMN w TO v",
            f"ALTER TABLE {name} ALTER COLUMN v SET DATA TYPE BIGINT",
            f"COMMENT ON TABLE {name} IS 'comment {number}'",
        ]
    )


def _marks(chance: random.Random, name: str, number: int) -> str:
    del number
    mark = chance.choice(MARKS)
    return chance.choice(
        [
            f"ALTER TABLE {name} CREATE OR REPLACE TAG {mark}",
            f"ALTER TABLE {name} CREATE OR REPLACE BRANCH b{mark}",
            f"INSERT INTO {name} FOR BRANCH b{mark} (id) VALUES (77)",
            f"ALTER TABLE {name} DROP TAG {mark}",
        ]
    )


def _called(chance: random.Random, name: str, number: int) -> str:
    del number
    catalog = name.split(".")[0] if "." in name else "one"
    table = name.split(".", 1)[1] if "." in name else "s.a"
    return chance.choice(
        [
            f"CALL {catalog}.system.expire_snapshots('{table}', now() + INTERVAL '1' DAY, 1)",
            f"CALL {catalog}.system.fast_forward('{table}', 'main', 'bx')",
        ]
    )


def _prepared(chance: random.Random, name: str, number: int) -> str:
    del number
    return f"PREPARE p AS SELECT * FROM {name} WHERE id > {chance.choice([0, 50])}"


def _temporary(chance: random.Random, name: str, number: int) -> str:
    word = name.rsplit(".", 1)[-1]
    return chance.choice(
        [
            f"CREATE OR REPLACE TEMP TABLE {word} AS SELECT {number} AS id, 0 AS v",
            f"CREATE OR REPLACE TEMP VIEW {word} AS SELECT id, v FROM one.s.b",
            f"DROP TABLE IF EXISTS temp.main.{word}",
            f"DROP VIEW IF EXISTS temp.main.{word}",
        ]
    )


def _view(chance: random.Random, name: str, number: int) -> str:
    source = chance.choice([n for n in NAMES if "." in n] + ["f.c", "one.s.v2"])
    return chance.choice(
        [
            f"CREATE OR REPLACE VIEW one.s.v AS SELECT id, {number} AS v FROM {source}",
            f"CREATE OR REPLACE VIEW one.s.v AS SELECT * FROM {source}",
            f"CREATE OR REPLACE VIEW one.s.v2 AS SELECT id, v, current_user AS u, current_schema AS c FROM {name}",
            "DROP VIEW IF EXISTS one.s.v",
        ]
    )


def _made_otherwise(chance: random.Random, name: str, number: int) -> str:
    other = chance.choice(NAMES)
    word = other.rsplit(".", 1)[-1]
    return chance.choice(
        [
            f"DROP TABLE {name}",
            f"ALTER TABLE {name} RENAME TO {word}",
            f"CREATE OR REPLACE TABLE {name} (id INTEGER, v INTEGER)",
            f"CREATE OR REPLACE TABLE {name} AS SELECT {number} AS id, 5 AS v, TIMESTAMPTZ '2020-01-01 00:00:00Z' AS t",
            f"CREATE TABLE IF NOT EXISTS {name} AS SELECT * FROM {other}",
            f"TRUNCATE TABLE {name}",
        ]
    )


_CHANGES: dict[Maker, float] = {
    lambda _, name, n: f"INSERT INTO {name} (id) VALUES ({n}), ({n + 1000})": 6,
    lambda _, name, n: f"UPDATE {name} SET id = id + {n} WHERE id % 2 = 0": 2,
    lambda _, name, n: f"DELETE FROM {name} WHERE id % 3 = {n % 3}": 2,
    lambda _, name, n: f"CREATE TABLE IF NOT EXISTS {name} AS SELECT {n} AS id, {n} AS v": 4,
    lambda c, _, __: c.choice(["BEGIN", "COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK"]): 4,
    _made_otherwise: 3,
    _columns: 2,
    _marks: 2,
    _called: 1.5,
    _schema: 1.5,
    _settings: 1.5,
    _prepared: 1,
    _temporary: 1,
    _view: 2,
}

_QUERIES = (
    "SELECT * FROM {0}",
    "SELECT * FROM {0}",
    "SELECT count(*) AS n, sum(id) AS s FROM {0}",
    "SELECT id FROM {0} WHERE id > :p",
    "SELECT :p AS p, id FROM {0}",
    "SELECT * FROM one.s.v",
    "SELECT * FROM two.s.v",
    "SELECT * FROM one.s.v2",
    "SELECT l.id, r.id AS other FROM {0} AS l JOIN {1} AS r ON l.id = r.id",
    "SELECT id FROM {0} UNION ALL SELECT id FROM {1}",
    "WITH a AS (SELECT id + 1 AS id FROM {0}) SELECT a.id FROM a WHERE id IN (SELECT id FROM {1})",
    "SELECT id, (SELECT max(id) FROM {1}) AS m FROM {0}",
    "SELECT * FROM {0} FOR VERSION AS OF '{mark}'",
    "SELECT * FROM {0} FOR VERSION AS OF 'b{mark}'",
    "SELECT * FROM {0} FOR TIMESTAMP AS OF now()",
    'SELECT count(*) AS n FROM one.s."a$snapshots"',
    'SELECT name, type FROM one.s."a$refs"',
    "SELECT table_name, table_type FROM one.information_schema.tables WHERE table_schema IN ('s', 'r')",
    "SELECT table_name, column_name, data_type FROM two.information_schema.columns WHERE table_schema IN ('s', 'r')",
    "SELECT * FROM f.c",
    "SELECT a.id FROM {0} AS a CROSS JOIN f.c",
    "SELECT current_user AS u, current_catalog AS c, current_schema AS s, id FROM {0}",
    "EXECUTE p",
    "SHOW TABLES IN one.s",
    "DESCRIBE {0}",
    "SELECT t FROM {0} ORDER BY id LIMIT 3",
    "SELECT CAST(t AS VARCHAR) AS t FROM {0}",
)
