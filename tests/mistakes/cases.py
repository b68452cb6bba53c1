"""The mistakes, each as it would be typed; `expected.txt` has what is answered.

A case is SQL, unless it begins with `pinakes`: then it is a command line. All run on the tables of `GIVEN`.
"""

from __future__ import annotations

GIVEN = """
CREATE TABLE points (name VARCHAR NOT NULL, x DOUBLE, day DATE);
INSERT INTO points VALUES ('a', 1, DATE '2024-01-01'), ('b', 2, DATE '2024-01-02');
CREATE VIEW best AS SELECT * FROM points WHERE x > 1;
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id BIGINT, total DECIMAL(10, 2));
"""

NAMES = (
    "SELECT * FROM pionts",
    "SELECT nmae FROM points",
    "SELECT * FROM orders",
    "SELECT * FROM sale.orders",
    "SELECT * FROM warehouse.sales.orders",
    "SHOW TABLES IN slaes",
    "USE slaes",
    "SELECT uper(name) FROM points",
    "SELECT points.y FROM points p",
    "SELECT * FROM points p JOIN points q ON name = name",
)
TEXT = (
    'SELECT * FROM points WHERE name = "a"',
    "SELEC * FROM points",
    "SELECT * FORM points",
    "SHOW TABELS",
    "SELECT count(* FROM points",
    "SELECT 'it's' FROM points",
    "SELECT 1 SELECT 2",
    "SELECT name FROM points WHERE x = = 1",
    "DELETE points",
)
MEANING = (
    "SELECT name, count(*) FROM points",
    "SELECT * FROM points WHERE count(*) > 1",
    "SELECT name + 1 FROM points",
    "SELECT * FROM points WHERE day = '2024-13-01'",
    "SELECT CAST(name AS INTEGER) FROM points",
    "SELECT 1 / 0",
    "SELECT * FROM points FOR TIMESTAMP AS OF TIMESTAMP '2001-01-01 00:00:00'",
    "SELECT * FROM points FOR VERSION AS OF 'mian'",
)
CHANGES = (
    "CREATE TABLE points (a INTEGER)",
    "CREATE TABLE t (a STRNG)",
    "CREATE TABLE nowhere.t (a INTEGER)",
    "INSERT INTO points VALUES ('c', 1)",
    "INSERT INTO points VALUES ('c', 'much', NULL)",
    "INSERT INTO points VALUES (NULL, 1, NULL)",
    "INSERT INTO sales.orders VALUES (1, 123456789012.00)",
    "INSERT INTO best VALUES ('c', 1, NULL)",
    "UPDATE points SET y = 1",
    "DROP TABLE pionts",
    "DROP TABLE best",
    "DROP SCHEMA sales",
    "ALTER TABLE points ALTER COLUMN x TYPE INTEGER",
    "GRANT SELECT ON points TO ann",
)
MOUNTS = (
    "ATTACH '/data' AS p (TYPE postgres)",
    "ATTACH '/data' AS p",
    "ATTACH 'http://127.0.0.1:1' AS p (TYPE iceberg_rest)",
    "ATTACH 'http://127.0.0.1:1' AS p (TYPE iceberg_rest, WAREHOSE 'x')",
    "ATTACH 'http://127.0.0.1:1' AS p (TYPE iceberg_rest, SECRET tok)",
    "ATTACH 'postgresql://ann:hunter2@127.0.0.1:1/db' AS p (TYPE jdbc)",
    "ATTACH 'missing.db' AS lake (TYPE sqlite)",
    "DETACH partner",
    "CREATE SECRET s (TYPE bearr, TOKEN 'x')",
)
FILES = (
    "SELECT * FROM 'missing.csv'",
    "SELECT * FROM 'points'",
    "SELECT * FROM 'data.xlsx'",
    "SELECT * FROM read_csv('broken.csv')",
    "COPY points TO 'nowhere/points.csv'",
)
SETTINGS = ("SET tmie_zone = 'UTC'", "SET time_zone = 'Mars/Olympus'", "SET batch_size = many")
COMMANDS = (
    "pinakes select 1",
    "pinakes --fromat csv",
    "pinakes -f missing.sql",
    "pinakes --config missing.toml -c 'SELECT 1'",
    "pinakes --config wrong.toml -c 'SELECT 1'",
    "pinakes --uri grpc://127.0.0.1:1 -c 'SELECT 1'",
    "pinakes --uri localhost:31337 -c 'SELECT 1'",
    "pinakes serve --host 0.0.0.0",
    "pinakes serve --tls-cert missing.pem",
)
CASES = (*NAMES, *TEXT, *MEANING, *CHANGES, *MOUNTS, *FILES, *SETTINGS, *COMMANDS)
