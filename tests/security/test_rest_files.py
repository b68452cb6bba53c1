"""Findings 6 and 11: files of the server that the metadata of a REST catalog names are neither read nor listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pinakes.core.errors import PinakesError
from tests.engine.support import do
from tests.security.rogue import ADMIN, EVE, an_engine_of, loaded, rogue_catalog, session_of, table_at


def moved(answer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**answer, "metadata": {**answer["metadata"], **fields}}


@pytest.mark.parametrize("identity", [EVE, ADMIN])
@pytest.mark.parametrize("config", [{}, {"DEFAULT_SCHEME": "s3"}, {"DEFAULT_SCHEME": "s3", "DEFAULT_NETLOC": "b"}])
def test_a_private_file_is_not_read(config: dict[str, str], identity: Any, tmp_path: Path) -> None:
    private = table_at(tmp_path / "private")
    answer = loaded(private, config=config)
    answer["storage-credentials"] = [{"prefix": "", "config": config}]
    with (
        rogue_catalog(t=answer) as rogue,
        an_engine_of(tmp_path / "lake", r=rogue.as_catalog()) as engine,
        pytest.raises(PinakesError) as refused,
    ):
        do(session_of(engine, identity), "SELECT * FROM r.s.t")
    assert refused.value.code == "PERMISSION_DENIED"


@pytest.mark.parametrize("written", ["{out}", "file://{out}", "file:{out}", " file://{out}", "{out}/x/..", "{out}/"])
@pytest.mark.parametrize("dry", ["true", "false"])
def test_a_private_directory_is_not_listed(written: str, dry: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "secret-name.txt").write_text("x")
    made = table_at(tmp_path / "theirs", "CREATE TABLE t (a int)")
    answer = moved(loaded(made), location=written.format(out=out))
    with (
        rogue_catalog(t=answer) as rogue,
        an_engine_of(tmp_path / "lake", r=rogue.as_catalog()) as engine,
        pytest.raises(PinakesError) as refused,
    ):
        do(
            session_of(engine),
            f"CALL r.system.remove_orphan_files('s.t', dry_run => {dry}, "
            "older_than => TIMESTAMP '2999-01-01 00:00:00')",
        )
    assert refused.value.code in ("PERMISSION_DENIED", "INVALID_ARGUMENT", "DATA_CORRUPT")
    assert "secret-name" not in refused.value.message
    assert (out / "secret-name.txt").exists()


def test_statistics_and_manifests_of_the_server_are_not_read(tmp_path: Path) -> None:
    made = table_at(tmp_path / "theirs")
    secret = tmp_path / "secret"
    secret.write_text(json.dumps({"password": "hunter2"}))
    answer = loaded(made)
    snapshot = {**answer["metadata"]["snapshots"][0], "manifest-list": str(secret)}
    with rogue_catalog(t=moved(answer, snapshots=[snapshot])) as rogue:
        here = (str(tmp_path / "theirs"),)
        with an_engine_of(tmp_path / "lake", allowed=here, r=rogue.as_catalog()) as engine:
            for sql in ("SELECT * FROM r.s.t", 'SELECT * FROM r.s."t$files"', 'SELECT * FROM r.s."t$manifests"'):
                with pytest.raises(PinakesError) as refused:
                    do(session_of(engine), sql)
                assert refused.value.code == "PERMISSION_DENIED"
                assert "hunter2" not in refused.value.message
