"""Java's JdbcCatalog and ours on one database, in both directions: it through Iceberg's REST fixture, V0 and V1."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.rest import RestCatalog

from pinakes.core.errors import NotSupportedError, TableExists
from pinakes.parser.statements import OptionValue
from pinakes.providers.registry import open_catalog
from pinakes.providers.sql_catalog.adapter import StoreCatalog
from tests.providers.catalog_suite import SCHEMA, SPEC, VIEW, ids_in, rows
from tests.providers.databases import empty_database
from tests.servers.plugin import StartServer

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Shared:
    """One database, and how each side opens it."""

    type: str
    location: str
    java: dict[str, str]
    warehouse: Path

    def ours(self, **options: OptionValue) -> StoreCatalog:
        given = {"WAREHOUSE": str(self.warehouse), "CATALOG_NAME": "shared", **options}
        catalog = open_catalog(self.type, "ours", self.location, given)
        assert isinstance(catalog, StoreCatalog)
        return catalog

    def theirs(self, start: StartServer, version: str) -> RestCatalog:
        own = {"catalog-name": "shared", "warehouse": self.warehouse.as_uri(), "jdbc.schema-version": version}
        return RestCatalog("theirs", uri=start("rest", **self.java, **own).facts["uri"])


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def shared(request: pytest.FixtureRequest, tmp_path: Path, private_server: StartServer) -> Iterator[Shared]:
    """A server of its own: Java takes a table of that name in any schema for its own, also one of another test."""
    warehouse = tmp_path / "warehouse"
    if request.param == "sqlite":
        file = tmp_path / "catalog.db"
        yield Shared("sqlite", str(file), {"uri": f"jdbc:sqlite:{file}"}, warehouse)
        return
    with ExitStack() as stack:
        database = stack.enter_context(empty_database(private_server(request.param).facts))
        facts = database.facts
        place = f"127.0.0.1:{facts['port']}"
        uri = (
            f"jdbc:postgresql://{place}/{facts['database']}?currentSchema={database.name}"
            if database.is_postgres
            else f"jdbc:mariadb://{place}/{database.name}"
        )
        java = {"uri": uri, "jdbc.user": facts["user"], "jdbc.password": facts["password"]}
        yield Shared("jdbc", database.location, java, warehouse)


@pytest.mark.parametrize("version", ["V0", "V1"])
def test_java_makes_the_database(shared: Shared, private_server: StartServer, version: str) -> None:
    theirs = shared.theirs(private_server, version)
    theirs.create_namespace("sales", {"owner": "ann"})
    theirs.create_table("sales.orders", SCHEMA).append(rows(1, 2))
    ours = shared.ours()
    assert ours.list_namespaces() == [("sales",)]
    assert ours.load_namespace(("sales",))["owner"] == "ann"
    assert ours.list_everything() == [(("sales",), "orders", "TABLE")]
    ours.load_table(("sales",), "orders").handle.append(rows(3))
    assert ids_of(theirs, "sales.orders") == [1, 2, 3]
    theirs.load_table("sales.orders").append(rows(4))
    assert ids_in(ours.load_table(("sales",), "orders")) == [1, 2, 3, 4]
    ours.create_table(("sales",), "mine", SPEC).handle.append(rows(7))
    assert ids_of(theirs, "sales.mine") == [7]
    if version == "V1":
        views_go_both_ways(ours, theirs)
    else:
        views_need_an_upgrade(shared, ours)
    ours.close()


def views_go_both_ways(ours: StoreCatalog, theirs: RestCatalog) -> None:
    make_view(theirs, "sales", "theirs")
    ours.create_view(("sales",), "ours", VIEW)
    assert ours.list_views(("sales",)) == ["ours", "theirs"]
    assert ours.load_view(("sales",), "theirs").sql == "SELECT 1 AS id"
    assert sorted(name for *_, name in theirs.list_views("sales")) == ["ours", "theirs"]
    loaded = ask(theirs, "GET", "namespaces/sales/views/ours")
    assert [r["sql"] for r in loaded["metadata"]["versions"][0]["representations"]] == [VIEW.sql]
    assert "ours" not in [name for *_, name in theirs.list_tables("sales")]
    with pytest.raises(Exception, match=r"(?i)already exists"):
        theirs.create_table("sales.ours", SCHEMA)
    ours.create_view(("sales",), "theirs", VIEW, replace=True)
    assert ask(theirs, "GET", "namespaces/sales/views/theirs")["metadata"]["current-version-id"] == 2
    theirs.drop_view("sales.ours")
    assert ours.list_views(("sales",)) == ["theirs"]


def views_need_an_upgrade(shared: Shared, ours: StoreCatalog) -> None:
    with pytest.raises(NotSupportedError, match="UPGRADE true"):
        ours.create_view(("sales",), "v", VIEW)
    new = shared.ours(UPGRADE=True)
    new.create_view(("sales",), "v", VIEW)
    assert new.list_views(("sales",)) == ["v"]
    assert new.list_tables(("sales",)) == ["mine", "orders"]
    new.close()


def test_we_make_the_database(shared: Shared, private_server: StartServer) -> None:
    ours = shared.ours()
    ours.create_namespace(("a", "b"), {"comment": "x"})
    ours.create_table(("a", "b"), "t", SPEC).handle.append(rows(1))
    ours.create_view(("a", "b"), "v", VIEW)
    theirs = shared.theirs(private_server, "V1")
    assert theirs.list_namespaces() == [("a",)]
    assert theirs.list_namespaces("a") == [("a", "b")]
    assert theirs.load_namespace_properties("a.b")["comment"] == "x"
    assert theirs.list_tables("a.b") == [("a", "b", "t")]
    assert theirs.list_views("a.b") == [("a", "b", "v")]
    assert ids_of(theirs, "a.b.t") == [1]
    theirs.rename_table("a.b.t", "a.b.T")
    theirs.load_table("a.b.T").append(rows(2))
    assert ours.list_tables(("a", "b")) == ["T"]
    assert ids_in(ours.load_table(("a", "b"), "T")) == [1, 2]
    with pytest.raises(TableExists):
        ours.create_table(("a", "b"), "T", SPEC)
    theirs.drop_table("a.b.T")
    assert ours.list_everything() == [(("a", "b"), "v", "VIEW")]
    ours.close()


def ids_of(catalog: RestCatalog, name: str) -> list[int]:
    return sorted(catalog.load_table(name).scan().to_arrow()["id"].to_pylist())


def make_view(catalog: RestCatalog, namespace: str, name: str) -> None:
    """With the words of the REST interface: what Spark would send."""
    version = {
        "version-id": 1,
        "timestamp-ms": 1700000000000,
        "schema-id": 0,
        "summary": {"engine-name": "test"},
        "representations": [{"type": "sql", "sql": "SELECT 1 AS id", "dialect": "spark"}],
        "default-namespace": [namespace],
    }
    fields = [{"id": 1, "name": "id", "required": False, "type": "int"}]
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    body = {"name": name, "schema": schema, "view-version": version, "properties": {}}
    ask(catalog, "POST", f"namespaces/{namespace}/views", body)


def ask(catalog: RestCatalog, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{catalog.uri}/v1/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found
