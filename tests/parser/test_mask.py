"""Secrets never show: not in what is shown of a statement, not in its repr, not in an error, not in masked text."""

from __future__ import annotations

import pytest

from pinakes.core.errors import PinakesError
from pinakes.parser import classify, mask
from pinakes.parser.statements import Query

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "ATTACH 'http://h' AS r (TYPE iceberg_rest, TOKEN 'hunter2')",
            "ATTACH 'http://h' AS r (TYPE iceberg_rest, TOKEN '***')",
        ),
        ("ATTACH 'pg://bob:hunter2@h/db' AS p (TYPE jdbc)", "ATTACH 'pg://bob:***@h/db' AS p (TYPE jdbc)"),
        ("ATTACH 'http://h/x?sig=hunter2&a=hunter2'", "ATTACH 'http://h/x?sig=***&a=***'"),
        ("ATTACH 'host=h password=hunter2 user=u'", "ATTACH 'host=h password=*** user=u'"),
        (
            "ATTACH 'x' (WAREHOUSE 's3://k:hunter2@b/w', SECRET my_secret)",
            "ATTACH 'x' (WAREHOUSE 's3://k:***@b/w', SECRET my_secret)",
        ),
        ("ATTACH 'x' (whatever = hunter2, N 5)", "ATTACH 'x' (whatever = '***', N '***')"),
        ("ATTACH 'x' (TYPE a /* hunter2 */) -- hunter2", "ATTACH 'x' (TYPE a )"),
        (
            "CREATE SECRET s (TYPE s3, KEY_ID 'hunter2', SECRET 'hunter2', REGION 'eu')",
            "CREATE SECRET s (TYPE s3, KEY_ID '***', SECRET '***', REGION 'eu')",
        ),
        (
            "CREATE CATALOG c USING rest WITH (credential = 'hunter2')",
            "CREATE CATALOG c USING rest WITH (credential = '***')",
        ),
        ("ATTACH 'x' ('hunter2', TYPE a)", "ATTACH 'x' ('***', TYPE a)"),
        ("SET token = 'hunter2'", "SET token = '***'"),
        ("SET GLOBAL api_key TO hunter2", "SET GLOBAL api_key TO '***'"),
        ("SET time_zone = 'UTC'", "SET time_zone = 'UTC'"),
        ("PREPARE p AS ATTACH 'x' (TOKEN 'hunter2')", "PREPARE p AS ATTACH 'x' (TOKEN '***')"),
        ("EXPLAIN FULL CREATE SECRET s (TOKEN 'hunter2')", "EXPLAIN FULL CREATE SECRET s (TOKEN '***')"),
        (
            "SELECT * FROM 'https://b.h/x.parquet?X-Amz-Date=1&X-Amz-Signature=hunter2' WHERE a = '?key=1'",
            "SELECT * FROM 'https://b.h/x.parquet?X-Amz-Date=1&X-Amz-Signature=***' WHERE a = '?key=1'",
        ),
        (
            "COPY t TO 's3://k:hunter2@b/x' (SECRET_KEY 'hunter2', DELIMITER ';')",
            "COPY t TO 's3://k:***@b/x' (SECRET_KEY '***', DELIMITER ';')",
        ),
        ("SELECT * FROM 'https://u:hunter2@h/f.parquet'", "SELECT * FROM 'https://u:***@h/f.parquet'"),
        ("SELECT 'secret' FROM secret", "SELECT 'secret' FROM secret"),
    ],
)
def test_shown(sql: str, shown: str) -> None:
    statement = classify(sql)
    assert statement.shown == shown
    assert isinstance(statement, Query) or SECRET not in repr(statement)  # a path is part of a table's name
    assert SECRET not in mask(sql)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "CREATE TABLE t (a int) WITH ('s3.secret-access-key' = 'hunter2', comment = 'c')",
            "CREATE TABLE t (a int) WITH ('s3.secret-access-key' = '***', comment = 'c')",
        ),
        ("ALTER TABLE t SET PROPERTIES s3.password = 'hunter2'", "ALTER TABLE t SET PROPERTIES s3.password = '***'"),
        ("CREATE SCHEMA s WITH (password = 'hunter2')", "CREATE SCHEMA s WITH (password = '***')"),
    ],
)
def test_properties_that_look_secret_are_not_shown(sql: str, shown: str) -> None:
    assert classify(sql).shown == mask(sql) == shown


