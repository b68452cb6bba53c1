"""What the catalog of a limited user has read of an object store is not shown to others, whose credentials differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.config.model import CatalogConfig
from pinakes.core.access.path_sandbox import Roots
from pinakes.core.identity import Identity
from pinakes.engine.iceberg.scan.locations import remembered_as
from pinakes.providers.iceberg.adapter import IcebergReader
from pinakes.providers.iceberg.table_io import TableIO
from tests.engine.support import do
from tests.security.rogue import ADMIN, an_engine_of, session_of


def test_each_catalog_of_a_limited_user_has_its_own_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    confined: list[Roots] = []
    ours = IcebergReader.confine

    def confine(self: IcebergReader, *args: str) -> None:
        ours(self, *args)
        confined.append(self._roots)

    monkeypatch.setattr(IcebergReader, "confine", confine)
    attach = "ATTACH 's3://bucket/x' AS r (TYPE hadoop, VERIFY false)"
    configured = CatalogConfig("c", "hadoop", "s3://bucket/x")
    with an_engine_of(tmp_path, c=configured) as engine:
        for user in ("eve", "bob", "ann"):
            session = session_of(engine, ADMIN if user == "ann" else Identity(user))
            do(session, attach)
            for name in ("r", "c"):
                with pytest.raises(Exception, match="bucket"):
                    do(session, f"SHOW SCHEMAS FROM {name}")
    keys = {remembered_as("s3://bucket/x/manifest.avro", TableIO({}, roots)) for roots in confined}
    assert len({roots.reader for roots in confined if roots.reader}) == 2, [roots.key for roots in confined]
    assert len(keys) >= 3


def test_the_keys_differ() -> None:
    kinds = [Roots(()), Roots((), "", "1"), Roots((), "", "2"), Roots((), "s3://b", "1"), Roots((), "s3://b", "2")]
    keys = [remembered_as("s3://b/x", TableIO({}, roots)) for roots in kinds]
    assert len(set(keys)) == len(keys)
