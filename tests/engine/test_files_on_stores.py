"""Files of an object store by their path, on one that checks signatures: which secret serves, and what goes wrong."""

from __future__ import annotations

import gzip
import json
import logging
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import FileSelector, S3FileSystem

from pinakes.core.errors import (
    AlreadyExistsError,
    CatalogUnavailable,
    DataCorrupt,
    FileNotFound,
    InvalidArgument,
    NotSupportedError,
    PermissionDenied,
    PinakesError,
    QueryCanceled,
    SecretNotFound,
)
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.files.object_stores import stores
from pinakes.engine.session import Session
from tests.engine.support import an_engine, rows
from tests.engine.test_secrets_masked import forms
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, Asked, proxied
from tests.servers.base import Facts

pytestmark = pytest.mark.slow
PLANTED = "hunter2zQ9"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


class Bucket:
    """A part of a bucket of the test's own."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.key = f"{facts['bucket']}/{new_name()}"
        self.path = f"s3://{self.key}"
        self.system = S3FileSystem(
            access_key=facts["key_id"],
            secret_key=facts["secret"],
            region=facts["region"],
            endpoint_override=facts["uri"],
        )

    def put(self, name: str, content: bytes | str) -> str:
        with self.system.open_output_stream(f"{self.key}/{name}", compression=None) as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        return f"{self.path}/{name}"

    def put_table(self, name: str, table: pa.Table, **options: object) -> str:
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, **options)
        return self.put(name, bytes(sink.getvalue()))

    def get(self, name: str) -> bytes:
        with self.system.open_input_stream(f"{self.key}/{name}", compression=None) as stream:
            return bytes(stream.read())

    def names(self) -> list[str]:
        found = self.system.get_file_info(FileSelector(self.key, recursive=True, allow_not_found=True))
        return sorted(entry.path.removeprefix(f"{self.key}/") for entry in found if entry.is_file)

    def remove(self, name: str) -> None:
        self.system.delete_file(f"{self.key}/{name}")

    def secret(self, name: str = "mine", *, create: str = "CREATE SECRET", scope: str = "", **other: str) -> str:
        keys = {
            "KEY_ID": self.facts["key_id"],
            "SECRET": self.facts["secret"],
            "REGION": self.facts["region"],
            "ENDPOINT": self.facts["uri"],
        }
        options = "".join(f", {key} '{value}'" for key, value in (keys | other).items())
        return f"{create} {name} (TYPE s3, SCOPE 's3://{scope or self.key}'{options})"


@pytest.fixture
def bucket(s3_server: Facts) -> Bucket:
    return Bucket(s3_server)


@pytest.fixture
def session(engine: Engine, bucket: Bucket) -> Session:
    """One whose user has a secret for the bucket."""
    session = engine.session()
    session.run(bucket.secret()).close()
    return session


def failing(session: Session, sql: str, kind: type[PinakesError]) -> str:
    with pytest.raises(kind) as caught:
        session.run(sql).read_all()
    return str(caught.value)


# --- what can be read --------------------------------------------------------------------------------------------


def test_every_format(session: Session, bucket: Bucket) -> None:
    table = pa.table({"a": [1, 2, 3], "s": ["x", "y", None]})
    expected = [(1, "x"), (2, "y"), (3, None)]
    ipc = pa.BufferOutputStream()
    with pa.ipc.new_file(ipc, table.schema) as writer:
        writer.write_table(table)
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    packed = pa.BufferOutputStream()
    feather.write_feather(table, packed, compression="zstd")
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    paths = [
        bucket.put_table("x.parquet", table),
        bucket.put("x.csv", "a,s\n1,x\n2,y\n3,\n"),
        bucket.put("x.tsv", "a\ts\n1\tx\n2\ty\n3\t\n"),
        bucket.put("p.csv.gz", gzip.compress(b"a,s\n1,x\n2,y\n3,\n")),
        bucket.put("x.jsonl", lines),
        bucket.put("x.json", json.dumps(table.to_pylist())),
        bucket.put("x.arrow", bytes(ipc.getvalue())),
        bucket.put("s.arrows", bytes(stream.getvalue())),
        bucket.put("x.feather", bytes(packed.getvalue())),
    ]
    for path in paths:
        assert rows(session, f"SELECT a, s FROM '{path}' ORDER BY a") == expected, path
        assert rows(session, f"SELECT count(*) FROM '{path}' WHERE a > 1") == [(2,)], path
    assert rows(session, f"SELECT a FROM read_csv('{paths[1]}', all_varchar => true) WHERE s = 'y'") == [("2",)]
    assert [r[:2] for r in rows(session, f"DESCRIBE SELECT * FROM '{paths[0]}'")] == [("a", "bigint"), ("s", "varchar")]
    assert len(rows(session, f"SUMMARIZE SELECT * FROM '{paths[0]}'")) == 2


def test_types_of_parquet_are_those_of_a_local_file(session: Session, bucket: Bucket, tmp_path: Path) -> None:
    table = pa.table(
        {
            "u": pa.array([UUID(int=7).bytes, None], pa.uuid()),
            "a.b": [1, 2],
            "a": [{"b": 1, "c": [1.5]}, {"b": 2, "c": None}],
            "t": pa.array([1, 2], pa.timestamp("us", "UTC")),
            "d": pa.array(["x", "y"]).dictionary_encode(),
            "f": [float("nan"), 1.0],
            "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
            "b": [b"\x00", None],
        }
    )
    path = bucket.put_table("t.parquet", table, row_group_size=1)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    for columns in ("*", '"a.b"', 'a, "a.b"', "a", "u, t", "count(*)", "f, f > 0.5"):
        sql = f"SELECT {columns} FROM "
        there, here = (session.run(f"{sql}'{p}'").read_all() for p in (path, tmp_path / "t.parquet"))
        assert there.schema.equals(here.schema), columns
        assert sorted(map(repr, there.to_pylist())) == sorted(map(repr, here.to_pylist())), columns


def test_patterns_and_directories(session: Session, bucket: Bucket) -> None:
    for name, value in (("d/y=1/a.csv", 1), ("d/y=2/b.csv", 2), ("d/c.txt", 3), ("d/.h.csv", 4), ("d/_t/x.csv", 5)):
        bucket.put(name, f"v\n{value}\n")
    path = bucket.path
    assert rows(session, f"SELECT v FROM '{path}/d/*/*.csv' ORDER BY v") == [(1,), (2,), (5,)]
    assert rows(session, f"SELECT v, y FROM '{path}/d/y=*/*.csv' ORDER BY v") == [(1, 1), (2, 2)]
    assert rows(session, f"SELECT v FROM '{path}/d/y=?/a.csv'") == [(1,)]
    assert rows(session, f"SELECT v FROM '{path}/**/[ab].csv' ORDER BY v") == [(1,), (2,)]
    assert rows(session, f"SELECT v, y FROM '{path}/d' ORDER BY v") == [(1, 1), (2, 2)]
    assert rows(session, f"SELECT v, y FROM read_csv('{path}/d/', hive_partitioning => true) ORDER BY v") == [
        (1, 1),
        (2, 2),
    ]
    twice = f"['{path}/d/y=1/a.csv', '{path}/d/y=1/*.csv']"
    assert rows(session, f"SELECT filename FROM read_csv({twice}, filename => true)") == [(f"{path}/d/y=1/a.csv",)]
    assert "has: .h.csv, _t, c.txt" in failing(session, f"SELECT * FROM '{path}/d/*.parquet'", FileNotFound)


def test_a_file_here_and_one_there(session: Session, bucket: Bucket, tmp_path: Path) -> None:
    there = bucket.put_table("x.parquet", pa.table({"a": [1]}))
    pq.write_table(pa.table({"a": [2]}), tmp_path / "x.parquet")
    both = f"read_parquet(['{there}', '{tmp_path / 'x.parquet'}'])"
    assert rows(session, f"SELECT a FROM {both} ORDER BY a") == [(1,), (2,)]


def test_tables_are_made_and_filled_from_there(session: Session, bucket: Bucket) -> None:
    csv = bucket.put("x.csv", "a,s\n1,007\n")
    rows(session, f"CREATE TABLE t AS SELECT * FROM read_csv('{csv}', types => {{'s': 'VARCHAR'}})")
    rows(session, f"INSERT INTO t SELECT a + 1, 's' FROM '{csv}'")
    rows(session, f"COPY t FROM '{csv}'")
    assert rows(session, "SELECT a, s FROM t ORDER BY a, s") == [(1, "007"), (1, "007"), (2, "s")]


# --- which secret serves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("right_is_longer", [True, False])
def test_the_longest_scope_wins(engine: Engine, bucket: Bucket, right_is_longer: bool) -> None:
    session = engine.session()
    path = bucket.put("in/x.csv", "a\n1\n")
    short, long = bucket.key, f"{bucket.key}/in"
    right, wrong = (long, short) if right_is_longer else (short, long)
    session.run(bucket.secret("good", scope=right)).close()
    session.run(bucket.secret("bad", scope=wrong, SECRET=PLANTED)).close()
    for asked in (path, f"{bucket.path}/in/*.csv", f"{bucket.path}/in"):
        if right_is_longer:
            assert rows(session, f"SELECT * FROM '{asked}'") == [(1,)]
        else:
            assert "secret 'bad'" in failing(session, f"SELECT * FROM '{asked}'", PermissionDenied)


def test_files_of_one_pattern_are_read_each_by_its_own_secret(engine: Engine, bucket: Bucket) -> None:
    session = engine.session()
    bucket.put("a/x.csv", "a\n1\n")
    bucket.put("b/x.csv", "a\n2\n")
    session.run(bucket.secret("all_of_it")).close()
    assert rows(session, f"SELECT a FROM '{bucket.path}/*/x.csv' ORDER BY a") == [(1,), (2,)]
    session.run(bucket.secret("bad", scope=f"{bucket.key}/b/", SECRET=PLANTED)).close()
    for pattern in ("*/x.csv", "**/x.csv", "*/*.csv"):
        assert "secret 'bad'" in failing(session, f"SELECT a FROM '{bucket.path}/{pattern}'", PermissionDenied)
    assert rows(session, f"SELECT a FROM '{bucket.path}/a/*.csv'") == [(1,)]


def test_a_scope_ends_with_a_whole_step(engine: Engine, bucket: Bucket) -> None:
    session = engine.session()
    session.run(bucket.secret(scope=f"{bucket.key}/in")).close()
    bucket.put("inner/x.csv", "a\n1\n")
    bucket.put("in/x.csv", "a\n2\n")
    for path in ("inner/x.csv", "in*/x.csv", "*/x.csv", "x.csv"):
        assert "no secret serves" in failing(session, f"SELECT * FROM '{bucket.path}/{path}'", SecretNotFound)
    failing(session, f"SELECT * FROM '{bucket.path}/in/../inner/x.csv'", InvalidArgument)


def test_a_secret_of_another_user_never_serves(engine: Engine, bucket: Bucket) -> None:
    path = bucket.put("x.csv", "a\n1\n")
    ada, bob = engine.session(Identity("ada")), engine.session(Identity("bob"))
    ada.run(bucket.secret("hers")).close()
    assert rows(ada, f"SELECT * FROM '{path}'") == [(1,)]
    message = failing(bob, f"SELECT * FROM '{path}'", SecretNotFound)
    assert "hers" not in message
    failing(bob, f"COPY (SELECT 1 AS a) TO '{bucket.path}/y.csv'", SecretNotFound)
    bob.run(bucket.secret("hers", SECRET=PLANTED)).close()
    failing(bob, f"SELECT * FROM '{path}'", PermissionDenied)
    assert rows(ada, f"SELECT * FROM '{path}'") == [(1,)]


def test_a_shared_secret_serves_everybody(engine: Engine, bucket: Bucket) -> None:
    path = bucket.put("x.csv", "a\n1\n")
    admin, bob = engine.session(), engine.session(Identity("bob"))
    admin.run(bucket.secret("ours", create="CREATE SHARED SECRET")).close()
    assert rows(bob, f"SELECT * FROM '{path}'") == [(1,)]
    bob.run(bucket.secret("ours", SECRET=PLANTED)).close()
    failing(bob, f"SELECT * FROM '{path}'", PermissionDenied)


def test_an_own_secret_goes_before_a_shared_one_of_the_same_scope(engine: Engine, bucket: Bucket) -> None:
    path = bucket.put("x.csv", "a\n1\n")
    admin, bob = engine.session(), engine.session(Identity("bob"))
    admin.run(bucket.secret("zz", create="CREATE SHARED SECRET", scope=f"{bucket.key}/", SECRET=PLANTED)).close()
    failing(bob, f"SELECT * FROM '{path}'", PermissionDenied)
    bob.run(bucket.secret("aa")).close()
    assert rows(bob, f"SELECT * FROM '{path}'") == [(1,)]


def test_the_next_statement_sees_a_secret_that_changed(session: Session, bucket: Bucket) -> None:
    path = bucket.put_table("x.parquet", pa.table({"a": [1]}))
    sql = f"SELECT * FROM '{path}'"
    assert rows(session, sql) == [(1,)]
    session.run(bucket.secret(create="CREATE OR REPLACE SECRET", SECRET=PLANTED)).close()
    failing(session, sql, PermissionDenied)
    session.run(bucket.secret(create="CREATE OR REPLACE SECRET")).close()
    assert rows(session, sql) == [(1,)]
    session.run("DROP SECRET mine").close()
    failing(session, sql, SecretNotFound)


def test_a_statement_that_runs_keeps_its_secret(session: Session, bucket: Bucket) -> None:
    path = bucket.put_table("x.parquet", pa.table({"a": range(300_000)}), row_group_size=10_000)
    result = session.run(f"SELECT a FROM '{path}'")
    batches = iter(result)
    first = next(batches).num_rows
    session.run("DROP SECRET mine").close()
    assert first + sum(batch.num_rows for batch in batches) == 300_000


def test_nothing_comes_from_the_environment(engine: Engine, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", bucket.facts["key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.facts["secret"])
    session = engine.session()
    path = bucket.put("x.csv", "a\n1\n")
    failing(session, f"SELECT * FROM '{path}'", SecretNotFound)
    place = f"SCOPE '{bucket.path}', REGION '{bucket.facts['region']}', ENDPOINT '{bucket.facts['uri']}'"
    session.run(f"CREATE SECRET e (TYPE s3, {place})").close()
    failing(session, f"SELECT * FROM '{path}'", PermissionDenied)
    session.run(f"CREATE OR REPLACE SECRET e (TYPE s3, PROVIDER credential_chain, {place})").close()
    assert rows(session, f"SELECT * FROM '{path}'") == [(1,)]


# --- what goes wrong ---------------------------------------------------------------------------------------------


def test_what_is_not_there(session: Session, bucket: Bucket) -> None:
    bucket.put("orders.csv", "a\n1\n")
    assert "Did you mean 'orders.csv'?" in failing(session, f"SELECT * FROM '{bucket.path}/order.csv'", FileNotFound)
    assert "has: orders.csv" in failing(session, f"SELECT * FROM '{bucket.path}/*.json'", FileNotFound)
    session.run(bucket.secret("other", scope="no-such-bucket")).close()
    for path in ("x.csv", "*.csv", "d/**/x.csv", ""):
        message = failing(session, f"SELECT * FROM read_csv('s3://no-such-bucket/{path}')", FileNotFound)
        assert "bucket 'no-such-bucket'" in message, path


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.csv", "x.json"])
def test_what_is_not_what_its_name_says(session: Session, bucket: Bucket, name: str) -> None:
    path = bucket.put(name, b"\x00\x01 nonsense")
    assert path in failing(session, f"SELECT * FROM '{path}'", DataCorrupt)
    bucket.put(name, b"")
    assert path in failing(session, f"SELECT * FROM '{path}'", DataCorrupt)


def test_the_directory_of_an_iceberg_table(session: Session, bucket: Bucket) -> None:
    bucket.put("t/metadata/v1.metadata.json", "{}")
    bucket.put_table("t/data/x.parquet", pa.table({"a": [1]}))
    assert "Iceberg table" in failing(session, f"SELECT * FROM '{bucket.path}/t'", NotSupportedError)


@pytest.mark.parametrize("change", ["removed", "replaced"])
@pytest.mark.parametrize("name", ["x.parquet", "x.csv"])
def test_a_file_that_changes_between_planning_and_reading(
    session: Session, bucket: Bucket, name: str, change: str
) -> None:
    def put(value: int) -> str:
        if name == "x.csv":
            return bucket.put(name, f"a\n{value}\n")
        return bucket.put_table(name, pa.table({"a": [value]}))

    path = put(1)
    result = session.run(f"SELECT * FROM '{path}'")
    if change == "removed":
        bucket.remove(name)
    else:
        put(2)  # of the same size and, likely, in the same second
    with pytest.raises(DataCorrupt, match="while the statement read it: run it again"):
        result.read_all()


@pytest.mark.parametrize(("status", "kind"), [(403, PermissionDenied), (503, CatalogUnavailable)])
@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.arrow", "x.jsonl"])
def test_a_store_that_fails_while_rows_are_read(
    session: Session, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, name: str, status: int, kind: type[PinakesError]
) -> None:
    monkeypatch.setattr(stores, "ATTEMPTS", 1)
    path = f"{bucket.path}/{name}"
    rows(session, f"COPY (SELECT 1 AS a) TO '{path}'")
    with proxied(bucket.facts["uri"]) as proxy:
        session.run(bucket.secret("by_proxy", scope=f"{bucket.key}/{name}", ENDPOINT=proxy.uri)).close()
        result = session.run(f"SELECT * FROM '{path}'")
        proxy.before = lambda asked: Answer(status, b"") if asked.method == "GET" else None
        with pytest.raises(kind, match="secret 'by_proxy'"):
            result.read_all()


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "closed"])
def test_a_store_that_is_not_there(
    session: Session, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    monkeypatch.setattr(stores, "SILENT_SECONDS", 1)
    monkeypatch.setattr(stores, "ATTEMPTS", 1)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if silent:
            listener.listen()
        uri = f"http://127.0.0.1:{listener.getsockname()[1]}"
        session.run(bucket.secret(create="CREATE OR REPLACE SECRET", ENDPOINT=uri)).close()
        for sql in (f"SELECT * FROM '{bucket.path}/x.csv'", f"COPY (SELECT 1 AS a) TO '{bucket.path}/x.csv'"):
            assert "can't be reached" in failing(session, sql, CatalogUnavailable)


def test_a_silent_store_does_not_hold_up_a_cancel(
    session: Session, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "SILENT_SECONDS", 3600)
    monkeypatch.setattr(stores, "ATTEMPTS", 1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = f"http://127.0.0.1:{listener.getsockname()[1]}"
        session.run(bucket.secret(create="CREATE OR REPLACE SECRET", ENDPOINT=uri)).close()

        def cancel() -> socket.socket:
            connection, _ = listener.accept()  # the statement waits for an answer by now
            session.cancel()
            return connection

        with ThreadPoolExecutor(1) as pool:
            accepted = pool.submit(cancel)
            failing(session, f"SELECT * FROM '{bucket.path}/x.csv'", QueryCanceled)
            accepted.result().close()


def test_an_endpoint_that_is_none(session: Session, bucket: Bucket) -> None:
    for nonsense in ("not an address", "ftp://x", "http://"):
        session.run(bucket.secret(create="CREATE OR REPLACE SECRET", ENDPOINT=nonsense)).close()
        with pytest.raises((InvalidArgument, CatalogUnavailable)):
            session.run(f"SELECT * FROM '{bucket.path}/x.csv'").read_all()


# --- COPY … TO ---------------------------------------------------------------------------------------------------


def test_rows_are_copied_there(session: Session, bucket: Bucket) -> None:
    for name in ("x.csv", "x.parquet", "x.jsonl", "x.arrow", "deep/er/x.csv.gz"):
        path = f"{bucket.path}/{name}"
        for value in (1, 2):  # the second replaces the first
            rows(session, f"COPY (SELECT {value} AS a) TO '{path}'")
            assert rows(session, f"SELECT a FROM '{path}'") == [(value,)]
    assert gzip.decompress(bucket.get("deep/er/x.csv.gz")) == b"a\n2\n"
    rows(session, f"COPY (SELECT a + 1 AS a FROM '{bucket.path}/x.csv') TO '{bucket.path}/x.csv'")
    assert bucket.get("x.csv") == b"a\n3\n"
    failing(session, f"COPY (SELECT 1 AS a) TO '{bucket.path}/x.csv' (OVERWRITE false)", AlreadyExistsError)
    rows(session, f"COPY (SELECT 1 AS a) TO '{bucket.path}/new.csv' (OVERWRITE false)")


def test_a_large_file_is_copied_in_parts(session: Session, bucket: Bucket) -> None:
    path = f"{bucket.path}/large.csv"
    rows(session, f"COPY (SELECT value AS a, repeat('x', 100) AS s FROM range(300000)) TO '{path}'")
    assert len(bucket.get("large.csv")) > 30_000_000
    assert rows(session, f"SELECT count(*), sum(a) FROM '{path}'") == [(300_000, 44_999_850_000)]


def test_what_fails_leaves_what_was_there(session: Session, bucket: Bucket) -> None:
    path = bucket.put("x.csv", "a\n1\n")
    with pytest.raises(PinakesError):
        rows(session, f"COPY (SELECT 1 / (5000 - value) AS a FROM range(100000)) TO '{path}'")
    assert bucket.get("x.csv") == b"a\n1\n"
    session.run(bucket.secret(create="CREATE OR REPLACE SECRET", SECRET=PLANTED)).close()
    failing(session, f"COPY (SELECT 2 AS a) TO '{path}'", PermissionDenied)
    assert bucket.get("x.csv") == b"a\n1\n"
    session.run(bucket.secret("other", scope="no-such-bucket")).close()
    failing(session, "COPY (SELECT 2 AS a) TO 's3://no-such-bucket/x.csv'", FileNotFound)
    assert bucket.names() == ["x.csv"]


# --- secrets show nowhere ----------------------------------------------------------------------------------------


def refuses(asked: Asked) -> Answer | None:
    """The real server, which does not know the key."""
    return None


def repeats(asked: Asked) -> Answer | None:
    """A store that shows the request that it refuses."""
    said = f"<Error><Code>SignatureDoesNotMatch</Code><Message>{asked.headers}</Message></Error>"
    return Answer(403, said.encode(), {"Content-Type": "application/xml"})


@pytest.mark.parametrize("answers", [refuses, repeats])
def test_a_planted_value_shows_nowhere(
    engine: Engine, bucket: Bucket, caplog: pytest.LogCaptureFixture, answers: Callable[[Asked], Answer | None]
) -> None:
    caplog.set_level(logging.DEBUG)
    session = engine.session()
    path = bucket.put("d/x.csv", "a\n1\n")
    with proxied(bucket.facts["uri"]) as proxy:
        proxy.before = answers
        planted = {"KEY_ID": f"AKIA{PLANTED}", "SECRET": PLANTED, "SESSION_TOKEN": PLANTED, "ENDPOINT": proxy.uri}
        session.run(bucket.secret(**planted)).close()
        for sql in (
            f"SELECT * FROM '{path}'",
            f"SELECT * FROM '{bucket.path}/**/*.csv'",
            f"SELECT * FROM '{bucket.path}/d/*.csv'",
            f"EXPLAIN SELECT * FROM '{path}'",
            f"COPY (SELECT 1 AS a) TO '{bucket.path}/y.csv'",
        ):
            with pytest.raises(PermissionDenied) as caught:
                session.run(sql).read_all()
            assert "secret 'mine'" in str(caught.value)
            for what, text in forms(caught.value).items():
                assert PLANTED not in text, what
    shown = [repr(info) for info in engine.tracker.snapshot()] + [r.getMessage() for r in caplog.records]
    assert not [text for text in shown if PLANTED in text]
