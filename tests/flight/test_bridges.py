"""What people put between themselves and the driver: data frames, SQLAlchemy, DuckDB.

ibis has no backend for Flight SQL, and DuckDB's ADBC extensions come from its own store of extensions and not as
packages: so DuckDB reads the driver's stream.
"""

from __future__ import annotations

from collections.abc import Iterator

import adbc_driver_flightsql.dbapi as adbc
import duckdb
import pandas
import polars
import pytest
import sqlalchemy

from tests.flight.serving import Serving

SQL = "SELECT value AS n, CAST(value AS VARCHAR) AS s FROM range(3)"
ROWS = {"n": [0, 1, 2], "s": ["0", "1", "2"]}


@pytest.fixture
def engine(server: Serving) -> Iterator[sqlalchemy.Engine]:
    url = f"adbc+flightsql://127.0.0.1:{server.port}?tls=false"
    made = sqlalchemy.create_engine(url, connect_args={"autocommit": True})
    yield made
    made.dispose()


def test_polars_reads_by_a_connection(connection: adbc.Connection) -> None:
    assert polars.read_database(SQL, connection).to_dict(as_series=False) == ROWS


def test_polars_reads_in_batches(connection: adbc.Connection) -> None:
    frames = polars.read_database(
        "SELECT value AS n FROM range(100000)", connection, iter_batches=True, batch_size=1000
    )
    assert sum(frame.height for frame in frames) == 100_000


def test_polars_writes(connection: adbc.Connection) -> None:
    assert polars.DataFrame({"n": [1, 2, 3]}).write_database("from_polars", connection, engine="adbc") == 3
    assert polars.read_database("SELECT sum(n) AS n FROM from_polars", connection).item() == 6


def test_pandas_reads_and_writes(connection: adbc.Connection) -> None:
    assert pandas.read_sql(SQL, connection).to_dict("list") == ROWS
    assert pandas.DataFrame({"n": [1, 2]}).to_sql("from_pandas", connection, index=False) == 2
    assert pandas.read_sql_table("from_pandas", connection)["n"].tolist() == [1, 2]


def test_duckdb_reads_the_stream(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT value AS n FROM range(1000)")
        rows = duckdb.from_arrow(cursor.fetch_record_batch())
        assert rows.aggregate("sum(n)").fetchall() == [(499_500,)]


def test_sqlalchemy_runs_statements(engine: sqlalchemy.Engine) -> None:
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE by_sqlalchemy (id BIGINT, name VARCHAR)")).close()
        insert = sqlalchemy.text("INSERT INTO by_sqlalchemy VALUES (:id, :name)")
        connection.execute(insert, [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]).close()
        found = connection.execute(sqlalchemy.text("SELECT name FROM by_sqlalchemy WHERE id = :id"), {"id": 2})
        assert found.all() == [("b",)]


def test_sqlalchemy_builds_queries_of_tables_that_it_finds(engine: sqlalchemy.Engine) -> None:
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE reflected AS SELECT value AS id FROM range(5)")).close()
        table = sqlalchemy.Table("reflected", sqlalchemy.MetaData(), autoload_with=connection, schema="default")
        query = sqlalchemy.select(sqlalchemy.func.sum(table.c.id)).where(table.c.id > 1)
        assert connection.execute(query).scalar() == 9


def test_pandas_reads_by_sqlalchemy(engine: sqlalchemy.Engine) -> None:
    assert pandas.read_sql(SQL, engine).to_dict("list") == ROWS


def test_sqlalchemy_with_autocommit_off(server: Serving) -> None:
    """As it is without an argument: definitions and rows in transactions, typed ends among them."""
    made = sqlalchemy.create_engine(f"adbc+flightsql://127.0.0.1:{server.port}?tls=false")
    with made.connect() as connection:

        def do(sql: str) -> None:
            connection.execute(sqlalchemy.text(sql)).close()

        do("CREATE TABLE alchemy (id BIGINT)")
        do("INSERT INTO alchemy VALUES (1)")
        connection.commit()
        do("INSERT INTO alchemy VALUES (2)")
        connection.rollback()
        do("INSERT INTO alchemy VALUES (3)")
        do("COMMIT")
        do("DROP TABLE alchemy")
        connection.rollback()
        found = connection.execute(sqlalchemy.text("SELECT id FROM alchemy ORDER BY id"))
        assert found.all() == [(1,), (3,)]
    made.dispose()
