"""Maintenance on Spark and here: the same tables, each reads what the other made of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from datasketches import compact_theta_sketch

from pinakes.core.distinct_counts import distinct_counts
from pinakes.core.names import Name
from pinakes.engine.session import Session
from pinakes.engine.write.puffin import blobs_in
from tests.engine.support import do, rows
from tests.pipeline.support import VALUES

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
