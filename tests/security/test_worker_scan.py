"""Finding 5: a worker's `iceberg_scan` of a file: URI read tables that its user may not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.config.model import CatalogConfig
from pinakes.core.errors import PinakesError
from tests.engine.support import do, rows
from tests.flight.test_security_workers import THIEF
from tests.security.rogue import ADMIN, an_engine_of, session_of, table_at
from tests.worker.support import listening, program

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("written", ["file://{0}", " file://{0}", "{0}", "file:{0}", "FILE://{0}", "hdfs://default{0}"])
def test_a_private_table_is_not_read(written: str, tmp_path: Path) -> None:
    metadata = table_at(tmp_path / "private")
    place = written.format(metadata)
    with (
        listening(program(tmp_path, THIEF), place, "--http") as address,
        an_engine_of(tmp_path / "lake", thief=CatalogConfig("thief", "vgi", address)) as engine,
    ):
        eve = session_of(engine)
        do(eve, "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')")
        with pytest.raises(PinakesError) as refused:
            do(eve, "SELECT * FROM thief.main.berg")
        assert refused.value.code in ("PERMISSION_DENIED", "INVALID_ARGUMENT")
        if written in ("file://{0}", "{0}"):
            assert rows(session_of(engine, ADMIN), "SELECT a FROM thief.main.berg") == [(7,)]
