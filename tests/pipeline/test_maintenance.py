"""Maintenance on Spark and here: the same tables, each reads what the other made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasketches import compact_theta_sketch

from pinakes.api.build import open_engine
from pinakes.core.errors import NotSupportedError, PinakesError
from pinakes.core.iceberg_metadata import distinct_counts
from pinakes.core.names import Name
from pinakes.engine.iceberg.write.puffin import blobs_in
from pinakes.engine.session import Session
from tests.engine.support import do, in_order, rows
from tests.pipeline.conftest import config_of
from tests.pipeline.support import VALUES
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


@pytest.fixture
def spark(session: Session) -> Iterator[Session]:
    do(session, "SET engine = 'local'")
    yield session
    do(session, "SET engine = 'local'")


def handle(session: Session, name: str) -> Any:
    return session.resolver.table(Name.of(name))[1].handle


def sketches(session: Session, name: str) -> dict[str, Any]:
    """The sketch of each column, as DataSketches reads it."""
    table = handle(session, name)
    path = table.metadata.statistics[-1].statistics_path
    content = Path(path.removeprefix("file:").replace("//", "/")).read_bytes()
    found = {}
    for blob in blobs_in(content):
        plain = blob.content
        if blob.compression is not None:
            with pa.input_stream(pa.py_buffer(plain), compression=blob.compression) as stream:
                plain = stream.read()
        found[table.schema().find_field(blob.fields[0]).name] = compact_theta_sketch.deserialize(plain)
    return found


def test_both_count_the_same(spark: Session) -> None:
    """Each type: the hashes of values are those that Spark has, in a sketch that is told by the same number."""
    do(spark, "DROP TABLE IF EXISTS p")
    do(spark, VALUES)
    do(spark, "ANALYZE p")
    ours, counted = sketches(spark, "p"), distinct_counts(handle(spark, "p").metadata)
    do(spark, "SET engine = 'spark'")
    do(spark, "ANALYZE p")
    assert distinct_counts(handle(spark, "p").metadata) == counted
    theirs = sketches(spark, "p")
    assert {name: list(sketch) for name, sketch in theirs.items()} == {n: list(s) for n, s in ours.items()}


def test_spark_analyzes_some_columns(spark: Session) -> None:
    do(spark, "CREATE OR REPLACE TABLE q AS SELECT x AS a, x % 10 AS b FROM unnest(range(0, 20000)) AS u(x)")
    ((path,),) = rows(spark, "/*+ ENGINE(spark) */ CALL system.compute_table_stats('q', columns => ['b'])")
    assert path == handle(spark, "q").metadata.statistics[-1].statistics_path
    assert distinct_counts(handle(spark, "q").metadata) == {2: 10.0}
    do(spark, "ANALYZE q")
    assert abs(distinct_counts(handle(spark, "q").metadata)[1] / 20_000 - 1) < 0.08
    mine = sketches(spark, "q")["a"]
    do(spark, "SET engine = 'spark'")
    do(spark, "ANALYZE q (a)")
    theirs = sketches(spark, "q")["a"]
    both = min(mine.theta64, theirs.theta64)
    assert [h for h in mine if h < both] == [h for h in theirs if h < both] != []


# --- files -----------------------------------------------------------------------------------------------------------


def a_table(session: Session, name: str, version: int) -> list[tuple[Any, ...]]:
    """Of many small files, with deletes; and its rows."""
    do(session, f"DROP TABLE IF EXISTS {name}")
    do(
        session,
        f"CREATE TABLE {name} (id BIGINT, p VARCHAR, d DECIMAL(9, 2), at TIMESTAMP WITH TIME ZONE) PARTITIONED BY (p) "
        f"TBLPROPERTIES ('format-version' = '{version}', 'write.delete.mode' = 'merge-on-read', "
        f"'commit.manifest-merge.enabled' = 'false')",
    )
    for start in range(0, 60, 10):
        do(
            session,
            f"INSERT INTO {name} SELECT x, 'p''' || (x % 2), x / 4.0, to_timestamp_micros(x * 86400000001) "
            f"FROM unnest(range({start}, {start + 10})) AS u(x)",
        )
    do(session, f"DELETE FROM {name} WHERE id % 5 = 1")
    return in_order(rows(session, f"SELECT * FROM {name}"))


def both_read(session: Session, name: str) -> list[tuple[Any, ...]]:
    here = in_order(rows(session, f"SELECT /*+ ENGINE(local) */ * FROM {name}"))
    there = in_order(rows(session, f"SELECT /*+ ENGINE(spark) */ * FROM {name}"))
    assert here == there
    return here


CALLS = (
    "CALL system.rewrite_data_files('{}', options => map('rewrite-all', 'true'))",
    "CALL system.rewrite_data_files('{}', where => 'p = ''p''''1'' AND id > 3', options => map('rewrite-all', 'true'))",
    "CALL system.rewrite_data_files('{}', 'sort', 'id DESC NULLS LAST', map('rewrite-all', 'true'))",
    "CALL system.rewrite_manifests('{}')",
    "CALL system.rewrite_position_delete_files('{}', options => map('rewrite-all', 'true'))",
    "ALTER TABLE {} EXECUTE optimize WHERE p = 'p''1'",
)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("call", CALLS)
def test_written_again_here_and_there(spark: Session, version: int, call: str) -> None:
    """Both engines read the same rows of what either wrote anew, and both went on from where the other was."""
    name = f"w{version}"
    before = a_table(spark, name, version)
    for engine in ("local", "spark", "local"):
        do(spark, f"SET engine = '{engine}'")
        rows(spark, call.format(name))
        assert both_read(spark, name) == before
        do(spark, "SET engine = 'local'")
        do(spark, f"INSERT INTO {name} VALUES ({200 + len(before)}, 'p''1', 1, NULL)")
        do(spark, f"DELETE FROM {name} WHERE id = {before[0][0]}")
        before = in_order(rows(spark, f"SELECT * FROM {name}"))


def test_both_choose_the_same_files(spark: Session) -> None:
    """By what is to be done: the counts are the same."""
    for call in CALLS[:3]:
        a_table(spark, "c2", 2)
        ((ours, _, our_bytes, *_),) = rows(spark, call.format("c2"))
        a_table(spark, "c2", 2)
        ((theirs, _, their_bytes, failed, _),) = rows(spark, "/*+ ENGINE(spark) */ " + call.format("c2"))
        assert (ours, failed) == (theirs, 0)
        assert 0 < our_bytes == pytest.approx(their_bytes, rel=0.05)


def test_what_is_large_goes_to_spark(spark_connect_server: Facts) -> None:
    """By the threshold of the configuration, with `auto`; and the tracker tells where it ran."""
    config = config_of(spark_connect_server)
    for threshold, expected in ((10**9, "local"), (5000, "spark")):
        with open_engine(replace(config, given_spark=replace(config.spark, threshold=threshold))) as engine:
            session = engine.session()
            before = a_table(session, "large", 2)
            do(session, "SET engine = 'auto'")
            rows(session, CALLS[0].format("large"))
            ran = rows(session, "SELECT engine FROM system.runtime.queries WHERE query LIKE 'CALL%'")
            assert ran == [(expected,)]
            assert both_read(session, "large") == before


def test_what_spark_has_not_is_refused(spark: Session) -> None:
    a_table(spark, "r2", 2)
    do(spark, "SET engine = 'spark'")
    with pytest.raises(NotSupportedError, match="rewrite_data_files on Spark has no dry_run"):
        rows(spark, "CALL system.rewrite_data_files('r2', dry_run => true)")
    with pytest.raises(PinakesError, match=r"(?i)zorder|z-order|column|zigzag"):
        rows(spark, "CALL system.rewrite_data_files('r2', 'sort', 'zorder(nope, id)')")


def test_spark_reads_files_that_were_taken_in(spark: Session, tmp_path: Path) -> None:
    """By the name mapping, and partitions by the metadata: the column is in no file."""
    (tmp_path / "k=1").mkdir()
    pq.write_table(pa.table({"id": [1, 2], "w": ["a", None]}), tmp_path / "k=1" / "a.parquet")
    do(spark, "DROP TABLE IF EXISTS taken")
    do(spark, "CREATE TABLE taken (w VARCHAR, id BIGINT, k BIGINT) PARTITIONED BY (k)")
    rows(spark, f"CALL system.add_files('taken', '{tmp_path}')")
    assert both_read(spark, "taken") == in_order([("a", 1, 1), (None, 2, 1)])
    do(spark, "ALTER TABLE taken RENAME COLUMN w TO word")
    assert len(both_read(spark, "taken")) == 2
    do(spark, "SET engine = 'spark'")
    rows(spark, "CALL system.rewrite_data_files('taken', options => map('rewrite-all', 'true'))")
    assert both_read(spark, "taken") == in_order([("a", 1, 1), (None, 2, 1)])
