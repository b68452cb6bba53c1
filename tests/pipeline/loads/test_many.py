"""Ten thousand small files: the new ones are found without opening the old."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pinakes.engine.files.paths import File
from pinakes.pipelines.loads import new_files
from tests.engine.support import how_many
from tests.pipeline.loads.support import Place

pytestmark = pytest.mark.slow
MANY = how_many(300, 10_000)


def test_old_files_are_not_opened(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first run every old file is overwritten by nonsense of the same size, with the time that it had:
    whoever opened one, here or in Spark, would find bad records in it."""
    inside = place.directory / "in"
    inside.mkdir()
    for at in range(MANY):
        (inside / f"{at:05}.csv").write_text(f"id,name\n{at},name {at}\n")
    load = place.load(columns="id BIGINT, name STRING")
    assert place.run(load).rows == MANY
    for path in inside.iterdir():
        _spoil(path)
    opened: list[str] = []
    for way in ("open", "stream"):
        monkeypatch.setattr(File, way, _counted(getattr(File, way), opened))
    assert place.run(load).files == 0
    assert opened == []
    for at in range(5):
        (inside / f"new{at}.csv").write_text(f"id,name\n{MANY + at},new\n")
    assert (len(new_files(place.context.session, load).new), opened) == (5, [])
    result = place.run(load)
    assert (result.rows, result.files, result.bad_rows) == (5, 5, 0)
    assert sorted(opened) == [f"new{at}.csv" for at in range(5)]
    assert place.rows("SELECT count(*), count(DISTINCT id), max(id) FROM T.t") == [(MANY + 5, MANY + 5, MANY + 4)]


def _spoil(path: Path) -> None:
    before = path.stat()
    path.write_bytes(b"\0" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _counted(way: object, opened: list[str]) -> object:
    def counting(file: File) -> object:
        opened.append(file.local.name)
        return way(file)  # type: ignore[operator]

    return counting
