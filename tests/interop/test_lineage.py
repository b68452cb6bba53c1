"""Row lineage of version 3, as Spark reads it: a row keeps its id for as long as it lives, whoever writes it anew."""

from __future__ import annotations

import pytest

from tests.engine.support import do, rows
from tests.interop.peers import Lake, Spark

pytestmark = pytest.mark.slow

Lineage = dict[int, tuple[int, int]]
"""Row id and sequence number of the last change, by the id that the user gave."""


def lineage(lake: Lake, spark: Spark, table: str) -> Lineage:
    columns = "id, _row_id, _last_updated_sequence_number"
    found = spark.sql(f"SELECT {columns} FROM {lake.catalog}.s.{table}").to_pylist()
    return {row["id"]: (row["_row_id"], row["_last_updated_sequence_number"]) for row in found}


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_rows_keep_their_ids(lake: Lake, spark: Spark, mode: str) -> None:
    name = f"t_{mode[:4]}"
    modes = ", ".join(f"'write.{change}.mode' = '{mode}'" for change in ("delete", "update", "merge"))
    do(lake.session, f"CREATE TABLE {name} (id INT, v INT) SORTED BY (v) WITH (format_version = 3, {modes})")
    do(lake.session, f"INSERT INTO {name} VALUES (1, 1), (2, 2), (3, 3)")
    do(lake.session, f"INSERT INTO {name} VALUES (4, 4), (5, 5), (6, 6)")
    expected: Lineage = {1: (0, 1), 2: (1, 1), 3: (2, 1), 4: (3, 2), 5: (4, 2), 6: (5, 2)}
    assert lineage(lake, spark, name) == expected
    do(lake.session, f"DELETE FROM {name} WHERE id = 2")
    del expected[2]
    assert lineage(lake, spark, name) == expected
    do(lake.session, f"UPDATE {name} SET v = 0 WHERE id = 4")
    expected[4] = (3, 4)
    assert lineage(lake, spark, name) == expected
    spark.sql(f"UPDATE {lake.catalog}.s.{name} SET v = 9 WHERE id = 3")
    expected[3] = (2, 5)
    do(
        lake.session,
        f"MERGE INTO {name} AS t USING (SELECT 5 AS id UNION ALL SELECT 10) AS n ON t.id = n.id "
        "WHEN MATCHED THEN UPDATE SET v = -1 WHEN NOT MATCHED THEN INSERT VALUES (n.id, 9)",
    )
    expected[5] = (4, 6)
    found = lineage(lake, spark, name)
    new_id, changed = found.pop(10)
    assert (found, changed) == (expected, 6)
    assert new_id not in {row_id for row_id, _ in expected.values()}
    assert rows(lake.session, f"SELECT * FROM {name} ORDER BY id") == [
        (1, 1), (3, 9), (4, 0), (5, -1), (6, 6), (10, 9),
    ]  # fmt: skip
    assert spark.rows(lake, name) == lake.rows(name)
    before = lineage(lake, spark, name)
    for call in ("rewrite_data_files('{}', options => map('rewrite-all', 'true'))", "rewrite_manifests('{}')"):
        lake.session.run(f"CALL system.{call.format(name)}").read_all()
        assert lineage(lake, spark, name) == before
