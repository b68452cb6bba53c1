"""Iceberg tables whose files are in an object store that checks signatures: read natively, and what goes wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.fs import FileSelector, S3FileSystem

from pinakes.api.build import open_engine
from pinakes.config.model import CachesConfig, Config, EngineConfig, SizedCacheConfig
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import CatalogUnavailable, DataCorrupt, PermissionDenied, PinakesError
from pinakes.core.names import Name
from pinakes.engine.datafusion.error_translation import translate
from pinakes.engine.engine import Engine
from pinakes.engine.iceberg.scan import object_stores
from pinakes.engine.iceberg.scan.reader_selection import Divided, Division
from pinakes.engine.iceberg.scan.table import IcebergScan
from pinakes.engine.iceberg.scan.vended_credentials import renew_if_ending
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_positions
from tests.engine.support import an_engine, do, rows
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, Asked, Proxy, closed_port, proxied
from tests.servers.base import Facts
from tests.servers.plugin import StartServer

pytestmark = pytest.mark.slow
PLANTED = "hunter2zQ9"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


@pytest.fixture
def proxy(s3_server: Facts) -> Iterator[Proxy]:
    with proxied(s3_server["uri"]) as proxy:
        yield proxy


@pytest.fixture
def warehouse(s3_server: Facts) -> str:
    return f"s3://{s3_server['bucket']}/{new_name()}"


def attach(
    session: Session,
    facts: Facts,
    database: Path,
    warehouse: str,
    name: str = "s",
    *,
    uri: str = "",
    secret: str = "",
    replace: bool = False,
) -> None:
    do(session, secret_of(facts, name, uri=uri, secret=secret, replace=replace))
    do(session, f"ATTACH '{database}' AS {name} (TYPE sqlite, WAREHOUSE '{warehouse}', STORAGE_SECRET {name}_keys)")


def secret_of(facts: Facts, name: str = "s", *, uri: str = "", secret: str = "", replace: bool = False) -> str:
    create = "CREATE OR REPLACE SECRET" if replace else "CREATE SECRET"
    return (
        f"{create} {name}_keys (TYPE s3, KEY_ID '{facts['key_id']}', SECRET '{secret or facts['secret']}', "
        f"REGION '{facts['region']}', ENDPOINT '{uri or facts['uri']}', URL_STYLE 'path')"
    )


@pytest.fixture
def session(engine: Engine, s3_server: Facts, proxy: Proxy, warehouse: str, tmp_path: Path) -> Session:
    """One with a table of twenty files; the store is asked through the proxy."""
    session = engine.session()
    attach(session, s3_server, tmp_path / "s.db", warehouse, uri=proxy.uri)
    do(session, "CREATE SCHEMA s.n")
    do(session, "CREATE TABLE s.n.t (a INT, s VARCHAR, d DOUBLE) PARTITIONED BY (a)")
    do(session, "INSERT INTO s.n.t SELECT x, 'v' || x, x / 2.0 FROM unnest(range(0, 20)) AS u(x)")
    return session


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> list[Divided]:
    """Which way the files of each scan went."""
    found: list[Divided] = []
    of = Division.of

    def told(self, numbers):
        found.append(of(self, numbers))
        return found[-1]

    monkeypatch.setattr(Division, "of", told)
    return found


@pytest.fixture
def system(s3_server: Facts) -> S3FileSystem:
    return S3FileSystem(
        access_key=s3_server["key_id"],
        secret_key=s3_server["secret"],
        region=s3_server["region"],
        endpoint_override=s3_server["uri"],
        allow_bucket_creation=True,
        allow_bucket_deletion=True,
    )


def plain(session: Session, sql: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The answer of pyiceberg's reader alone."""
    with monkeypatch.context() as patched:
        patched.setattr(object_stores.TableStores, "file", lambda *_: None)
        return rows(session, sql)


def table(session: Session, name: str = "t") -> IcebergTable:
    return session.resolver.table(Name.of("s", "n", name))[1]


def data_files(session: Session) -> list[str]:
    """Bucket and key of each."""
    return [task.file.file_path.removeprefix("s3://") for task in table(session).handle.scan().plan_files()]


def failing(session: Session, sql: str, kind: type[PinakesError]) -> str:
    with pytest.raises(kind) as caught:
        session.run(sql).read_all()
    told = str(caught.value)
    seen: BaseException | None = caught.value
    while seen is not None:
        assert PLANTED not in str(seen)
        assert "pinakes-" not in str(seen) or "pinakes-memory" in str(seen)  # the name that a store is registered as
        seen = seen.__cause__ or seen.__context__
    return told