BROKEN = [
    "ATTACH 'x' (TOKEN 'hunter2'",
    "ATTACH 'x' (TOKEN 'hunter2') hunter2",
    "ATTACH 'x' (TOKEN 'hunter2",
    "ATTACH 'x (TOKEN 'hunter2')",
    "ATTACH 'x' (TOKEN 'a', TOKEN 'hunter2')",
    "ATTACH 'x' (TOKEN = = 'hunter2')",
    "ATTACH hunter2",
    "ATTACH 'x' AS y TOKEN hunter2",
    "ATTACH 'x' (/* hunter2 */ TOKEN [1])",
    "CREATE SECRET s TOKEN 'hunter2'",
    "CREATE OR REPLACE SHARED SECRET (TYPE s3, KEY 'hunter2')",
    'CREATE SECRET s (KEY "hunter2" "hunter2")',
    "CREATE SECRET s (KEY $$hunter2$$, 'hunter2' = 1, HUNTER2 hunter2 hunter2)",
    "CREATE SECRT s (TYPE s3, KEY 'hunter2')",
    "ALTER SECRET s SET TOKEN 'hunter2'",
    "CREATE CATALOG c (TOKEN 'hunter2'",
    "ATACH 'x' (TOKEN 'hunter2')",
    "EXPLAIN ATTACH 'x' (TOKEN 'hunter2')",
    "EXPLAIN FULL ATTACH 'x' (TOKEN 'hunter2' 1)",
    "PREPARE p AS ATTACH 'x' (TOKEN 'hunter2' 1)",
    "PREPARE p AS CREATE SECRET s (TOKEN 'hunter2' 1)",
    "SET token 'hunter2'",
    "SET password = ",
    "SELECT 1; ATTACH 'x' (TOKEN 'hunter2')",
    "ATTACH 'x' (TOKEN 'hunter2'); SELECT 1",
    "SELEC 'x'; CREATE SECRET s (TOKEN 'hunter2",
    "SELECT * FROM 'https://u:hunter2@h/f.parquet' WHERE (",
    "SHOW TABLES 'https://u:hunter2@h' garbage",
    "CREATE CATALOG c WITH [; (TOKEN 'hunter2')",
    "ATTACH 'x' ('hunter2' 'hunter2' 1)",
]


@pytest.mark.parametrize("sql", BROKEN)
def test_errors_hide_secrets(sql: str) -> None:
    with pytest.raises(PinakesError) as caught:
        classify(sql)
    error = caught.value
    assert error.position is not None
    assert SECRET not in str(error).lower()
    assert SECRET not in repr(error).lower()
    assert SECRET not in error.position.text.lower()
    assert SECRET not in mask(sql).lower()
    cause = error.__cause__ or error.__context__
    while cause is not None:
        assert SECRET not in str(cause).lower()
        cause = cause.__cause__ or cause.__context__


def test_mask_leaves_the_rest_alone() -> None:
    script = "SELECT 'a' -- b\n; CREATE TABLE t (a INT DEFAULT 'x');\nSHOW TABLES LIKE 'y%'"
    assert mask(script) == script
    assert mask("SELECT 1; ATTACH 'x' (TOKEN 'y'); SELECT 'z'") == "SELECT 1; ATTACH 'x' (TOKEN '***'); SELECT 'z'"


def test_position_moves_with_the_mask() -> None:
    with pytest.raises(PinakesError) as caught:
        classify("ATTACH 'a-long-location' AS c (TOKEN 'long-secret') garbage")
    position = caught.value.position
    assert position is not None
    assert position.text[position.column - 1 :].startswith("***")
