"""The statements whose tables the others read: each case makes the table `{t}` of a format version.

PROPERTIES is replaced by the version, and by what the case adds for merge-on-read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MODES = ("delete", "update", "merge")


@dataclass(frozen=True)
class Case:
    statements: tuple[str, ...]
    versions: tuple[int, ...] = (1, 2, 3)
    on_read: bool = False
    ref: str | None = None
    """A branch whose rows are read as well."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Readers that can't, and why."""

    def of(self, table: str, version: int) -> list[str]:
        modes = [f"'write.{mode}.mode' = 'merge-on-read'" for mode in MODES] if self.on_read else []
        properties = f"WITH ({', '.join([f'format_version = {version}', *modes])})"
        return [s.replace("{t}", table).replace("PROPERTIES", properties) for s in self.statements]


_TWENTY = "SELECT id, id % 4, id / 2.0, nullif('text ' || id, 'text 7') FROM unnest(range(0, 20)) AS u(id)"
_MADE = (
    "CREATE TABLE {t} (id INT NOT NULL, part INT, x DOUBLE, s VARCHAR) PARTITIONED BY (part) PROPERTIES",
    f"INSERT INTO {{t}} {_TWENTY}",
)
_CHANGES: dict[str, tuple[str, ...]] = {
    "delete": (*_MADE, "DELETE FROM {t} WHERE id % 3 = 0", "DELETE FROM {t} WHERE id IN (1, 2, 5) OR s IS NULL"),
    "update": (
        *_MADE,
        "UPDATE {t} SET x = x + 100, s = 'updated' WHERE id < 6",
        "UPDATE {t} SET part = 9 WHERE id = 7",
        "UPDATE {t} SET s = NULL WHERE part = 2",
    ),
    "merge": (
        *_MADE,
        "MERGE INTO {t} AS t USING (SELECT CAST(id AS INT) AS id FROM unnest(range(15, 25)) AS u(id)) AS n "
        "ON t.id = n.id "
        "WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET s = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, part) VALUES (n.id, 1) "
        "WHEN NOT MATCHED BY SOURCE AND t.id < 2 THEN UPDATE SET x = -1.0",
    ),
}

