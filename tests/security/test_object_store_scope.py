"""Keys for object stores reach only what they were given for: a catalog's files are within the SCOPE of its
STORAGE_SECRET, and no location makes a library use the credentials of the server itself.

`LOCATION 'oss://bucket/path'` was opened by pyarrow's S3 client with the keys of the environment, and `gs://` with
those of the machine; a user with a scoped secret read the whole bucket through a REST catalog of the user's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.access.path_sandbox import Roots
from pinakes.core.errors import PermissionDenied
from pinakes.core.location import Location
from pinakes.core.secrets import ANONYMOUS, Access, parse_secret
from pinakes.providers.iceberg.table_io import TableIO
from tests.flight.identities import configured
from tests.flight.serving import Serving
from tests.security.recording import USERS, Listener, listener, refused
from tests.security.rogue import Rogue, loaded, rogue_catalog, table_at


@pytest.fixture(scope="module")
def store() -> Iterator[Listener]:
    with listener() as running:
        yield running


@pytest.fixture(scope="module")
def rogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rogue]:
    answer = loaded(table_at(tmp_path_factory.mktemp("theirs")))
    answer["metadata"]["location"] = "s3://bucket/other/t"
    answer["metadata-location"] = "s3://bucket/other/t/metadata/1.metadata.json"
    for snapshot in answer["metadata"]["snapshots"]:
        snapshot["manifest-list"] = "s3://bucket/other/t/metadata/snap.avro"
    with rogue_catalog(t=answer) as running:
        yield running


@pytest.fixture(scope="module")
def server(store: Listener, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    keys = 'type = "s3"\nkey_id = "K"\nsecret = "S"\nregion = "us-east-1"\nusers = ["eve"]\nscope = "s3://bucket/eve"\n'
    toml = USERS + f'[access]\noutbound = ["127.0.0.1"]\n[secrets.lent]\n{keys}'
    toml += f'endpoint = "http://127.0.0.1:{store.port}"\n'
    with configured(tmp_path_factory.mktemp("scope"), toml) as running:
        yield running


@pytest.mark.parametrize("place", ["oss://bucket/x", "gs://bucket/x", "abfs://c@account.dfs.core.windows.net/x"])
def test_locations_that_libraries_open_with_the_servers_credentials(server: Serving, place: str) -> None:
    assert "PERMISSION_DENIED" in refused(server, f"CREATE TABLE lake.default.o (a INT) LOCATION '{place}'")
    made = f"CREATE TABLE lake.default.o WITH (location = '{place}') AS SELECT 1 AS a"
    assert "PERMISSION_DENIED" in refused(server, made)


@pytest.mark.parametrize("work", ["SELECT * FROM r.s.t", "INSERT INTO r.s.t VALUES (1)", 'SELECT * FROM r.s."t$files"'])
def test_a_catalog_of_a_user_has_files_within_the_scope_only(
    server: Serving, rogue: Rogue, store: Listener, work: str
) -> None:
    attach = f"ATTACH OR REPLACE '{rogue.uri}' AS r (TYPE iceberg_rest, STORAGE_SECRET lent)"
    assert "PERMISSION_DENIED" in refused(server, attach, work)
    assert store.connections == 0


def test_a_warehouse_beyond_the_scope_is_refused(server: Serving, store: Listener) -> None:
    attach = "ATTACH 's3://bucket/other' AS h (TYPE hadoop, STORAGE_SECRET lent)"
    assert "PERMISSION_DENIED" in refused(server, attach)
    assert store.connections == 0


def test_what_is_within_the_roots() -> None:
    secret = parse_secret("s", "eve", {"TYPE": "s3", "SCOPE": "s3://bucket/eve"})
    io = TableIO({}, Roots((), Access(storage=secret).stores))
    for place in ("s3://bucket/eve/t", "s3a://bucket/eve/t/a.parquet"):
        io.check(Location.parse(place))
    for place in ("s3://bucket/evelyn/t", "s3://bucket2/eve/t", "s3://bucket/t", "gs://bucket/eve/t", "/x"):
        with pytest.raises(PermissionDenied):
            io.check(Location.parse(place))
    assert ANONYMOUS.stores == ""
    assert Access(ambient=False).stores == "s3://"


def test_what_was_read_with_other_rights_is_remembered_apart(tmp_path: Path) -> None:
    assert (
        len({Roots((tmp_path,)).key, Roots((tmp_path,), "s3://").key, Roots(None).key, Roots(None, "s3://").key}) == 4
    )