# --- what is read ------------------------------------------------------------------------------------------------

QUERIES = (
    "SELECT * FROM s.n.t ORDER BY a",
    "SELECT a FROM s.n.t WHERE a IN (3, 17) ORDER BY a",
    "SELECT s, d FROM s.n.t WHERE s LIKE 'v1%' AND d > 5 ORDER BY s",
    "SELECT count(*), max(s), sum(d) FROM s.n.t WHERE a >= 10",
    "SELECT count(*) FROM s.n.t AS x JOIN s.n.t AS y ON x.a = y.a + 1",
    "SELECT a FROM s.n.t WHERE a = 99",
)


def test_rows_are_those_of_the_plain_path(
    session: Session, divided: list[Divided], monkeypatch: pytest.MonkeyPatch
) -> None:
    for sql in QUERIES:
        divided.clear()
        found = rows(session, sql)
        assert not any(d.plain for d in divided), sql
        assert found == plain(session, sql, monkeypatch), sql


def test_only_files_that_match_are_requested(session: Session, proxy: Proxy) -> None:
    """Of twenty, and of that file only parts. Nothing is listed; once it is known, no metadata is read either."""
    proxy.asked.clear()
    assert rows(session, "SELECT s FROM s.n.t WHERE a = 5") == [("v5",)]
    data = [asked for asked in proxy.asked if asked.path.endswith(".parquet")]
    assert {re.search(r"/a(?:=|%3D)(\d+)/", asked.path)[1] for asked in data} == {"5"}
    assert all(asked.headers.get("range") for asked in data if asked.method == "GET")
    assert not any("list-type" in asked.path for asked in proxy.asked)
    proxy.asked.clear()
    assert rows(session, "SELECT s FROM s.n.t WHERE a = 5") == [("v5",)]
    assert {(asked.method, asked.path) for asked in proxy.asked} <= {(asked.method, asked.path) for asked in data}


def test_a_table_of_one_file_is_native_too(session: Session, divided: list[Divided]) -> None:
    do(session, "CREATE TABLE s.n.one AS SELECT 1 AS a")
    divided.clear()
    assert rows(session, "SELECT a FROM s.n.one") == [(1,)]
    assert [len(d.plain) for d in divided] == [0]


@pytest.mark.parametrize("scheme", ["s3a", "s3n"])
def test_other_spellings_of_the_scheme(
    session: Session, scheme: str, divided: list[Divided], monkeypatch: pytest.MonkeyPatch, warehouse: str
) -> None:
    location = warehouse.replace("s3:", f"{scheme}:")
    do(session, f"CREATE TABLE s.n.u (a INT) WITH (location = '{location}/u')")
    do(session, "INSERT INTO s.n.u VALUES (1), (2)")
    divided.clear()
    assert rows(session, "SELECT a FROM s.n.u ORDER BY a") == [(1,), (2,)]
    assert not divided[-1].plain


def test_keys_that_addresses_have_a_meaning_for(session: Session, divided: list[Divided]) -> None:
    do(session, "CREATE TABLE s.n.odd (p VARCHAR, a INT) PARTITIONED BY (p)")
    odd = ["a b", "50%", "x*y", "[1]", "ä+ö", "a=b&c", "100%25"]
    values = ", ".join(f"('{p}', {i})" for i, p in enumerate(odd))
    do(session, f"INSERT INTO s.n.odd VALUES {values}")
    divided.clear()
    assert rows(session, "SELECT p, a FROM s.n.odd ORDER BY a") == [(p, i) for i, p in enumerate(odd)]
    assert not divided[-1].plain
    for i, p in enumerate(odd):
        assert rows(session, f"SELECT a FROM s.n.odd WHERE p = '{p}'") == [(i,)]


def test_files_with_deletes_go_the_other_way(
    session: Session, divided: list[Divided], monkeypatch: pytest.MonkeyPatch
) -> None:
    do(session, "INSERT INTO s.n.t SELECT 3, 'w' || x, 0.0 FROM unnest(range(0, 5)) AS u(x)")
    handle = table(session).handle
    task = next(t for t in handle.scan(row_filter="a = 3").plan_files() if t.file.record_count == 5)
    delete_positions(handle, task, [0, 4])
    session.engine.caches.clear()
    divided.clear()
    found = rows(session, "SELECT s FROM s.n.t ORDER BY s")
    assert len(found) == 23
    assert list(divided[-1].plain.values()) == ["deleted rows"]
    assert found == plain(session, "SELECT s FROM s.n.t ORDER BY s", monkeypatch)


