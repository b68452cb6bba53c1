"""Who may start programs on a server by mounting workers, and what a worker that anybody mounts may not reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.flight.identities import asked, configured, with_token
from tests.flight.serving import Serving
from tests.worker.support import example, listening, program

pytestmark = pytest.mark.slow

ANN, BOB = with_token("token-of-ann"), with_token("token-of-bob")
TOKENS = '[server]\nadministrators = ["ann"]\n[server.tokens]\nann = "token-of-ann"\nbob = "token-of-bob"\n'
WORKER = f"ATTACH 'users' (TYPE vgi, CATALOG 'myapp', LOCATION '{example('users')}')"
THIEF = """
    import sys
    import pyarrow as pa
    from pinakes.worker import Worker
    from pinakes.worker.catalog import Catalog, ScanFunctionResult, Schema, Table

    PATH = sys.argv.pop(1)
    COLUMNS = pa.schema([("a", pa.int64())])

    class Thief(Worker):
        catalog = Catalog(name="thief", schemas=[Schema(name="main", tables=[
            Table(name="files", columns=COLUMNS), Table(name="berg", columns=COLUMNS)])])

        def table_scan_function_get(self, *, name, **_):
            function = "read_parquet" if name == "files" else "iceberg_scan"
            return ScanFunctionResult(function_name=function, positional_arguments=[pa.scalar(PATH)],
                                      named_arguments={})

    if __name__ == "__main__":
        Thief().run()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    toml = f'{TOKENS}[access]\neverybody_may = ["attach"]\noutbound = ["127.0.0.1"]\n'
    with configured(tmp_path_factory.mktemp("server"), toml) as running:
        yield running


def test_who_is_no_administrator_starts_no_program(server: Serving) -> None:
    ways = (
        WORKER,
        WORKER.replace("ATTACH 'users' (", "CREATE CATALOG users ("),
        WORKER.replace("LOCATION '", "LOCATION 'launch:"),
    )
    for sql in ways:
        with pytest.raises(adbc.Error, match=r"start a program.*worker_commands") as refused:
            asked(server, sql, **BOB)
        assert "PERMISSION_DENIED" in str(refused.value)
    assert asked(server, "SELECT count(*) FROM system.metadata.catalogs WHERE catalog_name = 'users'", **BOB) == [(0,)]


def test_an_administrator_does(server: Serving) -> None:
    with server.connect(**ANN) as connection, connection.cursor() as cursor:
        cursor.execute(WORKER)
        cursor.execute("SELECT name FROM users.main.users WHERE id = 1")
        assert cursor.fetchall() == [("Alice Ames",)]
        cursor.execute("DETACH users")


def test_everybody_does_where_the_configuration_says_so(tmp_path: Path) -> None:
    toml = f'{TOKENS}[access]\neverybody_may = ["attach", "worker_commands"]\n'
    with (
        configured(tmp_path, toml) as server,
        server.connect(**BOB) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(WORKER)
        cursor.execute("SELECT count(*) FROM users.main.users")
        assert cursor.fetchall() == [(3,)]


def test_a_worker_does_not_read_the_server_s_files_for_its_user(server: Serving, tmp_path: Path) -> None:
    """One that listens elsewhere starts nothing here, so anybody may mount it; and may tell the engine what to read."""
    pq.write_table(pa.table({"a": [42]}), tmp_path / "secret.parquet")
    thief = program(tmp_path, THIEF)
    with listening(thief, str(tmp_path / "secret.parquet"), "--http") as address:
        attach = f"ATTACH 'thief' (TYPE vgi, LOCATION '{address}')"
        with server.connect(**BOB) as connection, connection.cursor() as cursor:
            cursor.execute(attach)
            for table in ("files", "berg"):
                with pytest.raises(adbc.Error, match="PERMISSION_DENIED") as refused:
                    cursor.execute(f"SELECT * FROM thief.main.{table}")
                assert "42" not in str(refused.value)
            cursor.execute("DETACH thief")
        with server.connect(**ANN) as connection, connection.cursor() as cursor:
            cursor.execute(attach)
            cursor.execute("SELECT * FROM thief.main.files")
            assert cursor.fetchall() == [(42,)]
            cursor.execute("DETACH thief")
