"""The catalog type `sqlite`: its location, options and stored names, and what it does not load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest

from pinakes.core.catalog import SupportsDefaultNamespace
from pinakes.core.errors import CatalogUnavailable, DataCorrupt, InvalidArgument, OptionNotFound
from pinakes.parser.statements import OptionValue
from pinakes.providers.registry import open_catalog
from pinakes.providers.sqlite import SqliteCatalog
from tests.providers.catalog_suite import SPEC, ids_in, rows


class Open(Protocol):
    def __call__(
        self, location: Path | str, alias: str = "local", options: Mapping[str, OptionValue] = ...
    ) -> SqliteCatalog: ...


@pytest.fixture
def open_sqlite() -> Iterator[Open]:
    """Opens catalogs and closes them at the end."""
    opened: list[SqliteCatalog] = []

    def open_one(
        location: Path | str, alias: str = "local", options: Mapping[str, OptionValue] | None = None
    ) -> SqliteCatalog:
        catalog = open_catalog("sqlite", alias, str(location), options or {})
        assert isinstance(catalog, SqliteCatalog)
        opened.append(catalog)
        return catalog

    yield open_one
    for catalog in opened:
        catalog.close()


def test_a_directory_is_made_with_all_in_it(open_sqlite: Open, tmp_path: Path) -> None:
    catalog = open_sqlite(tmp_path / "new" / "lake")
    assert catalog.type == "sqlite"
    catalog.create_namespace(("n",), {})
    made = catalog.create_table(("n",), "t", SPEC)
    assert (tmp_path / "new" / "lake" / "catalog.db").is_file()
    assert Path(made.handle.location()).is_relative_to(tmp_path / "new" / "lake" / "warehouse")


@pytest.mark.parametrize("name", ["two words", "hash#tag", "que?ry", "per%41cent", "käse", "co:lon"])
def test_odd_directories(open_sqlite: Open, tmp_path: Path, name: str) -> None:
    catalog = open_sqlite(tmp_path / name)
    catalog.create_namespace(("n",), {})
    catalog.create_table(("n",), "t", SPEC).handle.append(rows(1))
    assert ids_in(catalog.load_table(("n",), "t")) == [1]
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_file_uri_and_a_relative_path(open_sqlite: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_sqlite("lake").create_namespace(("n",), {})
    assert open_sqlite((tmp_path / "lake").as_uri()).list_namespaces() == [("n",)]
    assert open_sqlite("./lake").list_namespaces() == [("n",)]


def test_a_database_file_needs_a_warehouse(open_sqlite: Open, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="WAREHOUSE"):
        open_sqlite(tmp_path / "x.db")
    catalog = open_sqlite(tmp_path / "x.db", options={"warehouse": str(tmp_path / "data")})
    catalog.create_namespace(("n",), {})
    catalog.create_table(("n",), "t", SPEC).handle.append(rows(1))
    assert (tmp_path / "x.db").is_file()
    assert [path.parent.name for path in (tmp_path / "data").rglob("*.parquet")] == ["data"]


def test_a_warehouse_may_be_a_uri(open_sqlite: Open, tmp_path: Path) -> None:
    catalog = open_sqlite(tmp_path / "lake", options={"WAREHOUSE": (tmp_path / "data").as_uri()})
    catalog.create_namespace(("n",), {})
    made = catalog.create_table(("n",), "t", SPEC)
    made.handle.append(rows(1))
    assert made.handle.location().startswith("file:///")
    assert ids_in(catalog.load_table(("n",), "t")) == [1]


@pytest.mark.parametrize("location", ["", ":memory:", "s3://bucket/lake", "https://host/x.db"])
def test_locations_that_can_not_be(open_sqlite: Open, location: str) -> None:
    with pytest.raises(InvalidArgument):
        open_sqlite(location, options={"WAREHOUSE": "x"})


def test_a_location_below_a_file(open_sqlite: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CatalogUnavailable, match="can't be made"):
        open_sqlite(tmp_path / "file" / "lake")


def test_a_file_that_is_no_database(open_sqlite: Open, tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("words " * 200)
    with pytest.raises(DataCorrupt, match=r"x\.db is not a sound SQLite database"):
        open_sqlite(tmp_path / "x.db", options={"WAREHOUSE": str(tmp_path)})


def test_the_same_file_under_another_alias_shows_the_same(open_sqlite: Open, tmp_path: Path) -> None:
    open_sqlite(tmp_path, "first").create_namespace(("n",), {})
    assert open_sqlite(tmp_path, "second").list_namespaces() == [("n",)]


def test_stored_names(open_sqlite: Open, tmp_path: Path) -> None:
    open_sqlite(tmp_path, "x", {"CATALOG_NAME": "one"}).create_namespace(("in_one",), {})
    open_sqlite(tmp_path, "x", {"CATALOG_NAME": "two"}).create_namespace(("in_two",), {})
    assert open_sqlite(tmp_path, "two").list_namespaces() == [("in_two",)]
    assert open_sqlite(tmp_path, "other", {"CATALOG_NAME": "one"}).list_namespaces() == [("in_one",)]
    with pytest.raises(InvalidArgument, match=r"several catalogs: one, two.*CATALOG_NAME"):
        open_sqlite(tmp_path, "other")


def test_a_default_namespace_is_an_option(open_sqlite: Open, tmp_path: Path) -> None:
    assert not isinstance(open_sqlite(tmp_path), SupportsDefaultNamespace)
    catalog = open_sqlite(tmp_path, options={"DEFAULT_NAMESPACE": "a.b"})
    assert isinstance(catalog, SupportsDefaultNamespace)
    assert catalog.default_namespace == ("a", "b")
    with pytest.raises(InvalidArgument, match="must be a namespace"):
        open_sqlite(tmp_path, options={"DEFAULT_NAMESPACE": "a..b"})


def test_options_that_can_not_be(open_sqlite: Open, tmp_path: Path) -> None:
    with pytest.raises(OptionNotFound, match=r"no option COLOUR\. Options: WAREHOUSE \(.*CATALOG_NAME \(.*UPGRADE \("):
        open_sqlite(tmp_path, options={"colour": "red"})
    with pytest.raises(InvalidArgument, match="option UPGRADE of catalog type sqlite must be true or false"):
        open_sqlite(tmp_path, options={"upgrade": "perhaps"})
    with pytest.raises(InvalidArgument, match="option WAREHOUSE of catalog type sqlite must be a text"):
        open_sqlite(tmp_path, options={"warehouse": True})


def test_opening_and_listing_loads_no_heavy_library(tmp_path: Path) -> None:
    """`select 1` on the embedded catalog must not pay for pyiceberg."""
    program = f"""
import sys
from pinakes.providers.registry import open_catalog
catalog = open_catalog("sqlite", "lake", {str(tmp_path)!r}, {{}})
catalog.check()
catalog.create_namespace(("default",), {{"comment": "x"}})
catalog.alter_namespace(("default",), {{}}, ["comment"])
assert catalog.namespace_exists(("default",)) and catalog.load_namespace(("default",)) == {{}}
assert catalog.list_namespaces() == [("default",)]
assert catalog.list_tables(("default",)) == [] == catalog.list_views(("default",)) == catalog.list_everything()
catalog.drop_namespace(("default",))
catalog.close()
print(sorted({{"pyiceberg", "pyarrow", "sqlglot", "sqlalchemy", "importlib.metadata"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
