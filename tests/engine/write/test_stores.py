"""The writer on an object store: files in several parts, and nothing left when it fails."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyarrow.fs import FileSelector, S3FileSystem
from pyiceberg import types as ice
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

from pinakes.engine.iceberg.write.files import FileWriter
from tests.engine.write.support import schema_of
from tests.providers.kinds import new_name
from tests.servers.base import Facts

pytestmark = pytest.mark.slow
ROWS = 600_000


class Boom(Exception):
    pass


def random_rows(fail: bool) -> Iterator[pa.RecordBatch]:
    """Enough that does not compress for an upload in parts."""
    for start in range(0, ROWS, 50_000):
        if fail and start == 500_000:
            raise Boom
        hashed = [hash((i, "x")) for i in range(start, start + 50_000)]
        yield pa.RecordBatch.from_arrays([pa.array(hashed), pa.array([f"{h:020}" for h in hashed])], ["c1", "c2"])


@pytest.mark.parametrize("fail", [False, True])
def test_files_on_a_store(s3_server: Facts, fail: bool) -> None:
    facts, place = s3_server, f"{s3_server['bucket']}/{new_name()}"
    io = PyArrowFileIO(
        {
            "s3.endpoint": facts["uri"],
            "s3.access-key-id": facts["key_id"],
            "s3.secret-access-key": facts["secret"],
            "s3.region": facts["region"],
        }
    )
    schema = schema_of(ice.LongType(), ice.StringType())
    metadata = new_table_metadata(
        schema, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, f"s3://{place}", {"format-version": "2"}
    )

    def write() -> FileWriter:
        with FileWriter(metadata, io) as writer:
            writer.write_all(random_rows(fail))
            writer.keep()
        return writer

    store = S3FileSystem(
        access_key=facts["key_id"],
        secret_key=facts["secret"],
        region=facts["region"],
        endpoint_override=facts["uri"],
    )
    if fail:
        with pytest.raises(Boom):
            write()
    found = [] if fail else [(f.file_path, f.file_size_in_bytes) for f in write().files]
    there = store.get_file_info(FileSelector(place, recursive=True, allow_not_found=True))
    assert sorted((f"s3://{e.path}", e.size) for e in there if e.is_file) == sorted(found)
    assert fail or sum(size for _, size in found) > 10_000_000
