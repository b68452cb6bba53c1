"""Secrets for storage as pyiceberg's properties, and tables on an object store that checks signatures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import InvalidArgument, PinakesError
from pinakes.core.secrets import Access, Secret, parse_secret
from pinakes.providers.iceberg.storage import absolute_warehouse, storage_properties
from pinakes.providers.jdbc import JdbcCatalog
from pinakes.providers.sqlite import SqliteCatalog
from tests.providers.catalog_suite import SPEC, ids_in, rows
from tests.providers.databases import empty_database
from tests.servers.base import Facts


def secret(**values: str) -> Secret:
    return parse_secret("s", "me", {"TYPE": "s3", **values})


def test_no_secret_no_properties() -> None:
    assert storage_properties(None) == {}
    assert storage_properties(secret(PROVIDER="credential_chain")) == {}
    assert storage_properties(secret(PROVIDER="credential_chain", REGION="eu")) == {"s3.region": "eu"}


def test_every_key_has_its_property() -> None:
    keys = {
        "KEY_ID": "k",
        "SECRET": "x",
        "SESSION_TOKEN": "t",
        "REGION": "r",
        "ENDPOINT": "http://h",
        "URL_STYLE": "vhost",
    }
    assert storage_properties(secret(**keys)) == {
        "s3.access-key-id": "k",
        "s3.secret-access-key": "x",
        "s3.session-token": "t",
        "s3.region": "r",
        "s3.endpoint": "http://h",
        "s3.force-virtual-addressing": "true",
    }
    assert storage_properties(secret(URL_STYLE="path")) == {}


def test_a_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("boto3")
    (tmp_path / "credentials").write_text("[lab]\naws_access_key_id = k\naws_secret_access_key = x\nregion = r\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    assert storage_properties(secret(PROFILE="lab", REGION="mine")) == {
        "s3.access-key-id": "k",
        "s3.secret-access-key": "x",
        "s3.region": "mine",
    }
    with pytest.raises(InvalidArgument, match="profile 'nobody' can't be used"):
        storage_properties(secret(PROFILE="nobody"))


def test_a_secret_of_another_type() -> None:
    with pytest.raises(InvalidArgument, match="'t' is of type bearer; storage takes: s3, aws"):
        storage_properties(parse_secret("t", "me", {"TYPE": "bearer", "TOKEN": "x"}))


def test_warehouses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_warehouse("s3://b/w") == "s3://b/w"
    assert absolute_warehouse("w#1") == str(tmp_path / "w#1")


@pytest.fixture(params=["sqlite", "jdbc"])
def on_s3(request: pytest.FixtureRequest, s3_server: Facts, tmp_path: Path) -> Iterator[tuple[str, Facts]]:
    """A type and its location; the warehouse is on S3."""
    if request.param == "sqlite":
        yield str(tmp_path / "x.db"), s3_server
    else:
        with empty_database(request.getfixturevalue("postgres_server")) as database:
            yield database.location, s3_server


def opened(on_s3: tuple[str, Facts], **other: str) -> SqliteCatalog | JdbcCatalog:
    location, facts = on_s3
    keys = {"KEY_ID": facts["key_id"], "SECRET": facts["secret"], "REGION": facts["region"], "ENDPOINT": facts["uri"]}
    access = Access(storage=secret(**(keys | other)))
    kind = JdbcCatalog if "://" in location else SqliteCatalog
    return kind.open("c", location, {"WAREHOUSE": f"s3://{facts['bucket']}/here"}, access)


@pytest.mark.slow
def test_tables_on_s3(on_s3: tuple[str, Facts]) -> None:
    catalog = opened(on_s3)
    catalog.create_namespace(("n",), {})
    catalog.create_table(("n",), "t", SPEC).handle.append(rows(1, 2))
    assert ids_in(catalog.load_table(("n",), "t")) == [1, 2]
    wrong = opened(on_s3, SECRET="hunter2zQ9")
    with pytest.raises(PinakesError) as raised:
        wrong.load_table(("n",), "t")
    assert "hunter2zQ9" not in str(raised.value)
    catalog.close()
    wrong.close()
