"""The others leave files out by what our manifests tell: bounds, counts, partitions of every transform."""

from __future__ import annotations

import pytest

from tests.engine.support import do
from tests.interop.peers import Lake, Peer

_FILES = 5
_VALUES = (
    "SELECT id, 'text ' || lpad(CAST(id AS VARCHAR), 6, '0') || repeat('x', 40), id / 4.0, "
    "CAST(id * 1.25 AS DECIMAL(20, 2)), "
    "arrow_cast(CAST(id AS INT), 'Date32'), arrow_cast(id * 3600000000, 'Timestamp(Microsecond, None)'), "
    "CASE WHEN id < 200 THEN id END FROM unnest(range({first}, {first} + 100)) AS u(id)"
)
_COLUMNS = "id BIGINT, s VARCHAR, x DOUBLE, n DECIMAL(20, 2), d DATE, ts TIMESTAMP, few BIGINT"

CONDITIONS = {
    "id = 252": 1,
    "id >= 150 AND id < 250": 2,
    "id > 1000": 0,
    "s = 'text 000321" + "x" * 40 + "'": 1,
    "s < 'text 0001'": 1,
    "x >= 100.0": 1,
    "n < 10.50": 1,
    "d = '1970-07-20'": 1,
    "ts < '1970-01-03T00:00:00'": 1,
    "few IS NOT NULL": 2,
}
"""How many of the files have to be read."""


@pytest.fixture(scope="module")
def ranges(lake: Lake) -> str:
    """A hundred rows in each file, and some of them deleted, in both ways."""
    do(lake.session, f"CREATE TABLE ranges ({_COLUMNS}) WITH (format_version = 2)")
    for number in range(_FILES):
        do(lake.session, f"INSERT INTO ranges {_VALUES.format(first=number * 100)}")
    do(lake.session, "DELETE FROM ranges WHERE id = 250")
    do(lake.session, "ALTER TABLE ranges SET PROPERTIES 'write.delete.mode' = 'merge-on-read'")
    do(lake.session, "DELETE FROM ranges WHERE id % 100 = 51")
    return "ranges"


@pytest.mark.parametrize("where", CONDITIONS)
def test_by_bounds(lake: Lake, peer: Peer, ranges: str, where: str) -> None:
    assert peer.files(lake, ranges, where) == CONDITIONS[where]
    assert peer.rows(lake, ranges, where) == lake.rows(ranges, where)


PARTITIONS = {
    "part": ("part", "part = 3", 1),
    "part_null": ("part", "part IS NULL", 1),
    "bucket": ("bucket(8, id)", "id = 77", 1),
    "truncate": ("truncate(100, id)", "id = 277", 1),
    "prefix": ("truncate(1, s)", "s = 'b1'", 1),
    "year": ("year(ts)", "ts >= '1972-06-01T00:00:00'", 1),
    "month": ("month(ts)", "ts <= '1970-01-31T00:00:00'", 1),
    "day": ("day(ts)", "ts < '1970-01-02T00:00:00'", 1),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_by_partitions(lake: Lake, peer: Peer, name: str) -> None:
    partitioning, where, files = PARTITIONS[name]
    if not lake.exists(f"by_{name}"):
        do(
            lake.session,
            f"CREATE TABLE by_{name} (id BIGINT, part INT, s VARCHAR, ts TIMESTAMP) PARTITIONED BY ({partitioning}) "
            # Nothing but partitions to go by.
            "WITH (format_version = 2, 'write.metadata.metrics.default' = 'none')",
        )
        do(
            lake.session,
            f"INSERT INTO by_{name} SELECT id, CASE WHEN id % 10 <> 7 THEN id % 10 END, chr(CAST(97 + id % 10 AS INT)) "
            "|| (id % 10), arrow_cast(id * 259200000000, 'Timestamp(Microsecond, None)') "
            "FROM unnest(range(0, 365)) AS u(id)",
        )
    assert peer.files(lake, f"by_{name}", "TRUE") > 1
    assert peer.files(lake, f"by_{name}", where) == files
    assert peer.rows(lake, f"by_{name}", where) == lake.rows(f"by_{name}", where) != []
