"""The defaults in system.metadata.property_definitions are those that the writer uses."""

from __future__ import annotations

from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import TableProperties
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

from pinakes.engine.iceberg.write.commit import RETRIES
from pinakes.engine.iceberg.write.parquet.layout import Layout
from pinakes.system_tables.property_list import DEFINITIONS


def test_defaults_of_properties_are_those_of_the_writer() -> None:
    metadata = new_table_metadata(Schema(), UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, "/tmp/t")
    layout = Layout.of(metadata)
    used = {
        "write.parquet.compression-codec": layout.codec,
        "write.parquet.row-group-limit": layout.group_rows,
        "write.parquet.page-size-bytes": layout.page_bytes,
        "write.parquet.page-row-limit": layout.page_rows,
        "write.parquet.dict-size-bytes": layout.dictionary_bytes,
        "write.target-file-size-bytes": layout.file_bytes,
        "commit.retry.num-retries": RETRIES,
        "commit.manifest.min-count-to-merge": TableProperties.MANIFEST_MIN_MERGE_COUNT_DEFAULT,
        "commit.manifest.target-size-bytes": TableProperties.MANIFEST_TARGET_SIZE_BYTES_DEFAULT,
    }
    described = {d.name: d.default for d in DEFINITIONS if d.of == "TABLE"}
    assert {name: described[name] for name in used} == {name: str(value) for name, value in used.items()}
