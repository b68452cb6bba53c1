"""What earlier versions stored is read and changed by this one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.api.build import open_engine
from pinakes.api.pipelines import Options, PipelineRun
from pinakes.cli.prompt.history import open_history
from pinakes.config.model import load_config
from pinakes.config.spark import SparkConfig
from pinakes.server.logins.hashes import is_right
from pinakes.server.logins.users_file import read_users
from pinakes.worker.catalog.names import AttachOpaqueData, TransactionOpaqueData
from pinakes.worker.catalog.storage import CatalogStorageSqlite
from tests.compatibility.stored import VERSIONS, unpacked
from tests.servers.base import Facts
from tests.sqllogic import Mismatch, check, parse

each_version = pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)


@pytest.fixture
def root(version: Path) -> Iterator[Path]:
    with unpacked(version) as root:
        yield root


def run_file(path: Path, root: Path) -> None:
    """All records of a file on the state; those that fail are told together."""
    failed, labels = [], dict[str, list[str]]()
    with open_engine(load_config(root / "pinakes.toml")) as engine:
        session = engine.session()
        for record in parse(path.read_text(encoding="utf-8"), path):
            try:
                check(record, session.run, str(root), labels)
            except Mismatch as mismatch:
                failed.append(f"{path.name}:{record.line}\n{record.sql}\n{mismatch}")
    assert not failed, "\n\n".join(failed)


def test_versions_are_found() -> None:
    assert [version.name for version in VERSIONS] == ["0831555"]


@each_version
@pytest.mark.slow
def test_stored_tables_are_read(version: Path, root: Path) -> None:
    run_file(version / "read.slt", root)


@each_version
@pytest.mark.slow
def test_stored_tables_are_changed(version: Path, root: Path) -> None:
    run_file(version / "write.slt", root)


@each_version
@pytest.mark.slow
def test_a_pipeline_goes_on_where_it_ended(version: Path, root: Path, spark_connect_server: Facts) -> None:
    """No file is loaded again, an incremental table takes only what is new."""
    (root / "project/data/later.csv").write_text("id,customer,amount,ordered_on\n9,eve,2.00,2026-01-02\n")
    facts = spark_connect_server
    spark = SparkConfig(remote=facts["remote"], ui=facts["ui"], spool=facts["spool"])
    with open_engine(replace(load_config(root / "pinakes.toml"), given_spark=spark)) as engine:
        PipelineRun(engine, root / "project/spec.yml", Options()).run(lambda *_: None)
        session = engine.session()

        def ids(table: str) -> list[int]:
            found: list[int] = session.run(f"SELECT id FROM {table} ORDER BY id").read_all()["id"].to_pylist()
            return found

        assert ids("project.raw_orders") == [1, 2, 3, 4, 9]
        assert ids("project.log") == [1, 2, 4, 9]
        runs = session.run("SELECT state FROM system.pipeline.runs").read_all()["state"].to_pylist()
        assert runs == ["COMPLETED", "COMPLETED"]


@each_version
def test_a_full_configuration_means_the_same(version: Path, tmp_path: Path) -> None:
    environ = {name: name.lower() for name in ("CLIENT_SECRET", "DBT_TOKEN", "PARTNER_TOKEN")}
    (tmp_path / "pinakes.toml").write_text((version / "pinakes.toml").read_text())
    config = load_config(tmp_path / "pinakes.toml", environ=environ)
    expected = json.loads((version / "pinakes.json").read_text().replace("${TMP}", str(tmp_path)))
    assert missing(expected, json.loads(json.dumps(asdict(config), default=str))) == []
    with open_engine(config) as engine:
        mounted = {row["Catalog"] for row in engine.session().run("SHOW CATALOGS").read_all().to_pylist()}
    assert mounted >= {*config.catalogs, "lake", "system"}


def missing(expected: Any, found: Any, where: str = "") -> list[str]:
    """Where a value is not what it was; sections and keys may have come since."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [line for key, value in expected.items() for line in missing(value, found.get(key), f"{where}.{key}")]
    return [] if expected == found else [f"{where}: {found!r} instead of {expected!r}"]


@each_version
def test_users_of_a_server_log_in(version: Path, root: Path) -> None:
    ann, bob = read_users(root / "users")
    assert (ann.name, ann.is_admin, is_right(ann.stored, "open sesame")) == ("ann", True, True)
    assert (bob.name, bob.is_admin, is_right(bob.stored, "token of bob")) == ("bob", False, True)
    assert not is_right(ann.stored, "token of bob")


@each_version
def test_the_history_of_the_shell_is_read(version: Path, root: Path) -> None:
    assert list(open_history(root / "history").load_history_strings()) == ["SELECT 'two\nlines';", "SELECT 1;"]


@each_version
def test_what_a_worker_remembers_is_read(version: Path, root: Path) -> None:
    storage = CatalogStorageSqlite(root / "worker_catalog.db")
    attached, running = AttachOpaqueData(b"attached"), TransactionOpaqueData(b"running")
    assert storage.attach_get(attached) == ("notes", {"path": "here", "depth": 3})
    assert storage.transaction_get(running) == (attached, b"\x00state")
    storage.close()
