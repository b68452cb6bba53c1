"""Tables of other databases: all of them, or what is new by a cursor, and no secret anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from pinakes.core.errors import ColumnNotFound, InvalidArgument, PinakesError
from pinakes.core.names import text_literal
from pinakes.pipelines.loads import JdbcSource, Load
from tests.pipeline.loads.support import Place
from tests.providers.databases import EmptyDatabase, empty_database

pytestmark = pytest.mark.slow
KINDS = ("postgres_server", "mariadb_server")
STEPS = ("planned", "recorded", "published")


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest) -> Iterator[EmptyDatabase]:
    with empty_database(request.getfixturevalue(request.param)) as database:
        yield database


@pytest.fixture
def source(database: EmptyDatabase, place: Place) -> JdbcSource:
    facts = database.facts
    kind = "postgresql" if database.is_postgres else "mariadb"
    login = f"USERNAME {text_literal(facts['user'])}, PASSWORD {text_literal(facts['password'])}"
    place.rows(f"CREATE OR REPLACE SECRET source (TYPE basic, {login})")
    moment = "TIMESTAMP(6)" if database.is_postgres else "DATETIME(6)"
    columns = f"id INT, amount DECIMAL(10,2), name VARCHAR(20), at {moment}"
    database.run(f"CREATE TABLE {database.name}.orders ({columns})")
    _add(database, (1, "1.50", "a", "2024-01-01 10:00:00.000001"), (2, "2.50", "b", "2024-01-02 00:00:00"))
    url = f"jdbc:{kind}://{facts['host']}:{facts['port']}/{facts['database']}"
    return JdbcSource(url, table=f"{database.name}.orders", secret="source")


def _add(database: EmptyDatabase, *rows: tuple[Any, ...]) -> None:
    values = ", ".join(f"({id}, {amount}, '{name}', '{at}')" for id, amount, name, at in rows)
    database.run(f"INSERT INTO {database.name}.orders VALUES {values}")


def _load(place: Place, source: JdbcSource, **more: Any) -> Load:
    return Load(("lake", place.schema, "t"), source, **more)


def _rows(place: Place) -> list[tuple[Any, ...]]:
    return place.rows("SELECT id, amount, name, CAST(at AS VARCHAR) FROM T.t ORDER BY id")


def test_all_rows_take_the_place_of_the_old_ones(place: Place, database: EmptyDatabase, source: JdbcSource) -> None:
    load = _load(place, source)
    assert place.run(load, "r1").rows == 2
    assert _rows(place) == [
        (1, Decimal("1.50"), "a", "2024-01-01 10:00:00.000001"),
        (2, Decimal("2.50"), "b", "2024-01-02 00:00:00"),
    ]
    database.run(f"DELETE FROM {database.name}.orders WHERE id = 1")
    _add(database, (3, "3.00", "c", "2024-01-03 00:00:00"))
    assert place.run(load, "r2").rows == 2
    assert [row[0] for row in _rows(place)] == [2, 3]


@pytest.mark.parametrize("cursor", ["id", "at"])
def test_only_rows_beyond_the_cursor(place: Place, database: EmptyDatabase, source: JdbcSource, cursor: str) -> None:
    load = _load(place, replace(source, cursor=cursor))
    assert place.run(load, "r1").rows == 2
    assert place.run(load, "r2").rows == 0
    _add(database, (3, "3.00", "c", "2024-01-03 00:00:00.000002"), (4, "4.00", "d", "2024-01-03 00:00:00.000003"))
    place.run_until(load, "planned")
    _add(database, (5, "5.00", "e", "2024-01-04 00:00:00"))
    place.run(load, "r3")
    assert [row[0] for row in _rows(place)] == [1, 2, 3, 4, 5]
    assert place.run(load, "r4").rows == 0
    place.run(load, "r5", full_refresh=True)
    assert [row[0] for row in _rows(place)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("step", STEPS)
def test_a_load_that_was_stopped_is_taken_up(
    place: Place, database: EmptyDatabase, source: JdbcSource, step: str
) -> None:
    load = _load(place, replace(source, cursor="id"))
    place.run(load, "r1")
    _add(database, (3, "3.00", "c", "2024-01-03 00:00:00"))
    place.run_until(load, step)
    place.run(load, "r2")
    assert [row[0] for row in _rows(place)] == [1, 2, 3]


def test_a_query_in_parallel_with_other_types(place: Place, source: JdbcSource) -> None:
    options = {"partitionColumn": "id", "lowerBound": "1", "upperBound": "3", "numPartitions": "2"}
    query = replace(source, table=None, query=f"SELECT id, name FROM {source.table} -- all of them", options=options)
    result = place.run(_load(place, query, columns="id STRING NOT NULL, name INT"))
    assert (result.rows, result.bad_rows) == (0, 2)
    assert sorted(reason for _, _, reason in place.bad()) == [
        "column 'name': 'a' is not a valid INT",
        "column 'name': 'b' is not a valid INT",
    ]


def test_a_cursor_that_can_not_be_one(place: Place, source: JdbcSource) -> None:
    with pytest.raises(ColumnNotFound, match="no column 'nope' that could be the cursor; it has: amount, at, id, name"):
        place.run(_load(place, replace(source, cursor="nope")))
    with pytest.raises(InvalidArgument, match="the cursor 'name' is STRING"):
        place.run(_load(place, replace(source, cursor="name")))


def test_no_secret_is_seen_anywhere(place: Place, source: JdbcSource) -> None:
    """Neither in an error, nor in the ledger, nor in what Spark shows of its statements and settings."""
    from urllib.request import urlopen

    planted = "pl4nted'$x\\quote"
    place.rows(f"CREATE OR REPLACE SECRET source (TYPE basic, USERNAME 'nobody', PASSWORD {text_literal(planted)})")
    with pytest.raises(PinakesError) as failed:
        place.run(_load(place, source))
    told = [str(failed.value), repr(failed.value.__cause__)]
    told += [repr(row) for row in place.rows("SELECT * FROM lake.pinakes_pipeline.loads")]
    told += [repr(row) for row in place.rows("SELECT * FROM system.runtime.queries")]
    told += [repr(place.context), repr(source), repr(place.context.spark.conf.getAll)]
    ui = place.context.session.engine.config.spark.ui
    assert ui is not None
    for page in ("SQL", "connect", "environment", "jobs"):
        with urlopen(f"{ui}/{page}/") as answer:
            told.append(answer.read().decode())
    assert len(told[-1]) > 1000
    assert not [text for text in told if "pl4nted" in text]
