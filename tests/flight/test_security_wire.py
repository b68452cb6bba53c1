"""What comes over the wire when things fail: no traceback, no path of the server, no secret. And what users may do
there who are no administrators."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.client.address import Address
from pinakes.client.login import Login
from pinakes.client.shell_backend import RemoteShellBackend
from pinakes.client.wire import Wire
from pinakes.core.access.redaction import without_paths
from pinakes.core.errors import PinakesError
from pinakes.flight.wire.messages import message, pack
from tests.flight.identities import asked, configured, headers, query, with_token
from tests.flight.serving import Serving

ADMIN, BOB, SECRET = "token-of-an-admin", "token-of-bob", "hunter2-is-no-password"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wire")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Serving]:
    toml = f"""
        [engine]
        data = "lake"
        [secrets.shared]
        type = "bearer"
        token = "{SECRET}"
        [catalogs.down]
        type = "iceberg_rest"
        location = "http://127.0.0.1:9"
        secret = "shared"
        [catalogs.gone]
        type = "sqlite"
        location = "gone"
        [catalogs.files]
        type = "files"
        location = "data"
        [server]
        administrators = ["ann"]
        [server.tokens]
        ann = "{ADMIN}"
        bob = "{BOB}"
        """
    (place / "data").mkdir()
    (place / "data" / "bad.parquet").write_bytes(b"PAR1 is no Parquet")
    (place / "data" / "bad.csv").write_text('a,b\n"1,2\n')
    with configured(place, toml, "--data", str(place / "lake")) as running:
        for sql in (
            "CREATE TABLE t AS SELECT 1 AS x, 'a' AS s",
            "CREATE TABLE damaged AS SELECT 1 AS x",
            "CREATE TABLE lost AS SELECT 1 AS x",
            "CREATE TABLE torn AS SELECT 1 AS x",
        ):
            _change(running, sql, ADMIN)
        for file in (place / "lake").rglob("damaged-*/data/*.parquet"):
            file.write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
        for file in (place / "lake").rglob("lost-*/data/*.parquet"):
            file.unlink()
        for file in (place / "lake").rglob("torn-*/metadata/*.avro"):
            file.write_bytes(b"Obj\x01 and no more")
        yield running


def _change(server: Serving, sql: str, token: str) -> None:
    with server.connect(**with_token(token)) as connection, connection.cursor() as cursor:
        cursor.execute(sql)


FAILING = [
    "SELEC 1",
    "SELECT",
    "SELECT * FROM nowhere",
    "SELECT * FROM a.b.c.d.e",
    "SELECT y FROM t",
    "SELECT nosuch(x) FROM t",
    "SELECT CAST(s AS INT) FROM t",
    "SELECT 1 / 0",
    "SELECT * FROM damaged",
    "SELECT * FROM lost",
    "SELECT * FROM torn",
    "SELECT count(*) FROM damaged WHERE x > 0",
    "INSERT INTO torn VALUES (1)",
    "UPDATE damaged SET x = x + 1",
    "DELETE FROM lost WHERE x % 2 = 1",
    "MERGE INTO lost USING t ON lost.x = t.x WHEN MATCHED THEN UPDATE SET x = t.x + 1",
    "SELECT * FROM files.bad",
    "SELECT * FROM files.`bad.csv`",
    "SELECT * FROM files.`bad.parquet`",
    "SELECT * FROM files.`../lake/lake.db`",
    "SELECT * FROM files.`/etc/passwd`",
    "SHOW TABLES IN down",
    "SHOW SCHEMAS IN down",
    "SELECT * FROM down.s.t",
    "CREATE SCHEMA down.s",
    "SHOW TABLES IN gone.nowhere",
    "SELECT * FROM gone.s.t",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '~/x.csv'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "SELECT * FROM 'http://127.0.0.1:9/x.parquet'",
    "COPY t TO '/tmp/x.csv'",
    "COPY t FROM '/etc/passwd'",
    "ATTACH '/etc' AS e (TYPE sqlite)",
    "ATTACH 'http://127.0.0.1:9' AS e (TYPE iceberg_rest)",
    "ATTACH 'postgresql://u:hunter2-is-no-password@127.0.0.1:9/x' AS e (TYPE jdbc, WAREHOUSE 's3://b/w')",
    "ATTACH 'x' AS e (TYPE nosuch)",
    "ATTACH 'x' AS e (TYPE files, NOSUCH 1)",
    "CREATE SECRET s (TYPE bearer, TOKEN 'hunter2-is-no-password', NOSUCH 1)",
    "CREATE SHARED SECRET s (TYPE bearer, TOKEN 'hunter2-is-no-password')",
    "DROP SECRET shared",
    "DETACH lake",
    "SET GLOBAL time_zone = 'UTC'",
    "SET nosuch = 1",
    "SET time_zone = 'nowhere'",
    "CALL system.nosuch()",
    "CALL lake.system.remove_orphan_files('default.t', location => '/etc')",
    "EXECUTE nosuch",
    "KILL QUERY 'x'",
    "CREATE TABLE t AS SELECT 1 AS x",
    "CREATE TABLE n (x INT) LOCATION '/etc/n'",
    "CREATE VIEW n AS SELECT * FROM '/etc/passwd'",
    "ALTER TABLE t ADD COLUMN x INT",
    "ALTER TABLE t SET TBLPROPERTIES ('write.data.path' = '/etc')",
    "EXPLAIN SELECT * FROM nowhere",
    "EXPLAIN ANALYZE SELECT * FROM damaged",
    "EXPLAIN FULL SELECT * FROM torn",
    "SUMMARIZE lost",
    "DESCRIBE nowhere",
    "GRANT ALL ON t TO bob",
    "BEGIN; COMMIT",
    "SELECT * FROM t FOR VERSION AS OF 1",
    "SELECT * FROM t FOR TIMESTAMP AS OF TIMESTAMP '1970-01-01'",
    "SELECT * FROM range(1, 2, 0)",
    "SELECT arrow_cast(x, 'Nonsense') FROM t",
    "SELECT x FROM t WHERE s ~ '('",
]


def answers(server: Serving, sql: str, token: str) -> list[str]:
    """All that comes back for a statement, by every way it can be sent."""
    told = []
    with fl.connect(server.uri) as client:
        prepare = pack(message("ActionCreatePreparedStatementRequest")(query=sql))
        update = fl.FlightDescriptor.for_command(pack(message("CommandStatementUpdate")(query=sql)))
        for call in (
            lambda: _read(client, sql, token),
            lambda: client.get_schema(query(sql), headers(token)),
            lambda: list(client.do_action(fl.Action("CreatePreparedStatement", prepare), headers(token))),
            lambda: client.do_put(update, pa.schema([]), headers(token))[0].close(),
        ):
            try:
                call()
            except (pa.ArrowException, OSError, KeyError, NotImplementedError) as error:
                told.append(str(error))
    return told


def _read(client: fl.FlightClient, sql: str, token: str) -> None:
    info = client.get_flight_info(query(sql), headers(token))
    client.do_get(info.endpoints[0].ticket, headers(token)).read_all()


@pytest.mark.parametrize("sql", FAILING)
def test_what_is_reported_of_a_failure(sql: str, server: Serving, place: Path) -> None:
    told = answers(server, sql, BOB)
    assert told, "it did not fail"
    text = "\n".join(told)
    for never in (
        "Traceback",
        ".py",
        "line 1, in",
        SECRET,
        BOB,
        ADMIN,
        str(place),
        str(Path(__file__).parent),
        "site-packages",
    ):
        assert never not in text.replace(sql, ""), text
    local = re.findall(r"(?<![\w:/.])/(?:[\w.-]+/)*[\w.-]+", text.replace("://", ""))
    assert [
        path for path in local if Path(path).is_absolute() and path not in sql and Path(path).parent != Path("/")
    ] == []
    assert all(re.match(r"[A-Z_]+: ", line) for line in told), told


def test_nor_is_more_told_in_the_system_tables(server: Serving, place: Path) -> None:
    asked(server, "SELECT 1", **with_token(BOB))
    answers(server, "SELECT * FROM lost", BOB)
    answers(server, "SELECT * FROM damaged", BOB)
    rows = asked(
        server, "SELECT error_message FROM system.runtime.queries WHERE error_message IS NOT NULL", **with_token(BOB)
    )
    assert len(rows) >= 2
    assert str(place) not in str(rows)
    asked(server, "SELECT table_name FROM information_schema.columns", **with_token(BOB))
    errors = asked(server, "SELECT message FROM system.metadata.errors", **with_token(BOB))
    assert errors
    assert str(place) not in str(errors)
    assert SECRET not in str(errors)


def test_administrators_see_the_path(server: Serving, place: Path) -> None:
    assert any(str(place) in text for text in answers(server, "SELECT * FROM lost", ADMIN))


# --- a shell of ours, which is told more -------------------------------------------------------------------------


@contextmanager
def seat(server: Serving, token: str) -> Iterator[RemoteShellBackend]:
    opened = RemoteShellBackend(Address.of(server.uri), Login(token=token))
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.parametrize("sql", FAILING)
def test_a_shell_sees_no_more_of_a_failure(sql: str, server: Serving, place: Path) -> None:
    with seat(server, BOB) as shell, pytest.raises(PinakesError) as error:
        shell.run(sql).read_all()
    text = f"{error.value.render()}".replace(sql, "")
    for never in ("Traceback", ".py", SECRET, BOB, ADMIN, str(place), str(Path(__file__).parent), "site-packages"):
        assert never not in text
    assert error.value.code != "ERROR"


def test_a_shell_of_an_administrator_sees_the_path(server: Serving, place: Path) -> None:
    with seat(server, ADMIN) as shell, pytest.raises(PinakesError, match=str(place)):
        shell.run("SELECT * FROM lost").read_all()


def test_a_shell_completes_files_as_far_as_its_user_may_read_them(server: Serving, place: Path) -> None:
    begun = {"what": "files", "typed": f"{place}/da"}
    for token, offered in ((ADMIN, [f"{place}/data/"]), (BOB, [])):
        with seat(server, token) as shell:
            assert shell._wire.request("PinakesLook", begun) == offered


def test_a_shell_of_nobody_is_answered_nothing(server: Serving) -> None:
    for action in ("PinakesRun", "PinakesCancel", "PinakesProgress", "PinakesSession", "PinakesLook"):
        with pytest.raises(PinakesError) as error:
            Wire(Address.of(server.uri), Login(token="of-nobody")).request(action)
        assert error.value.code in ("PERMISSION_DENIED", "UNAUTHENTICATED"), error.value.render()


def test_an_administrator_reads_files_and_others_do_not(server: Serving, place: Path) -> None:
    (place / "one.csv").write_text("x\n1\n")
    sql = f"SELECT x FROM '{place}/one.csv'"
    assert asked(server, sql, **with_token(ADMIN)) == [(1,)]
    with pytest.raises(adbc.Error, match="for administrators here"):
        asked(server, sql, **with_token(BOB))


def test_a_power_can_be_given_to_everybody(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for directory in (inside, outside):
        directory.mkdir()
        (directory / "one.csv").write_text("x\n1\n")
    toml = (
        f"[engine]\nallowed_paths = ['{inside}']\n[access]\neverybody_may = ['attach', 'local_files']\n"
        f"[server.tokens]\nbob = '{BOB}'\n"
    )
    with configured(tmp_path, toml) as server:
        assert asked(server, f"SELECT x FROM '{inside}/one.csv'", **with_token(BOB)) == [(1,)]
        _change(server, f"COPY (SELECT 2 AS x) TO '{inside}/two.csv'", BOB)
        for sql in (
            f"SELECT x FROM '{outside}/one.csv'",
            f"COPY (SELECT 1) TO '{outside}/x.csv'",
            f"SELECT * FROM '{inside}/../outside/one.csv'",
        ):
            with pytest.raises(adbc.Error, match="outside of the directories") as error:
                asked(server, sql, **with_token(BOB))
            assert str(tmp_path) not in str(error.value)
    shutil.rmtree(inside)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("'/srv/lake/t/d.parquet' is damaged", "'…/d.parquet' is damaged"),
        ("'/srv/a lake/t/d.parquet' is damaged", "'…/d.parquet' is damaged"),
        ("file:///srv/a/b.parquet", "…/b.parquet"),
        ("in /var/lib/x, and (/var/y)", "in …/x, and (…/y)"),
        ("s3://b/a/c.parquet http://h:80/a/b/c", "s3://b/a/c.parquet http://h:80/a/b/c"),
        ("a/b/c is 1/2/3", "a/b/c is 1/2/3"),
        ('File "/usr/lib/python3/x.py", line 3', 'File "…/x.py", line 3'),
    ],
)
def test_paths_are_cut(text: str, told: str) -> None:
    assert without_paths(text) == told
