"""The hunt beyond the findings: numbers and histories of remote metadata that would take all memory, or never end."""

from __future__ import annotations

import zlib
from array import array
from pathlib import Path

import pytest
from pyiceberg.table.metadata import TableMetadataUtil
from pyroaring import BitMap

from pinakes.core.errors import DataCorrupt, InvalidArgument
from pinakes.core.iceberg_metadata import distinct_counts
from pinakes.engine.iceberg.scan import positions
from pinakes.engine.iceberg.scan.deletes import DeleteFile
from pinakes.providers.iceberg.table_io import TableIO
from tests.engine.support import do
from tests.security.rogue import NAME, an_engine_of, loaded, planted, rogue_catalog, session_of, table_at


def vector(tmp_path: Path, count: int, *parts: tuple[int, BitMap]) -> tuple[Path, int]:
    """A file with a deletion vector in it, and the vector's length."""
    bitmaps = b"".join(key.to_bytes(4, "little") + bitmap.serialize() for key, bitmap in parts)
    content = positions.MAGIC + count.to_bytes(8, "little") + bitmaps
    blob = len(content).to_bytes(4, "big") + content + zlib.crc32(content).to_bytes(4, "big")
    path = tmp_path / "deletes.puffin"
    path.write_bytes(blob)
    return path, len(blob)


def read(path: Path, length: int, rows: int) -> positions.Positions:
    file = DeleteFile.__new__(DeleteFile)
    known = {"path": str(path), "offset": 0, "length": length, "record_count": rows, "target": "x"}
    for name, value in known.items():
        object.__setattr__(file, name, value)
    return positions._vector(TableIO({}), file)


def test_a_sound_deletion_vector_is_read(tmp_path: Path) -> None:
    path, length = vector(tmp_path, 2, (0, BitMap([1, 5])), (2, BitMap([3])))
    assert read(path, length, 3).of == {"x": array("q", [1, 5, (2 << 32) + 3])}


def test_a_deletion_vector_with_a_wide_gap_is_refused(tmp_path: Path) -> None:
    """pyiceberg's reader would make two billion empty bitmaps of these bytes."""
    path, length = vector(tmp_path, 1, ((1 << 31) - 1, BitMap([3])))
    with pytest.raises(ValueError, match="not in order"):
        read(path, length, 1)


def test_a_deletion_vector_of_billions_of_rows_is_not_unpacked(tmp_path: Path) -> None:
    path, length = vector(tmp_path, 1, (0, BitMap(range(1 << 31))))
    for rows in (1, 1 << 31):
        with pytest.raises(ValueError, match="the deletion vector at 0 has"):
            read(path, length, rows)


def test_a_deletion_vector_of_too_many_bytes_is_not_read(tmp_path: Path) -> None:
    path, _ = vector(tmp_path, 1, (0, BitMap([3])))
    with pytest.raises(ValueError, match="the deletion vector at 0 has"):
        read(path, 1 << 40, 1)


@pytest.mark.parametrize("served", [True, False])
def test_a_history_in_a_circle_is_refused(served: bool, tmp_path: Path) -> None:
    answer = loaded(table_at(tmp_path / "theirs"))
    snapshot = answer["metadata"]["snapshots"][0]
    snapshot["parent-snapshot-id"] = snapshot["snapshot-id"]
    with rogue_catalog(t=answer) as rogue:
        here = (str(tmp_path / "theirs"),)
        with an_engine_of(tmp_path / "lake", served=served, allowed=here, r=rogue.as_catalog()) as engine:
            for sql in ("SELECT * FROM r.s.t", "CALL r.system.expire_snapshots('s.t')"):
                with pytest.raises(DataCorrupt, match="own ancestors"):
                    do(session_of(engine), sql)


def test_counts_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    answer = loaded(table_at(tmp_path / "theirs"))["metadata"]
    number = answer["current-snapshot-id"]
    blobs = [
        {
            "type": "apache-datasketches-theta-v1",
            "snapshot-id": number,
            "sequence-number": 1,
            "fields": [at],
            "properties": {"ndv": text},
        }
        for at, text in enumerate(("12", "nan", "inf", "-1", "x", "²", "9" * 5000))
    ]
    answer["statistics"] = [
        {
            "snapshot-id": number,
            "statistics-path": "/x",
            "file-size-in-bytes": 1,
            "file-footer-size-in-bytes": 1,
            "blob-metadata": blobs,
        }
    ]
    assert distinct_counts(TableMetadataUtil.parse_obj(answer)) == {0: 12.0, 6: float("9" * 18)}


def test_migrate_stores_no_property_that_names_a_class(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "files").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "files" / "a.parquet")
    with an_engine_of(tmp_path / "lake", served=False) as engine:
        session = session_of(engine)
        for key in ("write.py-location-provider.impl", "py-io-impl"):
            with pytest.raises(InvalidArgument, match="names a class"):
                do(session, f"CALL system.migrate('m', '{tmp_path}/files', properties => map('{key}', '{NAME}'))")
        with pytest.raises(InvalidArgument, match="location of Iceberg data"):
            do(
                session,
                f"CALL system.migrate('m', '{tmp_path}/files', "
                f"properties => map('write.data.path', ' file://{tmp_path}/x'))",
            )
    assert planted == []


@pytest.mark.parametrize("nested", [False, True])
def test_a_column_whose_nulls_take_all_memory_is_refused(nested: bool, tmp_path: Path) -> None:
    """Each NULL of it takes two gigabytes; reading one row of a file without the column ended the process."""
    answer = loaded(table_at(tmp_path / "theirs"))
    wide: object = "fixed[2000000000]"
    if nested:
        wide = {"type": "list", "element-id": 51, "element": wide, "element-required": False}
    answer["metadata"]["schemas"][0]["fields"].append({"id": 50, "name": "f", "type": wide, "required": False})
    with (
        rogue_catalog(t=answer) as rogue,
        an_engine_of(tmp_path / "lake", allowed=(str(tmp_path / "theirs"),), r=rogue.as_catalog()) as engine,
        pytest.raises(DataCorrupt, match="fixed type may have"),
    ):
        do(session_of(engine), "SELECT * FROM r.s.t")
