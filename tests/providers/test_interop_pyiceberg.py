"""pyiceberg's own SqlCatalog and ours on one file, in both directions."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog as TheirCatalog
from pyiceberg.exceptions import NoSuchTableError

from pinakes.core.errors import NotSupportedError
from pinakes.providers.sqlite import SqliteCatalog
from tests.providers.catalog_suite import SCHEMA, SPEC, VIEW, ids_in, rows
from tests.providers.test_stores import V0


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[SqliteCatalog]:
    catalog = SqliteCatalog.open("shared", str(tmp_path), {})
    yield catalog
    catalog.close()


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[TheirCatalog]:
    catalog = TheirCatalog("shared", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    yield catalog
    catalog.close()


def test_they_read_and_append_what_we_made(ours: SqliteCatalog, theirs: TheirCatalog) -> None:
    ours.create_namespace(("sales", "eu"), {"comment": "x"})
    ours.create_table(("sales", "eu"), "orders", SPEC).handle.append(rows(1, 2))
    assert theirs.list_namespaces() == [("sales",)]
    assert theirs.list_namespaces("sales") == [("sales", "eu")]
    assert theirs.load_namespace_properties("sales.eu")["comment"] == "x"
    assert theirs.list_tables("sales.eu") == [("sales", "eu", "orders")]
    table = theirs.load_table("sales.eu.orders")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
    table.append(rows(3))
    assert ids_in(ours.load_table(("sales", "eu"), "orders")) == [1, 2, 3]


def test_we_read_and_append_what_they_made(ours: SqliteCatalog, theirs: TheirCatalog) -> None:
    theirs.create_namespace("sales", {"owner": "ann"})
    theirs.create_table("sales.orders", SCHEMA).append(rows(1, 2))
    assert ours.list_namespaces() == [("sales",)]
    assert ours.load_namespace(("sales",)) == {"owner": "ann"}
    assert ours.list_everything() == [(("sales",), "orders", "TABLE")]
    loaded = ours.load_table(("sales",), "orders")
    assert ids_in(loaded) == [1, 2]
    loaded.handle.append(rows(3))
    assert sorted(theirs.load_table("sales.orders").scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]


def test_their_namespace_outlives_its_last_property_with_us(ours: SqliteCatalog, theirs: TheirCatalog) -> None:
    """They write no `exists` row when there are properties; we add it when we change them."""
    theirs.create_namespace("sales", {"owner": "ann"})
    ours.alter_namespace(("sales",), {}, ["owner"])
    assert ours.namespace_exists(("sales",))
    assert theirs.namespace_exists("sales")


def test_our_views_are_no_tables_to_them(ours: SqliteCatalog, theirs: TheirCatalog) -> None:
    ours.create_namespace(("sales",), {})
    ours.create_view(("sales",), "v", VIEW)
    assert theirs.list_tables("sales") == []
    with pytest.raises(NoSuchTableError):
        theirs.load_table("sales.v")


def test_they_drop_and_rename_what_we_made(ours: SqliteCatalog, theirs: TheirCatalog) -> None:
    ours.create_namespace(("sales",), {})
    for name in ("a", "b"):
        ours.create_table(("sales",), name, SPEC).handle.append(rows(1))
    theirs.rename_table("sales.a", "sales.c")
    theirs.purge_table("sales.b")
    assert ours.list_tables(("sales",)) == ["c"]
    assert ids_in(ours.load_table(("sales",), "c")) == [1]


def test_the_stored_name_is_found_under_any_alias(theirs: TheirCatalog, tmp_path: Path) -> None:
    theirs.create_namespace("sales")
    catalog = SqliteCatalog.open("whatever", str(tmp_path), {})
    assert catalog.list_namespaces() == [("sales",)]
    catalog.close()


def test_a_v0_file_of_theirs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Both of us read and write it as it is; when we upgrade it, they go on with it."""
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as raw:
        raw.executescript(V0 + "DELETE FROM iceberg_tables;")
    uri = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
    with caplog.at_level(logging.ERROR), TheirCatalog("shared", **uri) as old:
        old.create_namespace("sales")
        old.create_table("sales.t", SCHEMA).append(rows(1))
    ours = SqliteCatalog.open("shared", str(tmp_path), {})
    ours.load_table(("sales",), "t").handle.append(rows(2))
    with pytest.raises(NotSupportedError, match="UPGRADE true"):
        ours.create_view(("sales",), "v", VIEW)
    ours.close()
    ours = SqliteCatalog.open("shared", str(tmp_path), {"UPGRADE": True})
    ours.create_view(("sales",), "v", VIEW)
    assert ours.list_everything() == [(("sales",), "t", "TABLE"), (("sales",), "v", "VIEW")]
    ours.close()
    with TheirCatalog("shared", **uri) as new:
        assert new.list_tables("sales") == [("sales", "t")]
        assert sorted(new.load_table("sales.t").scan().to_arrow()["id"].to_pylist()) == [1, 2]
