"""Workers that run: as programs, behind sockets, over HTTP; what a client asks of them, and what it may not."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import sentry_sdk

from pinakes.worker.catalog import FunctionInfo, SchemaObjectType, TableInfo, ViewInfo
from pinakes.worker.exceptions import (
    AuthenticationError,
    CatalogReadOnlyError,
    RemoteError,
    RemoteValueError,
    WorkerDied,
)
from pinakes.worker.serving import events
from pinakes.worker.serving.dispatch import Caller
from pinakes.worker.serving.seals import Sealed
from pinakes.worker.wire.filters import Comparison
from tests.worker.support import EXAMPLES, NUMBERS, CatalogClient, command, example, listening, program

pytestmark = pytest.mark.slow


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    return program(tmp_path, NUMBERS)


@pytest.fixture(params=["pipe", "unix", "http"])
def client(request: pytest.FixtureRequest, numbers: Path) -> Iterator[CatalogClient]:
    """The same worker behind each transport."""
    if request.param == "pipe":
        with CatalogClient(command(numbers)) as client:
            yield client
        return
    arguments = ["--unix", str(numbers.with_name("s"))] if request.param == "unix" else ["--http"]
    with listening(numbers, *arguments) as address, CatalogClient(address) as client:
        yield client


def test_every_transport_gives_the_same(client: CatalogClient):
    assert client.catalogs() == ["numbers"]
    attached = client.catalog_attach(name="numbers", options={})
    where = {"attach_opaque_data": attached.attach_opaque_data}
    assert [s.name for s in client.schemas(**where)] == ["main"]
    names = [o.name for o in client.schema_contents(name="main", **where)]
    assert names == ["twice", "answer", "numbers", "endless"]
    rows = pa.Table.from_batches(client.table_function("numbers", 10, named={"start": 4}, **where))
    assert sorted(rows["i"].to_pylist()) == list(range(4, 14))
    few = pa.Table.from_batches(
        client.table_function("numbers", 10, columns=["square"], filters=[Comparison("i", "gt", pa.scalar(7))])
    )
    assert few.schema.names == ["square"]
    assert client.scalar_function("twice", pa.array([1, None, 3])).to_pylist() == [2, None, 6]
    with pytest.raises(RemoteValueError, match="available: answer, endless, numbers, twice"):
        list(client.table_function("nope"))
    with pytest.raises(RemoteValueError, match="needs the argument 'n'"):
        list(client.table_function("numbers"))
    with pytest.raises(CatalogReadOnlyError):
        client.schema_create(name="other", **where)
    assert client.catalog_version(**where) == 1
    client.catalog_detach(**where)


def test_a_stream_that_is_left_is_canceled_and_the_worker_lives_on(
    client: CatalogClient, numbers: Path, monkeypatch: pytest.MonkeyPatch
):
    """A worker has a second to say that it has stopped, and is ended if it does not: here, as long as it takes."""
    monkeypatch.setattr("pinakes.worker.client.pipe_stream._LAST_WORDS", 120.0)
    stream = client.table_function("endless")
    assert next(stream).num_rows >= 1000
    stream.close()
    assert numbers.with_name("canceled").exists()
    assert client.catalogs() == ["numbers"]
    assert client.pool.started == 1


def test_a_worker_that_does_not_stop_a_stream_is_ended(numbers: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pinakes.worker.client.pipe_stream._LAST_WORDS", 0.0)
    with CatalogClient(command(numbers)) as client:
        stream = client.table_function("endless")
        next(stream)
        stream.close()
        assert client.catalogs() == ["numbers"]
        assert client.pool.started == 2


def test_the_client_of_the_documentation():
    with CatalogClient(example("users")) as client:
        assert client.catalogs() == ["myapp"]
        result = client.catalog_attach(name="myapp", options={})
        where = {"attach_opaque_data": result.attach_opaque_data}
        assert [(s.name, s.comment, s.tags) for s in client.schemas(**where)] == [
            ("main", "Main data", {"owner": "crm"})
        ]
        kinds = {type(o): o.name for o in client.schema_contents(name="main", **where)}
        assert (kinds[TableInfo], kinds[ViewInfo]) == ("users", "active_users")
        scalars = client.schema_contents(name="main", type=SchemaObjectType.SCALAR_FUNCTION, **where)
        assert [(type(o), o.name) for o in scalars] == [(FunctionInfo, "initials")]
        table = client.table_get(schema_name="main", name="users", **where)
        assert table is not None
        assert (table.not_null_constraints, table.comment) == ([0], "User accounts")
        assert client.table_get(schema_name="main", name="nope", **where) is None
        view = client.view_get(schema_name="main", name="active_users", **where)
        assert view is not None
        assert view.definition == "SELECT * FROM users WHERE active = true"
        scan = client.table_scan_function_get(schema_name="main", name="users", **where)
        assert scan.function_name == "users_function"


# --- who calls -------------------------------------------------------------------------------------------------------


def test_http_knows_its_callers(numbers: Path):
    tokens = numbers.with_name("tokens")
    tokens.write_text("ann secret-of-ann\nbob secret-of-bob\n")
    with (
        listening(numbers, "--http", "--token-file", str(tokens), "--prefix", "/w") as address,
        CatalogClient(address, token="secret-of-ann") as ann,
        CatalogClient(address, token="secret-of-bob") as bob,
    ):
        data = ann.catalog_attach(name="numbers").attach_opaque_data
        assert b"numbers" not in data
        assert [s.name for s in ann.schemas(attach_opaque_data=data)] == ["main"]
        with pytest.raises(RemoteError, match="not given to this caller"):
            bob.schemas(attach_opaque_data=data)
        with pytest.raises(RemoteError, match="not given to this caller"):
            list(bob.table_function("numbers", 3, attach_opaque_data=data))
        for stranger in (CatalogClient(address), CatalogClient(address, token="guessed")):
            with stranger, pytest.raises(AuthenticationError):
                stranger.catalogs()


def test_a_worker_may_say_itself_who_calls(tmp_path: Path):
    """Its function sees the headers; here one that no client sends."""
    own = 'catalog_name = "numbers"\n        authenticate = lambda headers: headers.get("x-name")'
    path = program(tmp_path, NUMBERS.replace('catalog_name = "numbers"', own))
    with listening(path, "--http") as address, CatalogClient(address) as client, pytest.raises(AuthenticationError):
        client.catalogs()


def test_nobody_serves_the_world_without_authentication(numbers: Path):
    import subprocess

    ended = subprocess.run(
        [sys.executable, str(numbers), "--http", "--host", "0.0.0.0"], capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "anybody could call" in ended.stderr


def test_sealed_data_is_bound_to_what_it_is_and_whose():
    seals = Sealed()
    sealed = seals.seal(b"secret", "attach_opaque_data", "ann")
    assert b"secret" not in sealed
    assert seals.open(sealed, "attach_opaque_data", "ann") == b"secret"
    wrong = [
        (sealed, "attach_opaque_data", "bob"),
        (sealed, "transaction_opaque_data", "ann"),
        (sealed[:-1] + b"x", "attach_opaque_data", "ann"),
        (b"", "attach_opaque_data", "ann"),
    ]
    for data, what, caller in wrong:
        with pytest.raises(PermissionError):
            seals.open(data, what, caller)
    shared = Sealed(b"key")
    assert Sealed(b"key").open(shared.seal(b"x", "a", "b"), "a", "b") == b"x"


# --- what is told ----------------------------------------------------------------------------------------------------


def test_events_have_hashes_and_no_values(caplog: pytest.LogCaptureFixture):
    import hashlib

    with caplog.at_level(logging.INFO, logger="pinakes.worker.catalog"):
        events.emit(events.ATTACH, catalog="mydb", attach=b"password=x", data_version_spec=">=2")
    (record,) = caplog.records
    assert record.event == "catalog.attach"  # type: ignore[attr-defined]
    assert record.vgi_attach_id == hashlib.sha256(b"password=x").hexdigest()[:12]  # type: ignore[attr-defined]
    assert "password" not in record.getMessage()
    assert ">=2" in record.getMessage()
    assert not hasattr(record, "vgi_options")


def test_events_are_breadcrumbs_where_sentry_is():
    sent: list[dict] = []

    class Kept(sentry_sdk.Transport):
        def capture_envelope(self, envelope):
            sent.append(envelope.get_event())

    sentry_sdk.init(dsn="http://key@127.0.0.1:9/1", transport=Kept, default_integrations=False)
    events._sentry.cache_clear()
    try:
        with sentry_sdk.isolation_scope():
            events.emit(events.BEGIN, catalog="mydb", attach=b"password=x", transaction=b"t", data_version_spec=">=2")
            sentry_sdk.capture_message("something went wrong")
    finally:
        sentry_sdk.get_client().close()
        sentry_sdk.get_global_scope().set_client(None)
    (event,) = sent
    (crumb,) = event["breadcrumbs"]["values"]
    assert (crumb["category"], crumb["level"]) == ("catalog.transaction.begin", "info")
    assert crumb["data"]["catalog"] == "mydb"
    assert crumb["data"]["data_version_spec"] == ">=2"
    assert crumb["data"]["attach_id"] == event["tags"]["vgi.attach_id"] == events.short_hash(b"password=x")
    assert event["tags"]["vgi.transaction_id"] == events.short_hash(b"t")
    assert "password" not in str(event)


def test_events_of_a_catalog_s_life(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    import importlib.util

    from pinakes.worker.wire import schemas
    from pinakes.worker.wire.messages import Request
    from pinakes.worker.wire.methods import METHODS
    from pinakes.worker.wire.records import decode, encode, stream_of

    spec = importlib.util.spec_from_file_location("notes_worker", EXAMPLES / "notes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from pinakes.worker.worker import Worker

    class Loggable(module.Notes):
        def loggable_attach_options(self, options):
            return {"path": "…"}

    class Failing(module.Notes):
        def loggable_attach_options(self, options):
            raise RuntimeError("no")

    def life(catalog: type) -> list[str]:
        dispatcher = type("W", (Worker,), {"catalog_interface": catalog})().dispatcher()

        def ask(method: str, **values: object) -> dict:
            answer = dispatcher.unary(Request(METHODS[method], values), Caller())
            return decode(answer, "it") if answer is not None else {}

        path = pa.RecordBatch.from_pylist([{"path": str(tmp_path / "n.db"), "password": "hush"}])
        request = encode(schemas.CATALOG_ATTACH_REQUEST, {"name": "notes", "options": stream_of(path)})
        attach = ask("catalog_attach", request=request)["attach_opaque_data"]
        for end in ("commit", "rollback"):
            begun = ask("catalog_transaction_begin", attach_opaque_data=attach)["transaction_opaque_data"]
            for _ in range(2):  # once more does nothing
                ask(
                    f"catalog_transaction_{end}",
                    attach_opaque_data=attach,
                    transaction_opaque_data=begun,
                )
        ask("catalog_detach", attach_opaque_data=attach)
        told = [r for r in caplog.records if r.name == "pinakes.worker.catalog"]
        caplog.clear()
        assert not any("hush" in r.getMessage() or str(tmp_path) in r.getMessage() for r in told)
        assert [getattr(r, "vgi_options", None) for r in told[:1]] == [{"path": "…"} if catalog is Loggable else None]
        return [r.event for r in told]  # type: ignore[attr-defined]

    expected = ["catalog.attach", "catalog.transaction.begin", "catalog.transaction.commit"]
    with caplog.at_level(logging.INFO, logger="pinakes.worker.catalog"):
        for catalog in (module.Notes, Loggable, Failing):
            found = life(catalog)
            assert found[:3] == expected
            assert found[4:6] == ["catalog.transaction.begin", "catalog.transaction.rollback"]
            assert found[-1] == "catalog.detach"


def test_a_catalog_that_is_made_is_reported(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    """As a program, asked by a client: the sixth event, with the options that the catalog calls loggable alone."""
    text = """
        from pinakes.worker import Worker
        from pinakes.worker import catalog as c

        class Made(c.ReadOnlyCatalogInterface):
            names = []

            def catalogs(self):
                return self.names

            def catalog_create(self, *, name, on_conflict, options):
                self.names.append(name)

            def loggable_attach_options(self, options):
                return {"region": options["region"]}

            def catalog_attach(self, *, name, options):
                return c.CatalogAttachResult(attach_opaque_data=b"a")

            def schema_get(self, **_):
                return None

            table_get = view_get = schema_get

        class MadeWorker(Worker):
            catalog_interface = Made

        if __name__ == "__main__":
            MadeWorker().run()
    """
    with (
        caplog.at_level(logging.INFO, logger="pinakes.worker.stderr"),
        CatalogClient(command(program(tmp_path, text))) as client,
    ):
        client.catalog_create(name="mydb", options={"region": "eu", "password": "hush"})
        assert client.catalogs() == ["mydb"]
        until = time.monotonic() + 60
        while "catalog.create" not in caplog.text and time.monotonic() < until:
            time.sleep(0.05)  # what it says is read beside
    told = "\n".join(record.getMessage() for record in caplog.records)
    assert "catalog.create catalog=mydb options={'region': 'eu'}" in told
    assert "hush" not in told


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_program_that_is_not_there():
    with pytest.raises(WorkerDied, match="can't be started"):
        CatalogClient("/no/such/worker").catalogs()


def test_what_a_worker_prints_does_not_disturb(tmp_path: Path):
    text = NUMBERS.replace("return pa.array([None", "print('hello'); return pa.array([None")
    with CatalogClient(command(program(tmp_path, text))) as client:
        assert client.scalar_function("twice", pa.array([1])).to_pylist() == [2]
        assert client.catalogs() == ["numbers"]
