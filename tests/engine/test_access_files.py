"""Files that the metadata of a table names: they keep to the allowed directories and to the catalog's own, whoever
reads or writes them, and by whatever reader."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.core.errors import PermissionDenied, PinakesError
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine

ADMIN = Identity("ann", roles=frozenset({"admin"}))


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A catalog in one directory, some of whose tables lie in another."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    with an_engine(tmp_path / "lake") as engine:
        session = engine.session(ADMIN)
        for sql in (
            f"ATTACH '{inside}' AS c (TYPE sqlite)",
            "CREATE SCHEMA c.s",
            "CREATE TABLE c.s.here AS SELECT 1 AS x",
            f"CREATE TABLE c.s.there LOCATION '{outside}/there' AS SELECT 2 AS x",
            f"CREATE TABLE c.s.split (x INT) TBLPROPERTIES ('write.data.path' = '{outside}/data')",
            "INSERT INTO c.s.split VALUES (3)",
        ):
            session.run(sql).read_all()
    return inside, outside


@pytest.fixture
def session(places: tuple[Path, Path], tmp_path: Path) -> Iterator[Session]:
    """That of an administrator, who is held to `allowed_paths`, too."""
    with an_engine(tmp_path / "lake", allowed_paths=(str(places[0]),)) as engine:
        made = engine.session(ADMIN)
        made.run(f"ATTACH '{places[0]}' AS c (TYPE sqlite)").read_all()
        yield made


def test_what_lies_inside_is_read_and_written(session: Session) -> None:
    session.run("INSERT INTO c.s.here VALUES (5)").read_all()
    assert sorted(session.run("SELECT x FROM c.s.here").read_all()["x"].to_pylist()) == [1, 5]
    session.run("CREATE TABLE own AS SELECT 1 AS x").read_all()  # in the lake, which is no allowed path but its own
    assert session.run("SELECT x FROM own").read_all()["x"].to_pylist() == [1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM c.s.there",
        "SELECT count(*) FROM c.s.there",
        "SELECT * FROM c.s.split",
        "SELECT * FROM c.s.split WHERE x > 1",
        "EXPLAIN ANALYZE SELECT * FROM c.s.split",
        "SUMMARIZE c.s.split",
        "INSERT INTO c.s.there VALUES (1)",
        "INSERT INTO c.s.split VALUES (1)",
        "UPDATE c.s.split SET x = 2",
        "DELETE FROM c.s.split WHERE x % 2 = 1",
        "CREATE TABLE copied AS SELECT * FROM c.s.split",
        'SELECT * FROM c.s."there$files"',
        "CALL c.system.expire_snapshots('s.there')",
        "CALL c.system.rewrite_data_files('s.split', options => map('rewrite-all', 'true'))",
        "ANALYZE c.s.split",
        "CALL c.system.add_files('s.here', '{outside}')",
        "CALL c.system.migrate('s.new', '{outside}')",
        "CREATE TABLE c.s.more (x INT) LOCATION '{outside}/more'",
        "ALTER TABLE c.s.here SET TBLPROPERTIES ('write.data.path' = '{outside}/more')",
    ],
)
def test_what_lies_outside_is_not_touched(sql: str, session: Session, places: tuple[Path, Path]) -> None:
    before = sorted(str(path) for path in places[1].rglob("*"))
    with pytest.raises(PermissionDenied):
        session.run(sql.format(outside=places[1])).read_all()
    assert sorted(str(path) for path in places[1].rglob("*")) == before


def test_metadata_that_points_outside_is_not_read(session: Session, places: tuple[Path, Path], tmp_path: Path) -> None:
    """Whoever can write the catalog's database names any file of the server as that of a table."""
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"password": "hunter2"}))
    (database,) = places[0].glob("*.db")
    with sqlite3.connect(database) as direct:
        direct.execute(
            "UPDATE iceberg_tables SET metadata_location = ? WHERE table_name = 'here'", [f"file://{secret}"]
        )
    direct.close()
    with pytest.raises(PinakesError) as error:
        session.run("SELECT * FROM c.s.here").read_all()
    assert isinstance(error.value, PermissionDenied)
    assert "hunter2" not in str(error.value)


def test_a_table_does_not_choose_its_reader(session: Session, places: tuple[Path, Path]) -> None:
    """pyiceberg would let its properties say by which class its files are read."""
    for path in places[0].rglob("*.metadata.json"):
        metadata = json.loads(path.read_text())
        metadata["properties"]["py-io-impl"] = "pyiceberg.io.pyarrow.PyArrowFileIO"
        path.write_text(json.dumps(metadata))
    with pytest.raises(PermissionDenied):
        session.run("SELECT * FROM c.s.split").read_all()


def test_a_link_does_not_lead_out(session: Session, places: tuple[Path, Path]) -> None:
    data = next(path for path in places[0].rglob("*.parquet"))
    moved = places[1] / "moved.parquet"
    data.rename(moved)
    data.symlink_to(moved)
    with pytest.raises(PermissionDenied):
        session.run("SELECT * FROM c.s.here").read_all()


def test_without_allowed_paths_tables_may_be_anywhere(places: tuple[Path, Path], tmp_path: Path) -> None:
    with an_engine(tmp_path / "lake") as engine:
        session = engine.session(ADMIN)
        session.run(f"ATTACH '{places[0]}' AS c (TYPE sqlite)").read_all()
        assert session.run("SELECT x FROM c.s.there").read_all()["x"].to_pylist() == [2]


def test_catalogs_of_the_configuration_are_held_to_it_too(places: tuple[Path, Path], tmp_path: Path) -> None:
    from pinakes.config.model import CatalogConfig

    engine = replace(EngineConfig(), data=str(tmp_path / "lake"), allowed_paths=())
    config = Config(engine=engine, catalogs={"c": CatalogConfig("c", "sqlite", str(places[0]))})
    opened: Engine
    with open_engine(config) as opened:
        session = opened.session(ADMIN)
        assert session.run("SELECT x FROM c.s.here").read_all()["x"].to_pylist() == [1]
        with pytest.raises(PermissionDenied):
            session.run("SELECT x FROM c.s.there").read_all()