CASES: dict[str, Case] = {
    "insert": Case(
        (
            *_MADE,
            "INSERT INTO {t} (s, id) VALUES ('only', 100), (NULL, 101)",
            "INSERT INTO {t} BY NAME SELECT 102 AS id, 'n' AS s",
        )
    ),
    "empty": Case(("CREATE TABLE {t} (id INT, s VARCHAR) PROPERTIES",)),
    "ctas": Case(
        (
            "CREATE TABLE {t} PARTITIONED BY (bucket(3, id)) PROPERTIES AS SELECT CAST(id AS INT) AS id, "
            "CAST(id * 1.5 AS DECIMAL(9, 2)) AS d FROM unnest(range(0, 50)) AS u(id)",
        )
    ),
    "or_replace": Case(
        (
            *_MADE,
            "CREATE OR REPLACE TABLE {t} PARTITIONED BY (s) PROPERTIES AS SELECT s, id AS x FROM {t} WHERE id > 10",
        )
    ),
    "overwrite": Case(
        (
            *_MADE,
            "INSERT OVERWRITE {t} PARTITION (part = 2) SELECT 200, 1.0, 'static'",
            "INSERT OVERWRITE {t} PARTITION (part = 3) SELECT 300, 1.0, 'static' WHERE FALSE",
        )
    ),
    "overwrite_dynamic": Case(
        (
            *_MADE,
            "SET partition_overwrite_mode = 'dynamic'",
            "INSERT OVERWRITE {t} VALUES (200, 2, 1.0, 'dynamic'), (201, 8, 1.0, 'new')",
            "RESET partition_overwrite_mode",
        )
    ),
    "overwrite_all": Case((*_MADE, "INSERT OVERWRITE {t} VALUES (1, 1, 1.0, 'all')")),
    "truncate": Case((*_MADE, "TRUNCATE TABLE {t}", "INSERT INTO {t} VALUES (1, 1, 1.0, 'after')")),
    "delete_partitions": Case((*_MADE, "DELETE FROM {t} WHERE part IN (0, 3)")),
    **{f"{name}_on_write": Case(statements) for name, statements in _CHANGES.items()},
    **{f"{name}_on_read": Case(statements, (2, 3), on_read=True) for name, statements in _CHANGES.items()},
    "twice_on_read": Case(
        (*_CHANGES["delete"], "UPDATE {t} SET x = 0.0 WHERE id = 4", "DELETE FROM {t} WHERE id = 4"),
        (2, 3),
        on_read=True,
    ),
    "evolution": Case(
        (
            "CREATE TABLE {t} (id INT, a INT, f REAL, d DECIMAL(5, 2), gone INT, st STRUCT(x INT, y VARCHAR)) "
            "PROPERTIES",
            "INSERT INTO {t} VALUES (1, 2, 1.5, 1.25, 3, {'x': 1, 'y': 'b'}), (NULL, NULL, NULL, NULL, NULL, NULL)",
            "ALTER TABLE {t} DROP COLUMN gone",
            "ALTER TABLE {t} RENAME COLUMN a TO b",
            "ALTER TABLE {t} ALTER COLUMN b TYPE BIGINT, ALTER COLUMN f TYPE DOUBLE",
            "ALTER TABLE {t} ALTER COLUMN d TYPE DECIMAL(10, 2)",
            "ALTER TABLE {t} ADD COLUMN a VARCHAR FIRST",
            "ALTER TABLE {t} ADD COLUMN st.z BIGINT",
            "INSERT INTO {t} VALUES ('new', 5, 5000000000, 2.5, 12345678.25, {'x': 2, 'y': 'c', 'z': 7})",
            "UPDATE {t} SET a = 'changed' WHERE id = 1",
        )
    ),
    "partition_evolution": Case(
        (
            *_MADE,
            "ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)",
            "INSERT INTO {t} VALUES (50, 1, 1.0, 'new'), (51, 2, 1.0, 'new')",
            "ALTER TABLE {t} DROP PARTITION FIELD part",
            "INSERT INTO {t} VALUES (60, 1, 1.0, 'newer')",
            "DELETE FROM {t} WHERE id IN (3, 51)",
        )
    ),
    "defaults": Case(
        (
            "CREATE TABLE {t} (id INT, n INT DEFAULT 5) PROPERTIES",
            "INSERT INTO {t} (id) VALUES (1)",
            "ALTER TABLE {t} ADD COLUMN e VARCHAR DEFAULT 'before'",
            "INSERT INTO {t} (id) VALUES (2)",
        ),
        (3,),
    ),
    "sorted": Case(
        (
            "CREATE TABLE {t} (id INT, s VARCHAR) SORTED BY (s DESC, id) PROPERTIES",
            "INSERT INTO {t} SELECT id, 'k' || (id % 5) FROM unnest(range(0, 100)) AS u(id)",
        )
    ),
    "branch": Case(
        (
            *_MADE,
            "ALTER TABLE {t} CREATE BRANCH b",
            "INSERT INTO {t} FOR BRANCH b VALUES (500, 5, 5.0, 'branch')",
            "DELETE FROM {t} FOR BRANCH b WHERE id < 10",
            "INSERT INTO {t} VALUES (600, 6, 6.0, 'main')",
        ),
        ref="b",
    ),
    "types": Case(
        (
            "CREATE TABLE {t} (n INT, b BOOLEAN, l BIGINT, r REAL, d DOUBLE, d1 DECIMAL(4, 1), d2 DECIMAL(18, 6), "
            "d3 DECIMAL(38, 10), day DATE, ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, s VARCHAR, u UUID, f BINARY(2), "
            "v VARBINARY) PROPERTIES",
            "INSERT INTO {t} VALUES (1, true, 9223372036854775807, 1.5, 1e300, 123.4, 123456789012.345678, "
            "1234567890123456789012345678.0123456789, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999', "
            "'2024-02-29 12:00:00.000001+02:00', 'ä€😀', 'f79c3e09-677c-4bbd-a479-512f87f77fbf', X'00ff', X'')",
            "INSERT INTO {t} VALUES (2, false, -9223372036854775808, 'NaN', '-Infinity', -999.9, -0.000001, "
            "-1234567890123456789012345678.0123456789, DATE '0001-01-01', '9999-12-31 23:59:59.999999', "
            "'1900-01-01 00:00:00Z', '', '00000000-0000-0000-0000-000000000000', X'ffff', X'ff00')",
            "INSERT INTO {t} (n) VALUES (3)",
        ),
    ),
    "times": Case(
        (
            "CREATE TABLE {t} (n INT, t TIME) PROPERTIES",
            "INSERT INTO {t} VALUES (1, TIME '23:59:59.999999'), (2, NULL)",
        ),
        without={"spark": "it has no such type"},
    ),
    "nanos": Case(
        (
            "CREATE TABLE {t} (n INT, ts TIMESTAMP_NS) PROPERTIES",
            "INSERT INTO {t} VALUES (1, TIMESTAMP '2024-02-29 12:00:00.123456789'), (2, NULL)",
        ),
        (3,),
        without={"spark": "it has no such type"},
    ),
    "nested": Case(
        (
            "CREATE TABLE {t} (id INT, a ARRAY(INT), m MAP(VARCHAR, DOUBLE), st STRUCT(x INT, y ARRAY(VARCHAR)), "
            "deep ARRAY(STRUCT(k VARCHAR, v MAP(INT, ARRAY(DATE))))) PROPERTIES",
            "INSERT INTO {t} VALUES (1, [1, NULL, 3], MAP {'a': 1.5, 'b': NULL}, {'x': 1, 'y': ['p', NULL]}, "
            "[{'k': 'k', 'v': MAP {1: [DATE '2024-02-29']}}]), (2, [], MAP {}, {'x': NULL, 'y': []}, [])",
            "INSERT INTO {t} (id, deep) VALUES (3, [])",
            "UPDATE {t} SET a = [9] WHERE id = 2",
        ),
    ),
    "null_lists": Case(
        (
            "CREATE TABLE {t} (id INT, deep ARRAY(STRUCT(k VARCHAR, v MAP(INT, ARRAY(DATE))))) PROPERTIES",
            "INSERT INTO {t} VALUES (1, NULL), (2, [{'k': NULL, 'v': NULL}])",
        ),
        without={"pyiceberg": "it reads a NULL list of structs as an empty one"},
    ),
    "transforms": Case(
        (
            "CREATE TABLE {t} (id INT, l BIGINT, d DATE, ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, s VARCHAR, "
            "n DECIMAL(9, 2), b VARBINARY) PARTITIONED BY (bucket(4, id), truncate(100, l), month(d), hour(ts), "
            "day(tz), truncate(2, s), truncate(50, n), bucket(3, b)) PROPERTIES",
            "INSERT INTO {t} SELECT i, i * 37 - 200, arrow_cast(CAST(i * 20 - 47 AS INT), 'Date32'), "
            "arrow_cast((i * 2 - 3) * 1800000000, 'Timestamp(Microsecond, None)'), "
            "arrow_cast((i * 2 - 3) * 1800000000, 'Timestamp(Microsecond, None)'), 'é' || i, (i - 5) * 12.34, "
            "CAST('b' || i AS BYTEA) FROM unnest(range(0, 12)) AS u(i)",
            "INSERT INTO {t} (id) VALUES (NULL)",
            "UPDATE {t} SET s = 'other' WHERE id = 3",
        ),
    ),
    "identities": Case(
        (
            "CREATE TABLE {t} (id INT, b BOOLEAN, l BIGINT, day DATE, ts TIMESTAMP, s VARCHAR, n DECIMAL(9, 2)) "
            "PARTITIONED BY (b, l, day, ts, s, n) PROPERTIES",
            "INSERT INTO {t} VALUES (1, true, 7, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999', 'a/b=c d', "
            "-1.25), (2, NULL, NULL, NULL, NULL, NULL, NULL), (3, false, 0, DATE '2024-02-29', "
            "TIMESTAMP '2024-02-29 00:00:00', '', 0.00)",
            "DELETE FROM {t} WHERE s = ''",
        ),
    ),
    "odd_identities": Case(
        (
            "CREATE TABLE {t} (id INT, u UUID, r REAL, d DOUBLE, v VARBINARY) PARTITIONED BY (u, r, d, v) PROPERTIES",
            "INSERT INTO {t} VALUES (1, 'f79c3e09-677c-4bbd-a479-512f87f77fbf', 1.5, -2.25, X'00ff'), "
            "(2, NULL, NULL, NULL, NULL)",
        ),
    ),
}
