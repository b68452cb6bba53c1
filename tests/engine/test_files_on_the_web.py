"""Files of web addresses: downloaded without credentials, from where the outbound policy allows."""

from __future__ import annotations

import gzip
import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.config.serving import StatementLimits
from pinakes.core.errors import (
    CatalogUnavailable,
    DataCorrupt,
    FileNotFound,
    InvalidArgument,
    NotSupportedError,
    PermissionDenied,
)
from pinakes.core.identity import Identity
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.engine.execution.admission import Admission
from pinakes.engine.session import Session
from pinakes.providers.rest import download as downloads
from tests.engine.support import rows


class Web:
    """A web server with files by path; its redirects are addresses, its statuses numbers."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | str | int] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.cut = 0
        """Bytes that are missing at the end of an answer."""
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append((self.path, dict(self.headers)))
                found = web.files.get(self.path.partition("?")[0], 404)
                if isinstance(found, bytes):
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(found) + web.cut))
                    self.end_headers()
                    self.wfile.write(found)
                    return
                self.send_response(found if isinstance(found, int) else 302)
                if isinstance(found, str):
                    self.send_header("Location", found)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def spill(tmp_path: Path) -> Path:
    (tmp_path / "spill").mkdir()
    return tmp_path / "spill"


@pytest.fixture
def session(tmp_path: Path, spill: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("NO_PROXY", "*")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_engine(Config(engine=EngineConfig(data=str(tmp_path / "lake"), spill_dir=str(spill)))) as engine:
        yield engine.session()


def _parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"i": range(1000), "s": ["x"] * 1000}), sink)
    return sink.getvalue()


def test_files_are_downloaded_and_removed(session: Session, web: Web, spill: Path) -> None:
    web.files = {
        "/a.csv": b"id,name\n1,ann\n2,bob\n",
        "/b.csv.gz": gzip.compress(b"id,name\n3,cid\n"),
        "/p.parquet": _parquet(),
        "/download": b'{"x": 1}\n',
    }
    assert rows(session, f"SELECT a.id, name FROM '{web.uri}/a.csv'") == [(1, "ann"), (2, "bob")]
    both = f"SELECT max(id), count(*) FROM read_csv(['{web.uri}/a.csv', '{web.uri}/b.csv.gz'])"
    assert rows(session, both) == [(3, 3)]
    assert rows(session, f"SELECT count(*), sum(i) FROM '{web.uri}/p.parquet' WHERE i > 500") == [(499, 374_250)]
    assert rows(session, f"SELECT x, filename FROM read_json('{web.uri}/download?key=1', filename => true)") == [
        (1, f"{web.uri}/download")
    ]
    session.run(f"CREATE TABLE t AS SELECT * FROM '{web.uri}/a.csv'").read_all()
    session.run(f"COPY t FROM '{web.uri}/a.csv'").read_all()
    assert rows(session, "SELECT count(*), sum(id) FROM t") == [(4, 6)]
    with pytest.raises(NotSupportedError, match="COPY INTO remembers"):
        session.run(f"COPY INTO t FROM '{web.uri}/a.csv'").read_all()
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("a.csv", "i\n5\n")
    web.files["/a.zip"] = packed.getvalue()
    assert rows(session, f"SELECT i FROM '{web.uri}/a.zip'") == [(5,)]
    web.files["/a.csv"] = b"id,name\n9,new\n"  # each statement asks again
    assert rows(session, f"SELECT id FROM '{web.uri}/a.csv'") == [(9,)]
    assert list(spill.glob("pinakes-*")) == []


def test_no_credentials_are_sent(session: Session, web: Web, tmp_path: Path) -> None:
    (tmp_path / "home" / ".netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
    web.files = {"/a.csv": b"i\n1\n", "/r": f"{web.uri}/a.csv"}
    session.run(f"CREATE SECRET own (TYPE bearer, TOKEN 'hunter3', SCOPE '{web.uri}')").read_all()
    assert rows(session, f"SELECT * FROM read_csv('{web.uri}/r')") == [(1,)]
    assert [path for path, _ in web.asked] == ["/r", "/a.csv"]
    assert not any({"authorization", "cookie"} & {key.lower() for key in headers} for _, headers in web.asked)
    with pytest.raises(InvalidArgument, match="no credentials are sent") as error:
        rows(session, f"SELECT * FROM '{web.uri.replace('//', '//me:hunter2@')}/a.csv'")
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("found", "error", "said"),
    [
        (404, FileNotFound, "does not exist"),
        (403, PermissionDenied, "is not public"),
        (500, CatalogUnavailable, "HTTP 500"),
        (204, CatalogUnavailable, "HTTP 204"),
        ("{uri}/a.csv", CatalogUnavailable, "more than 5 redirects"),
        ("file:///etc/passwd", CatalogUnavailable, "redirects to an address that is not followed"),
        ("s3://bucket/a.csv", CatalogUnavailable, "redirects to an address that is not followed"),
    ],
)
def test_answers_without_a_file(
    session: Session, web: Web, found: int | str, error: type[Exception], said: str
) -> None:
    web.files = {"/a.csv": found.format(uri=web.uri) if isinstance(found, str) else found}
    with pytest.raises(error, match=said) as caught:
        rows(session, f"SELECT * FROM '{web.uri}/a.csv?token=hunter2'")
    assert "hunter2" not in str(caught.value)


def test_files_that_are_cut_off_or_too_large(
    session: Session, web: Web, spill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.files, web.cut = {"/a.csv": b"i\n1\n2\n"}, 10
    with pytest.raises(CatalogUnavailable, match="broke off"):
        rows(session, f"SELECT * FROM '{web.uri}/a.csv'")
    web.cut = 0
    monkeypatch.setattr(downloads, "MOST_BYTES", 5)
    with pytest.raises(InvalidArgument, match="the most that is downloaded"):
        rows(session, f"SELECT * FROM '{web.uri}/a.csv'")
    assert list(spill.glob("pinakes-*")) == []


def test_a_server_that_is_not_there(session: Session, web: Web) -> None:
    web.server.server_close()
    with pytest.raises(CatalogUnavailable, match="can't be reached"):
        rows(session, f"SELECT * FROM '{web.uri}/a.csv'")
    for wrong in ("http://", "https:///a.csv", "http://a b/c.csv", "http://[::1/a.csv"):
        with pytest.raises(InvalidArgument, match="a web address must look like"):
            rows(session, f"SELECT * FROM '{wrong}'")
    with pytest.raises(NotSupportedError, match="COPY … TO http"):
        session.run(f"COPY (SELECT 1 AS a) TO '{web.uri}/a.csv'").read_all()


def test_a_page_is_not_data(session: Session, web: Web) -> None:
    web.files = {"/p.parquet": b"<html></html>"}
    with pytest.raises(DataCorrupt, match=r"p\.parquet"):
        rows(session, f"SELECT * FROM '{web.uri}/p.parquet'")


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("datasets/o/n/a b.csv", "https://huggingface.co/datasets/o/n/resolve/main/a%20b.csv"),
        ("datasets/o/n@v1/d/a.parquet", "https://huggingface.co/datasets/o/n/resolve/v1/d/a.parquet"),
        ("datasets/o/../a.csv", ""),
        ("datasets/o/n/*.csv", ""),
        ("models/o/n/a.csv", ""),
        ("datasets/o/n", ""),
    ],
)
def test_addresses_of_datasets(written: str, address: str) -> None:
    if address:
        assert downloads.address_of(f"hf://{written}") == address
    else:
        with pytest.raises(InvalidArgument, match="hf://datasets/owner/name/path"):
            downloads.address_of(f"hf://{written}")


# --- on a server -------------------------------------------------------------------------------------------------


@pytest.fixture
def user(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("NO_PROXY", "*")
    powers, outbound = request.param
    with open_engine(Config(engine=EngineConfig(data=str(tmp_path / "lake"))), Policy(powers, outbound)) as engine:
        engine.admission = Admission(StatementLimits())
        yield engine.session(Identity("eve"))


@pytest.mark.parametrize("user", [(("attach",), ("127.0.0.1",))], indirect=True)
def test_a_user_reaches_what_the_policy_allows(user: Session, web: Web) -> None:
    web.files = {
        "/a.csv": b"i\n1\n",
        "/r.csv": f"http://localhost:{web.server.server_port}/a.csv",
        "/p.parquet": _parquet(),
    }
    assert rows(user, f"SELECT * FROM '{web.uri}/a.csv'") == [(1,)]
    assert rows(user, f"SELECT max(i) FROM '{web.uri}/p.parquet'") == [(999,)]
    assert rows(user, f"SELECT * FROM '{web.uri}/r.csv'") == [(1,)]  # another name of an address that is allowed


@pytest.mark.parametrize("user", [(("attach",), ("public",)), (("attach",), ())], indirect=True)
def test_private_addresses_are_denied(user: Session, web: Web) -> None:
    web.files = {"/a.csv": b"i\n1\n"}
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"):
        with pytest.raises(PermissionDenied, match="connecting to"):
            rows(user, f"SELECT * FROM 'http://{host}:{web.server.server_port}/a.csv'")
    assert web.asked == []


@pytest.mark.parametrize("user", [(("attach",), ("127.0.0.1",))], indirect=True)
def test_a_redirect_to_a_private_address_is_denied(user: Session, web: Web) -> None:
    for place in ("127.0.0.2", "169.254.169.254", "10.0.0.1"):
        web.files = {"/a.csv": f"http://{place}:{web.server.server_port}/a.csv"}
        with pytest.raises(PermissionDenied, match=f"connecting to {place}"):
            rows(user, f"SELECT * FROM '{web.uri}/a.csv'")


@pytest.mark.parametrize("user", [((), ("*",))], indirect=True)
def test_a_user_who_may_not_attach(user: Session, web: Web) -> None:
    with pytest.raises(PermissionDenied, match=r'access\.everybody_may = \["attach"\]'):
        rows(user, f"SELECT * FROM '{web.uri}/a.csv'")
    assert web.asked == []
