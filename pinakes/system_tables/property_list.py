"""The properties of tables and schemas that have an effect. Any other property can be set and is stored, without an
effect.
"""

from __future__ import annotations

from typing import NamedTuple


class Definition(NamedTuple):
    name: str
    default: str | None
    type: str
    doc: str
    of: str = "TABLE"


DEFINITIONS = (
    Definition("comment", None, "varchar", "Comment on the table"),
    Definition("format-version", "2", "integer", "Version of the Iceberg format: 1, 2 or 3; it can only be raised"),
    Definition("write.data.path", None, "varchar", "Location of data files, if not below the table"),
    Definition("write.metadata.path", None, "varchar", "Location of metadata files, if not below the table"),
    Definition("write.object-storage.enabled", "false", "boolean", "Whether paths of data files contain a hash"),
    Definition(
        "write.object-storage.partitioned-paths", "true", "boolean", "Whether such paths also contain the partition"
    ),
    Definition(
        "write.target-file-size-bytes", "536870912", "bigint", "Size in bytes at which a new data file is started"
    ),
    Definition("write.parquet.compression-codec", "lz4", "varchar", "lz4, zstd, snappy, gzip, brotli or uncompressed"),
    Definition("write.parquet.compression-level", None, "integer", "Compression level of the codec"),
    Definition("write.parquet.row-group-limit", "262144", "bigint", "Maximum number of rows in a row group"),
    Definition("write.parquet.page-size-bytes", "1048576", "bigint", "Size of a page in bytes"),
    Definition("write.parquet.page-row-limit", "20000", "bigint", "Maximum number of rows in a page"),
    Definition("write.parquet.dict-size-bytes", "2097152", "bigint", "Maximum size of a column dictionary in bytes"),
    Definition(
        "write.metadata.metrics.default",
        "truncate(16)",
        "varchar",
        "Statistics of columns: none, counts, truncate(n) or full",
    ),
    Definition(
        "write.metadata.previous-versions-max", "100", "integer", "Maximum number of entries in the metadata log"
    ),
    Definition(
        "write.metadata.delete-after-commit.enabled", "false", "boolean", "Whether older metadata files are deleted"
    ),
    Definition("commit.manifest-merge.enabled", "true", "boolean", "Whether commits merge small manifests"),
    Definition("commit.manifest.min-count-to-merge", "100", "integer", "Number of manifests at which they are merged"),
    Definition("commit.manifest.target-size-bytes", "8388608", "bigint", "Size of a merged manifest in bytes"),
    Definition("commit.retry.num-retries", "100", "integer", "Maximum number of retries of a conflicting commit"),
    Definition(
        "history.expire.max-snapshot-age-ms",
        "432000000",
        "bigint",
        "Age in milliseconds at which a snapshot can expire",
    ),
    Definition("history.expire.min-snapshots-to-keep", "1", "integer", "Minimum number of snapshots to keep"),
    Definition("schema.name-mapping.default", None, "varchar", "Column names for files without field ids, as JSON"),
    Definition("comment", None, "varchar", "Comment on the schema", "SCHEMA"),
    Definition("location", None, "varchar", "Location of the tables of the schema, in most catalogs", "SCHEMA"),
)
