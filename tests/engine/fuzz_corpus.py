"""Valid statements of every kind over a small catalog, and the ways in which they are spoilt."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

PREPARE = [
    "CREATE SCHEMA IF NOT EXISTS s",
    'CREATE SCHEMA IF NOT EXISTS s."deep level"',
    "CREATE TABLE IF NOT EXISTS t (id INT, name VARCHAR, price DECIMAL(10, 2), day DATE, at TIMESTAMP, ok BOOLEAN)",
    "CREATE TABLE IF NOT EXISTS s.p (id BIGINT NOT NULL, k VARCHAR, x DOUBLE) PARTITIONED BY (k, bucket(4, id))",
    "CREATE TABLE IF NOT EXISTS n (id INT, l INT ARRAY, m MAP(VARCHAR, INT), r STRUCT(a INT, b VARCHAR), u UUID)",
    'CREATE TABLE IF NOT EXISTS "Mixed" ("Id" INT, "Some Name" VARCHAR)',
    "CREATE OR REPLACE VIEW v AS SELECT id, name FROM t WHERE ok",
    "TRUNCATE TABLE t",
    "INSERT INTO t VALUES (1, 'one', 1.50, DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00:00', TRUE), "
    "(2, 'zwölf', NULL, NULL, NULL, NULL), (3, NULL, -2.25, DATE '1969-12-31', now(), FALSE)",
    "TRUNCATE TABLE s.p",
    "INSERT INTO s.p VALUES (1, 'a', 1.5), (2, 'b', NULL), (3, NULL, 0.0)",
]
"""Makes the catalog, and makes it again after something was dropped or emptied."""

READABLE = ["SELECT * FROM t", "SELECT * FROM s.p", "SELECT * FROM n", 'SELECT * FROM "Mixed"', "SELECT * FROM v"]

CORPUS = [
    # queries
    "SELECT 1",
    "SELECT * FROM t",
    "SELECT id, upper(name) AS n FROM t WHERE price > 1.0 AND day IS NOT NULL ORDER BY id DESC NULLS LAST LIMIT 2",
    "SELECT k, count(*), sum(x) FROM s.p GROUP BY k HAVING count(*) > 0 ORDER BY 1",
    "SELECT t.id, p.k FROM t JOIN s.p ON t.id = p.id LEFT JOIN v USING (id)",
    "WITH c AS (SELECT id FROM t UNION ALL SELECT 7) SELECT * FROM c WHERE id IN (SELECT id FROM s.p)",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT * FROM r",
    "SELECT id, row_number() OVER (PARTITION BY ok ORDER BY id) FROM t",
    "SELECT CASE WHEN id = 1 THEN 'a' ELSE NULL END, CAST(price AS DOUBLE), id::VARCHAR || 'x' FROM t",
    "SELECT * FROM t EXCEPT SELECT * FROM t WHERE id BETWEEN 1 AND 2",
    "SELECT l[1], m['a'], r.a, r['b'], unnest(l) FROM n",
    'SELECT "Id", Id, "Some Name" FROM "Mixed" WHERE id = 1',
    "SELECT date_trunc('month', at), at + INTERVAL '1 day', extract(year FROM day) FROM t",
    "SELECT lake.default.t.id FROM lake.default.t, lake.s.p AS q WHERE q.id = t.id",
    "SELECT sum(value) FROM range(100)",
    "SELECT * FROM generate_series(1, 5)",
    "VALUES (1, 'a'), (2, NULL)",
    "TABLE t",
    "FROM t SELECT id",
    "SELECT $1, ?, :name",
    "SELECT current_catalog, current_schema, current_user, version()",
    "SELECT * FROM t FOR VERSION AS OF 1",
    "SELECT * FROM 'file.parquet'",
    "SELECT 'it''s', e'\\n', 1e10, 0x1F, -0.0, DATE '2024-02-29', TIMESTAMP '2024-01-01T00:00:00Z' -- end",
    "SELECT /* a /* nested */ comment */ 1 WHERE EXISTS (SELECT 1 FROM t WHERE name LIKE 'o%' ESCAPE '!')",
    "EXPLAIN SELECT * FROM t WHERE id = 1",
    "EXPLAIN ANALYZE SELECT count(*) FROM t",
    "EXPLAIN FULL SELECT 1",
    "SUMMARIZE t",
    "DESCRIBE t",
    "DESCRIBE NAMESPACE s",
    "DESCRIBE SELECT 1 AS x",
    # SHOW and the session
    "SHOW CATALOGS",
    "SHOW SCHEMAS FROM lake LIKE 's%'",
    "SHOW TABLES IN lake.default LIKE 't*|v'",
    "SHOW VIEWS",
    "SHOW COLUMNS FROM t LIKE 'i%'",
    "SHOW FUNCTIONS",
    "SHOW CREATE TABLE s.p",
    "SHOW CREATE VIEW v",
    "SHOW SECRETS",
    "SHOW SESSION LIKE 'time%'",
    "SHOW STATS FOR t",
    "SHOW CURRENT NAMESPACE",
    "SEARCH 'orders' IN lake",
    "USE lake.s",
    "USE default",
    'USE s."deep level" IN lake',
    "SET time_zone = 'Europe/Berlin'",
    "SET SESSION batch_size TO 1024",
    "SET TIME ZONE '+02:00'",
    "SET target_partitions = 3",
    "RESET ALL",
    "RESET time_zone",
    "PREPARE q AS SELECT id FROM t WHERE id = $1",
    "EXECUTE q (1 + 1)",
    "DEALLOCATE q",
    "KILL QUERY '20260101_000000_00001_abcde'",
    "CALL lake.system.expire(t => 'x', 5)",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "GRANT SELECT ON t TO ada",
    "REVOKE SELECT ON t FROM ada",
    # catalogs and secrets
    "ATTACH '${TMP}/other' AS other (TYPE sqlite)",
    "ATTACH OR REPLACE '${TMP}/third.db' AS third (TYPE sqlite, WAREHOUSE '${TMP}/w', CATALOG_NAME 'x')",
    "DETACH DATABASE IF EXISTS other",
    "DETACH third",
    "CREATE CATALOG c USING sqlite WITH (LOCATION '${TMP}/c')",
    "DROP CATALOG IF EXISTS c",
    "CREATE SECRET k (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "DROP SECRET k",
    # definitions
    "CREATE SCHEMA IF NOT EXISTS a COMMENT 'c' WITH PROPERTIES ('k' = 'v')",
    "CREATE SCHEMA s.inner",
    "ALTER SCHEMA s SET PROPERTIES ('a' = 'b')",
    "DROP SCHEMA IF EXISTS a CASCADE",
    "CREATE TABLE x (a INT, b VARCHAR NOT NULL COMMENT 'b', c TIMESTAMP WITH TIME ZONE DEFAULT NULL, PRIMARY KEY (a)) "
    "PARTITIONED BY (day(c), truncate(3, b)) COMMENT 'x' WITH ('format-version' = '3')",
    "CREATE OR REPLACE TABLE y (a DECIMAL(38, 10), b TIME, c BINARY, d UUID, e STRUCT(f ARRAY(INT)))",
    "CREATE TABLE z LIKE s.p",
    "CREATE OR REPLACE TABLE ct PARTITIONED BY (k) AS SELECT k, x FROM s.p",
    "CREATE TABLE IF NOT EXISTS ct (a, b) AS SELECT 1, 'x' WITH NO DATA",
    "CREATE OR REPLACE VIEW w (a COMMENT 'first', b) AS SELECT id, k FROM s.p",
    "CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS id, 'x' AS name",
    "ALTER VIEW w AS SELECT 1 AS one",
    "ALTER VIEW IF EXISTS w RENAME TO ww",
    "ALTER TABLE x ADD COLUMN d INT COMMENT 'new' AFTER a",
    "ALTER TABLE t ADD COLUMN IF NOT EXISTS extra VARCHAR, DROP COLUMN IF EXISTS extra",
    "ALTER TABLE x RENAME COLUMN b TO bb",
    "ALTER TABLE x ALTER COLUMN a SET DATA TYPE BIGINT",
    "ALTER TABLE s.p ALTER COLUMN k DROP NOT NULL",
    "ALTER TABLE x ALTER COLUMN a SET NOT NULL",
    "ALTER TABLE y SET PROPERTIES ('write.format.default' = 'parquet')",
    "ALTER TABLE y UNSET TBLPROPERTIES IF EXISTS ('nope')",
    "ALTER TABLE ct ADD PARTITION FIELD bucket(8, x)",
    "ALTER TABLE ct DROP PARTITION FIELD k",
    "ALTER TABLE x RENAME TO xx",
    "COMMENT ON TABLE t IS 'rows'",
    "COMMENT ON COLUMN t.id IS NULL",
    "DROP TABLE IF EXISTS x",
    "DROP TABLE y PURGE",
    "DROP VIEW IF EXISTS ww",
    "ANALYZE t",
    # changes of data
    "INSERT INTO t (id, name) VALUES (10, 'ten'), (11, DEFAULT)",
    "INSERT INTO t SELECT id, k, x, NULL, NULL, id > 1 FROM s.p",
    "INSERT INTO s.p BY NAME SELECT 5 AS id, 'c' AS k",
    "INSERT INTO n VALUES (1, [1, 2], MAP {'a': 1}, NULL, '123e4567-e89b-12d3-a456-426614174000')",
    'INSERT INTO "Mixed" DEFAULT VALUES',
    "INSERT OVERWRITE t SELECT * FROM t",
    "UPDATE t SET price = price * 2, name = lower(name) WHERE id = 1",
    "UPDATE s.p AS q SET x = src.id FROM t AS src WHERE q.id = src.id",
    "DELETE FROM t WHERE id > 9",
    "DELETE FROM s.p USING t WHERE p.id = t.id AND t.name = 'none'",
    "MERGE INTO s.p AS a USING (SELECT id, name FROM t) AS b ON a.id = b.id WHEN MATCHED AND b.name IS NULL "
    "THEN DELETE WHEN MATCHED THEN UPDATE SET k = b.name WHEN NOT MATCHED THEN INSERT (id, k) VALUES (b.id, b.name)",
    "MERGE INTO t USING v ON t.id = v.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET ok = FALSE",
    "TRUNCATE TABLE ct",
    "COPY t TO '${TMP}/out.parquet' (FORMAT parquet)",
    "COPY t FROM '${TMP}/in.csv' (FORMAT csv, HEADER true)",
]

LONGEST = 100_000
"""Characters of a statement: one that is nested and then repeated would fill the memory."""
TOKEN = re.compile(r"\s+|\w+|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|.", re.DOTALL)
WORDS = [token for text in CORPUS for token in TOKEN.findall(text) if not token.isspace()]


def _class(token: str) -> str:
    if token[:1] in "'\"":
        return token[0]
    return "number" if token[:1].isdigit() else "word" if token.isupper() else "name" if token.isalpha() else "symbol"


ALIKE: dict[str, list[str]] = {}
for _word in WORDS:
    ALIKE.setdefault(_class(_word), []).append(_word)
ALIKE["number"] += ["0", "255", "65536", "3000000000"]
ODD = (
    "\x00", "\u200b", "\ufeff", "ß", "İ", "🦆", "\ud800", "\u202e", "e\u0301", "\t", "\r\n", "\\", "`", "'", '"', "--",
    "/*", "*/", ";", "$$", "$tag$", "?", "{", "}", "%", "::", "=>", "@", "#",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" + "0" * 40,
    "1e308", "1e309", "1e-400", "0.1" + "0" * 50, "NaN", "1_000", "0x", "00", "99999999999999999999999999999999999999",
)  # fmt: skip


def spoilt(chance: random.Random, most: int = 3) -> str:
    """A statement of the corpus with a few things done to it; sometimes nothing."""
    tokens = TOKEN.findall(chance.choice(CORPUS))
    for _ in range(chance.randrange(most + 1)):
        if tokens:
            tokens = TOKEN.findall("".join(chance.choice(MUTATIONS)(tokens, chance))[:LONGEST])
    return "".join(tokens)


def _at(tokens: list[str], chance: random.Random) -> int:
    places = [i for i, token in enumerate(tokens) if token.strip()]
    return chance.choice(places or range(len(tokens)))


def _delete(tokens: list[str], chance: random.Random) -> list[str]:
    at = _at(tokens, chance)
    return tokens[:at] + tokens[at + 1 :]


def _duplicate(tokens: list[str], chance: random.Random) -> list[str]:
    at = _at(tokens, chance)
    return [*tokens[: at + 1], " ", *tokens[at:]]


def _swap(tokens: list[str], chance: random.Random) -> list[str]:
    a, b = _at(tokens, chance), _at(tokens, chance)
    tokens = list(tokens)
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return tokens


def _replace(tokens: list[str], chance: random.Random) -> list[str]:
    at = _at(tokens, chance)
    return [*tokens[:at], chance.choice(WORDS), *tokens[at + 1 :]]


def _replace_alike(tokens: list[str], chance: random.Random) -> list[str]:
    """A word by a word, a string by a string: what comes out is often still a statement."""
    at = _at(tokens, chance)
    return [*tokens[:at], chance.choice(ALIKE.get(_class(tokens[at]), WORDS)), *tokens[at + 1 :]]


def _insert(tokens: list[str], chance: random.Random) -> list[str]:
    at = _at(tokens, chance)
    return [*tokens[:at], chance.choice(WORDS), " ", *tokens[at:]]


def _truncate(tokens: list[str], chance: random.Random) -> list[str]:
    text = "".join(tokens)
    return TOKEN.findall(text[: chance.randrange(len(text))])


def _flip(tokens: list[str], chance: random.Random) -> list[str]:
    data = bytearray("".join(tokens).encode("utf-8", "surrogatepass"))
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return TOKEN.findall(data.decode("utf-8", "replace"))


def _odd(tokens: list[str], chance: random.Random) -> list[str]:
    text = "".join(tokens)
    at = chance.randrange(len(text))
    return TOKEN.findall(text[:at] + chance.choice(ODD) + text[at:])


def _number(tokens: list[str], chance: random.Random) -> list[str]:
    places = [i for i, token in enumerate(tokens) if token.isdigit()]
    at = chance.choice(places) if places else _at(tokens, chance)
    return [*tokens[:at], chance.choice(NUMBERS), *tokens[at + 1 :]]


def _nest(tokens: list[str], chance: random.Random) -> list[str]:
    depth = chance.choice((3, 30, 300, 3000))
    left, right = chance.choice((("(", ")"), ("[", "]"), ("NOT ", ""), ("- ", ""), ("(SELECT ", ")"), ("ARRAY<", ">")))
    at = _at(tokens, chance)
    return [*tokens[:at], left * depth, tokens[at], right * depth, *tokens[at + 1 :]]


def _lengthen(tokens: list[str], chance: random.Random) -> list[str]:
    at = _at(tokens, chance)
    return [*tokens[:at], tokens[at] * chance.choice((50, 300, 5000)), *tokens[at + 1 :]]


MUTATIONS: tuple[Callable[[list[str], random.Random], list[str]], ...] = (
    _delete, _duplicate, _swap, _replace, _replace_alike, _replace_alike, _replace_alike, _replace_alike, _insert,
    _truncate, _flip, _odd, _number, _number, _nest, _lengthen,
)  # fmt: skip
