"""The example of a store of one's own: the store contract, the catalog suite, and ATTACH through its entry point."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pinakes.core.errors import CatalogUnavailable, DataCorrupt
from pinakes.core.secrets import ANONYMOUS
from pinakes.providers.registry import known_types
from pinakes.providers.sql_catalog.store import CatalogStore, ObjectKey
from tests.engine.support import an_engine, do, rows
from tests.providers.catalog_suite import CatalogSuite, FullCatalog
from tests.providers.store_suite import StoreSuite, T

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_store"

if TYPE_CHECKING:
    JsonStore: Any


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))


def new_store(path: Path, name: str) -> Any:
    from pinakes_json_store.store import JsonStore  # type: ignore[import-not-found]

    store = JsonStore(path, name)
    store.initialize()
    return store


class JsonUnderTest:
    def __init__(self, directory: Path) -> None:
        self._path, self._old = directory / "catalog.json", directory / "old.json"

    def store(self, catalog_name: str) -> CatalogStore:
        found: CatalogStore = new_store(self._path, catalog_name)
        return found

    def old_store(self, catalog_name: str) -> CatalogStore:
        objects = [[catalog_name, T.namespace, T.name, None, "m1", None]]
        self._old.write_text(json.dumps({"views": False, "objects": objects, "properties": []}))
        found: CatalogStore = new_store(self._old, catalog_name)
        return found

    def insert_untyped(self, catalog_name: str, key: ObjectKey, metadata_location: str) -> None:
        stored = json.loads(self._path.read_text())
        stored["objects"].append([catalog_name, key.namespace, key.name, None, metadata_location, None])
        self._path.write_text(json.dumps(stored))


class TestExampleStore(StoreSuite):
    @pytest.fixture
    def database(self, tmp_path: Path) -> JsonUnderTest:
        return JsonUnderTest(tmp_path)


class TestExampleCatalog(CatalogSuite):
    @pytest.fixture
    def empty(self, tmp_path: Path) -> Iterator[FullCatalog]:
        from pinakes_json_store.catalog import JsonCatalog  # type: ignore[import-not-found]

        catalog = JsonCatalog.open("lake", str(tmp_path / "json"), {}, ANONYMOUS)
        yield catalog
        catalog.close()


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    path = tmp_path / "catalog.json"
    for content in ("not JSON", "[]", '{"views": true}'):
        path.write_text(content)
        with pytest.raises(DataCorrupt, match=r"catalog\.json is no file of this catalog"):
            new_store(path, "one")
        assert path.read_text() == content


def test_a_directory_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(CatalogUnavailable, match="can't be locked"):
        new_store(tmp_path / "nowhere" / "catalog.json", "one")


COUNT = """
import sys
from pathlib import Path
from pinakes_json_store.store import JsonStore

store = JsonStore(Path(sys.argv[1]), "one")

def step():
    count = int(store.get_namespace_properties("n")["count"])
    store.set_namespace_properties("n", {"count": str(count + 1)})

for _ in range(50):
    store.run_in_transaction(step)
"""


@pytest.mark.slow
def test_processes_take_turns(tmp_path: Path) -> None:
    store = new_store(tmp_path / "catalog.json", "one")
    store.insert_namespace_property("n", "count", "0")
    arguments = [sys.executable, "-c", COUNT, str(tmp_path / "catalog.json")]
    environment = {"PYTHONPATH": f"{EXAMPLE}:{EXAMPLE.parents[1]}"}
    started = [subprocess.Popen(arguments, env=environment) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert store.get_namespace_properties("n") == {"count": "150"}


# --- installed ---------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip leaves of it: the package on the path, and its entry points as its pyproject has them."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["pinakes.catalogs"]
    info = tmp_path / "site" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = ["[pinakes.catalogs]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(info.parent))


@pytest.mark.usefixtures("installed")
def test_attach_finds_it(tmp_path: Path) -> None:
    assert "json_file" in known_types()
    with an_engine() as engine:
        session = engine.session()
        do(session, f"ATTACH '{tmp_path / 'mine'}' AS mine (TYPE json_file)")
        do(session, "CREATE SCHEMA mine.a")
        do(session, "CREATE SCHEMA mine.a.b")
        do(session, "CREATE TABLE mine.a.b.t AS SELECT 1 AS x")
        do(session, "INSERT INTO mine.a.b.t VALUES (2)")
        do(session, "CREATE VIEW mine.a.v AS SELECT sum(x) AS s FROM mine.a.b.t")
        do(session, "DETACH mine")
        do(session, f"ATTACH '{tmp_path / 'mine'}' AS mine (TYPE json_file)")
        assert rows(session, "SELECT s FROM mine.a.v") == [(3,)]
        assert (tmp_path / "mine" / "warehouse").is_dir()
