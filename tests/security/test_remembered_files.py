"""The hunt beyond the findings: what is remembered of the files of one catalog is neither given to another that may not
read them, nor changed by its metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinakes.config.model import CatalogConfig
from pinakes.core.access.path_sandbox import EVERYWHERE, Roots
from pinakes.core.errors import PinakesError
from pinakes.engine.iceberg.scan.locations import remembered_as
from pinakes.providers.iceberg.table_io import TableIO
from tests.engine.support import do
from tests.security.rogue import ADMIN, an_engine_of, loaded, rogue_catalog, session_of

QUERIES = (
    "SELECT * FROM {}",
    "SELECT max(a) FROM {}",
    "SELECT count(*) FROM {}",
    "SHOW STATS FOR {}",
    'SELECT * FROM {}$files"',
    'SELECT * FROM {}$manifests"',
)


def asked(query: str, catalog: str) -> str:
    return query.format(f'{catalog}.s."t' if '"' in query else f"{catalog}.s.t")


def private_table(directory: Path) -> tuple[CatalogConfig, Path]:
    """A catalog that `r` has no business with, and the metadata file of its table."""
    place = CatalogConfig("p", "sqlite", f"{directory}/catalog.db", options={"warehouse": str(directory / "wh")})
    with an_engine_of(directory / "other", p=place) as engine:
        do(session_of(engine, ADMIN), "CREATE SCHEMA p.s")
        do(session_of(engine, ADMIN), "CREATE TABLE p.s.t AS SELECT 4711 AS a")
    return place, max(directory.rglob("*.metadata.json"), key=lambda path: path.stat().st_mtime_ns)


@pytest.mark.parametrize("ending", ["", " {private}/catalog.db {private}/wh"])
@pytest.mark.parametrize("query", QUERIES)
def test_manifests_that_another_catalog_has_read_are_not_given_out(query: str, ending: str, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    place, metadata = private_table(tmp_path / "private")
    answer: dict[str, Any] = loaded(metadata)
    snapshot = answer["metadata"]["snapshots"][-1]
    snapshot["manifest-list"] += ending.format(private=tmp_path / "private")
    with (
        rogue_catalog(t=answer) as rogue,
        an_engine_of(tmp_path / "lake", p=place, r=rogue.as_catalog()) as engine,
    ):
        for each in QUERIES:
            do(session_of(engine, ADMIN), asked(each, "p"))
        with pytest.raises(PinakesError) as refused:
            do(session_of(engine), asked(query, "r"))
    assert refused.value.code == "PERMISSION_DENIED", refused.value
    assert "4711" not in refused.value.message


def test_files_are_remembered_apart_under_other_roots() -> None:
    kinds = [EVERYWHERE, Roots(()), Roots(["/a"]), Roots(["/a", "/b"]), Roots(["/a /b"]), Roots(["/a"], "s3://b")]
    keys = [remembered_as(path, TableIO({}, roots)) for roots in kinds for path in ("/x", "/x /a", "/x /a /b")]
    assert len(set(keys)) == len(keys)