def test_time_travel_and_evolution(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    then = table(session).handle.metadata.current_snapshot_id
    do(session, "ALTER TABLE s.n.t RENAME COLUMN s TO name")
    do(session, "ALTER TABLE s.n.t ADD COLUMN more INT")
    do(session, "INSERT INTO s.n.t VALUES (100, 'new', 1.0, 7)")
    for sql in (
        "SELECT a, name, more FROM s.n.t WHERE a > 17 ORDER BY a",
        f"SELECT a, s FROM s.n.t FOR VERSION AS OF {then} WHERE a > 17 ORDER BY a",
    ):
        assert rows(session, sql) == plain(session, sql, monkeypatch)
    assert rows(session, "SELECT name FROM s.n.t WHERE a = 4") == [("v4",)]


# --- whose keys --------------------------------------------------------------------------------------------------


def test_two_catalogs_on_one_bucket_use_their_own_keys(
    session: Session, s3_server: Facts, proxy: Proxy, warehouse: str, tmp_path: Path
) -> None:
    """The second one's are refused, whatever the first was allowed to read a moment ago; and the other way round."""
    attach(session, s3_server, tmp_path / "s.db", warehouse, "other", uri=proxy.uri)
    assert rows(session, "SELECT s FROM s.n.t WHERE a = 5") == [("v5",)]
    assert rows(session, "SELECT s FROM other.n.t WHERE a = 5") == [("v5",)]
    stranger = table(session)
    stranger.handle.io = type(stranger.handle.io)({**stranger.handle.io.properties, "s3.access-key-id": PLANTED})
    proxy.asked.clear()
    with pytest.raises(Exception, match=r"UserNotFound|403"):
        session.context.read_table(IcebergScan(stranger, session).whole().provider).to_arrow_table()
    assert proxy.asked
    assert all(f"Credential={PLANTED}/" in (asked.authorization or "") for asked in proxy.asked)
    assert rows(session, "SELECT s FROM s.n.t WHERE a = 6") == [("v6",)]


def test_two_buckets_with_the_same_keys_are_not_taken_for_one(
    engine: Engine, s3_server: Facts, system: S3FileSystem, divided: list[Divided], tmp_path: Path
) -> None:
    """DataFusion remembers footers by key, size and second: the statistics of one bucket would be used for another."""
    session, name = engine.session(), new_name().replace("_", "-")
    system.create_dir(name)
    for catalog, bucket in (("one", s3_server["bucket"]), ("two", name)):
        attach(session, s3_server, tmp_path / f"{catalog}.db", f"s3://{bucket}/{name}", catalog)
        do(session, f"CREATE SCHEMA {catalog}.n")
        do(session, f"CREATE TABLE {catalog}.n.t (a INT) WITH (location = 's3://{bucket}/{name}/t')")
        do(session, f"INSERT INTO {catalog}.n.t VALUES ({1 if catalog == 'one' else 2})")
    divided.clear()
    assert rows(session, "SELECT * FROM one.n.t UNION ALL SELECT * FROM two.n.t ORDER BY 1") == [(1,), (2,)]
    assert sorted(sum(map(len, d.native.values())) for d in divided) == [0, 1]
    assert rows(session, "SELECT * FROM two.n.t WHERE a = 2") == [(2,)]
    assert rows(engine.session(), "SELECT * FROM two.n.t WHERE a = 2") == [(2,)]


def test_the_same_place_at_another_store_is_another_table(
    engine: Engine, s3_server: Facts, private_server: StartServer, tmp_path: Path
) -> None:
    """Nothing that is remembered of one store's files is used for those of another."""
    on_remote_engine = private_server("s3").facts
    session, name = engine.session(), new_name()
    for catalog, facts in (("one", s3_server), ("two", on_remote_engine)):
        attach(session, facts, tmp_path / f"{catalog}.db", f"s3://{facts['bucket']}/{name}", catalog)
        do(session, f"CREATE SCHEMA {catalog}.n")
        do(session, f"CREATE TABLE {catalog}.n.t (a INT)")
        do(session, f"INSERT INTO {catalog}.n.t VALUES ({1 if catalog == 'one' else 2})")
    assert rows(session, "SELECT * FROM one.n.t UNION ALL SELECT * FROM two.n.t ORDER BY 1") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_SESSION_TOKEN", "somebody-elses"),
        ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9"),
        ("AWS_SKIP_SIGNATURE", "true"),
        ("HTTP_PROXY", "http://127.0.0.1:9"),
    ],
)
def test_variables_that_would_win_over_the_keys(
    session: Session, divided: list[Divided], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """DataFusion's store follows them, so it is not used; pyiceberg's reader has only what it was given."""
    monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    divided.clear()
    assert rows(session, "SELECT s FROM s.n.t WHERE a = 5") == [("v5",)]
    assert list(divided[-1].plain.values()) == ["a place that DataFusion does not reach"]


def test_without_keys_it_is_not_native() -> None:
    known = {"s3.access-key-id": "k", "s3.secret-access-key": "x", "s3.endpoint": "http://h:1", "s3.region": "r"}
    assert object_stores.keys_of("b", known, "r") is not None
    assert object_stores.keys_of("b", {"s3.region": "r"}, "r") is None
    assert object_stores.keys_of("b", {**known, "s3.endpoint": "h:1"}, "r") is None
    shown = repr(object_stores.keys_of("b", {**known, "s3.secret-access-key": PLANTED}, "r"))
    assert PLANTED not in shown
    for odd in ("s3.role-arn", "s3.signer", "s3.proxy-uri", "s3.profile-name"):
        assert not object_stores._is_known({**known, odd: "x"})
    assert not object_stores._is_known({**known, "s3.force-virtual-addressing": "true"})
    assert object_stores._is_known({**known, "s3.remote-signing-enabled": "false"})


def test_unused_stores_are_forgotten(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_stores, "KEPT", 2)
    opened = [
        engine.object_stores.open(object_stores.Keys("b", "r", "http://127.0.0.1:9", "k", str(i), None))
        for i in range(4)
    ]
    assert len({store.host for store in opened}) == 4
    hosts = [store.host for store in opened]
    again = engine.object_stores.open(object_stores.Keys("b", "r", "http://127.0.0.1:9", "k", "0", None))
    assert again.host == hosts[0]
    del opened, again
    assert len(engine.object_stores._known) == 2


# --- what goes wrong ---------------------------------------------------------------------------------------------


def test_a_missing_file_is_an_error(session: Session, system: S3FileSystem) -> None:
    gone = data_files(session)[3]
    system.delete_file(gone)
    told = failing(session, "SELECT max(s) FROM s.n.t", DataCorrupt)
    assert re.search(rf"table n\.t: s3://{re.escape(gone)} cannot be read: the object store has no such file", told)


def test_a_file_that_goes_between_two_statements_is_an_error(session: Session, system: S3FileSystem) -> None:
    """Its footer is remembered, and so is that it was there."""
    assert len(rows(session, "SELECT * FROM s.n.t")) == 20
    system.delete_file(data_files(session)[3])
    assert "no such file" in failing(session, "SELECT * FROM s.n.t", DataCorrupt)


def test_a_shorter_file_is_an_error(session: Session, system: S3FileSystem) -> None:
    cut = data_files(session)[3]
    with system.open_input_stream(cut) as stream:
        content = stream.read()
    with system.open_output_stream(cut) as stream:
        stream.write(content[:-10])
    told = failing(session, "SELECT max(s) FROM s.n.t", DataCorrupt)
    assert "table n.t" in told
    assert cut in told


def test_a_wrong_secret(engine: Engine, session: Session, s3_server: Facts, warehouse: str, tmp_path: Path) -> None:
    attach(session, s3_server, tmp_path / "s.db", warehouse, "wrong", secret=PLANTED)
    told = failing(session, "SELECT * FROM wrong.n.t", PermissionDenied)
    assert "refused" in told
    assert len(rows(session, "SELECT * FROM s.n.t")) == 20


def test_a_secret_that_is_revoked_within_a_session(session: Session, proxy: Proxy) -> None:
    """What is remembered of the table does not open its files."""
    assert len(rows(session, "SELECT * FROM s.n.t")) == 20
    body = b"<Error><Code>AccessDenied</Code><Token>" + PLANTED.encode() + b"</Token></Error>"
    proxy.before = lambda asked: Answer(403, body, {"Content-Type": "application/xml"})
    told = failing(session, "SELECT * FROM s.n.t", PermissionDenied)
    assert "table n.t: s3://" in told
    proxy.before = lambda _: None
    assert len(rows(session, "SELECT * FROM s.n.t")) == 20


def test_keys_that_end_while_rows_are_read(session: Session, proxy: Proxy) -> None:
    """Files can be looked at, and then no longer read."""
    body = b"<Error><Code>ExpiredToken</Code><Token-0>" + PLANTED.encode() + b"</Token-0></Error>"
    ended = Answer(403, body, {"Content-Type": "application/xml"})
    proxy.before = lambda asked: ended if asked.method == "GET" and asked.path.endswith(".parquet") else None
    told = failing(session, "SELECT * FROM s.n.t", PermissionDenied)
    assert re.search(
        r"table n\.t: s3://\S+\.parquet cannot be read: the object store refused \(ExpiredToken, 403\)", told
    )


@pytest.mark.parametrize(("code", "kind"), [("ExpiredToken", PermissionDenied), ("SlowDown", CatalogUnavailable)])
def test_what_a_store_repeats_is_not_shown(code: str, kind: type[PinakesError]) -> None:
    """Wherever an error comes through, as that of EXPLAIN does."""
    body = f"<Error><Code>{code}</Code><Token-0>{PLANTED}</Token-0></Error>"
    error = Exception(
        f"DataFusion error: Object Store error: Generic S3 error: Error performing GET http://h/b?x in 1ms - Server "
        f"returned non-2xx status code: 400 Bad Request: {body}"
    )
    told = translate(error)
    assert type(told) is kind
    assert code in str(told)
    assert PLANTED not in str(told) + str(error)


def test_a_bucket_that_is_gone(engine: Engine, s3_server: Facts, system: S3FileSystem, tmp_path: Path) -> None:
    session, name = engine.session(), new_name().replace("_", "-")
    system.create_dir(name)
    attach(session, s3_server, tmp_path / "g.db", f"s3://{name}/w", "g")
    do(session, "CREATE SCHEMA g.n")
    do(session, "CREATE TABLE g.n.t AS SELECT 1 AS a")
    assert rows(session, "SELECT * FROM g.n.t") == [(1,)]
    _remove(system, name)
    told = failing(session, "SELECT * FROM g.n.t", DataCorrupt)
    assert "table n.t" in told


def _remove(system: S3FileSystem, bucket: str) -> None:
    """The store keeps directories as objects of their own, and wants them empty."""
    for entry in sorted(system.get_file_info(FileSelector(bucket, recursive=True)), key=lambda e: -len(e.path)):
        (system.delete_file if entry.is_file else system.delete_dir)(entry.path)
    system.delete_dir(bucket)


def test_a_store_that_is_away(session: Session, proxy: Proxy) -> None:
    assert len(rows(session, "SELECT * FROM s.n.t")) == 20
    proxy.before = lambda _: Answer(0, b"")  # those that are connected are hung up on
    proxy.close()
    told = failing(session, "SELECT * FROM s.n.t WHERE a = 4", CatalogUnavailable)
    assert "table n.t" in told


# --- keys that a catalog lends -----------------------------------------------------------------------------------


@pytest.fixture
def lending(engine: Engine, s3_server: Facts, private_server: StartServer, warehouse: str) -> Iterator[Lending]:
    settings = {
        "warehouse": warehouse,
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": s3_server["uri"],
        "s3.path-style-access": "true",
        "s3.access-key-id": s3_server["key_id"],
        "s3.secret-access-key": s3_server["secret"],
        "client.region": s3_server["region"],
    }
    server = private_server("rest", **settings)
    with proxied(server.facts["uri"]) as proxy:
        yield Lending(engine, s3_server, proxy)


class Lending:
    """A REST catalog that lends what `keys` says."""

    def __init__(self, engine: Engine, s3: Facts, proxy: Proxy) -> None:
        self.right = {
            "s3.endpoint": s3["uri"],
            "s3.access-key-id": s3["key_id"],
            "s3.secret-access-key": s3["secret"],
            "s3.region": s3["region"],
        }
        self.keys: Callable[[], dict[str, str]] = lambda: self.right
        self.lent = 0
        proxy.after = self._lend
        self.session = engine.session()
        do(self.session, f"ATTACH '{proxy.uri}' AS s (TYPE iceberg_rest)")
        do(self.session, "CREATE SCHEMA s.n")
        do(self.session, "CREATE TABLE s.n.t (a INT, s VARCHAR) PARTITIONED BY (a)")
        do(self.session, "INSERT INTO s.n.t SELECT x, 'v' || x FROM unnest(range(0, 6)) AS u(x)")

    def _lend(self, asked: Asked, answer: Answer) -> Answer:
        if "/tables" not in asked.path or answer.status != 200 or b"metadata-location" not in answer.body:
            return answer
        content = json.loads(answer.body)
        content["config"] = {**content.get("config", {}), **self.keys()}
        self.lent += 1
        return Answer(200, json.dumps(content).encode(), answer.headers)


def test_vended_credentials_are_used_natively(lending: Lending, divided: list[Divided]) -> None:
    assert rows(lending.session, "SELECT s FROM s.n.t WHERE a > 3 ORDER BY s") == [("v4",), ("v5",)]
    assert not divided[-1].plain


def test_vended_credentials_that_are_about_to_end_are_renewed(lending: Lending) -> None:
    soon = lending.right | {"s3.session-token-expires-at-ms": "1000"}
    lending.keys = lambda: soon
    lending.session.engine.caches.clear()
    loaded = table(lending.session)
    lending.keys = lambda: lending.right | {"s3.session-token-expires-at-ms": "10000000"}
    before = lending.lent
    renew_if_ending(loaded, clock=lambda: 500.0)
    assert lending.lent == before + 1
    renew_if_ending(loaded, clock=lambda: 500.0)
    assert lending.lent == before + 1


def test_vended_credentials_that_have_ended_are_requested_again(lending: Lending) -> None:
    """They end while the table is remembered: the store refuses, the catalog lends others, nobody notices."""
    session = lending.session
    lending.keys = lambda: lending.right | {"s3.secret-access-key": PLANTED}
    session.engine.caches.clear()
    table(session)
    lending.keys = lambda: lending.right
    assert rows(session, "SELECT s FROM s.n.t WHERE a = 4") == [("v4",)]


def test_vended_credentials_that_stay_refused(lending: Lending) -> None:
    lending.keys = lambda: lending.right | {"s3.secret-access-key": PLANTED}
    lending.session.engine.caches.table_metadata.cache.clear()
    told = failing(lending.session, "SELECT s FROM s.n.t WHERE a = 4", PermissionDenied)
    assert "table n.t" in told


def test_an_address_that_does_not_answer(engine: Engine, s3_server: Facts, warehouse: str, tmp_path: Path) -> None:
    session = engine.session()
    attach(session, s3_server, tmp_path / "s.db", warehouse, uri=f"http://127.0.0.1:{closed_port()}")
    do(session, "CREATE SCHEMA s.n")
    failing(session, "CREATE TABLE s.n.t AS SELECT 1 AS a", CatalogUnavailable)


def test_rows_of_the_bucket_are_the_rows_of_the_table(session: Session) -> None:
    found = session.run("SELECT a FROM s.n.t WHERE a < 3 ORDER BY a").read_all()
    assert found.equals(pa.table({"a": pa.array([0, 1, 2], pa.int32())}))


# --- footers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "again"), [(50 * 1024 * 1024, False), (1_000_000, False), (0, True)])
def test_footers_are_remembered_up_to_a_limit(
    s3_server: Facts, proxy: Proxy, warehouse: str, tmp_path: Path, size: int, again: bool
) -> None:
    """DataFusion's own, in a session: without room for them each query reads the end of the file again."""
    caches = replace(CachesConfig(), footers=SizedCacheConfig(size, 3600.0))
    with open_engine(Config(engine=EngineConfig(data=str(tmp_path / "lake")), caches=caches)) as engine:
        session = engine.session()
        attach(session, s3_server, tmp_path / "s.db", warehouse, uri=proxy.uri)
        do(session, "CREATE SCHEMA s.n")
        do(session, "CREATE TABLE s.n.t AS SELECT x AS a FROM unnest(range(0, 1000)) AS u(x)")
        sql, length = "SELECT sum(a) FROM s.n.t", table(session).handle.inspect.files()["file_size_in_bytes"][0].as_py()
        assert rows(session, sql) == [(499500,)]
        proxy.asked.clear()
        assert rows(session, sql) == [(499500,)]
        parts = [asked.headers["range"] for asked in proxy.asked if asked.method == "GET"]
        assert any(part.endswith(f"-{length - 1}") for part in parts) is again, parts
