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
    Definition("format-version", "2", "integer", "Version of the Iceberg format: 1, 2 or 3; it can only grow"),
    Definition("write.data.path", None, "varchar", "Where data files are written, instead of below the table"),
    Definition("write.metadata.path", None, "varchar", "Where metadata files are written, instead of below the table"),
    Definition(
        "write.object-storage.enabled", "false", "boolean", "Whether a hash is put into the paths of data files"
    ),
    Definition("write.object-storage.partitioned-paths", "true", "boolean", "Whether such paths also tell partitions"),
    Definition("write.target-file-size-bytes", "536870912", "bigint", "Bytes after which another data file is begun"),
    Definition("write.parquet.compression-codec", "zstd", "varchar", "zstd, snappy, gzip, lz4, brotli or uncompressed"),
    Definition("write.parquet.compression-level", None, "integer", "Level of that codec"),
    Definition("write.parquet.row-group-limit", "1048576", "bigint", "Rows in a row group of a data file"),
    Definition("write.parquet.page-size-bytes", "1048576", "bigint", "Bytes in a page of a data file"),
    Definition("write.parquet.page-row-limit", "20000", "bigint", "Rows in a page of a data file"),
    Definition("write.parquet.dict-size-bytes", "2097152", "bigint", "Bytes of a column's dictionary in a row group"),
    Definition(
        "write.metadata.metrics.default", "truncate(16)", "varchar", "Statistics kept of a column: none, counts, …"
    ),
    Definition("write.metadata.previous-versions-max", "100", "integer", "Old metadata files that the table names"),
    Definition("write.metadata.delete-after-commit.enabled", "false", "boolean", "Whether older ones are removed"),
    Definition("commit.manifest-merge.enabled", "false", "boolean", "Whether small manifests are merged in a commit"),
    Definition("commit.manifest.min-count-to-merge", "100", "integer", "Number of manifests from which they are"),
    Definition("commit.manifest.target-size-bytes", "8388608", "bigint", "Bytes of a manifest that is merged"),
    Definition("commit.retry.num-retries", "4", "integer", "How often a commit that met another is tried again"),
    Definition("history.expire.max-snapshot-age-ms", "432000000", "bigint", "Age from which a snapshot may be expired"),
    Definition("history.expire.min-snapshots-to-keep", "1", "integer", "Snapshots that are kept in any case"),
    Definition(
        "schema.name-mapping.default", None, "varchar", "Names of columns in files that have no field ids, as JSON"
    ),
    Definition("comment", None, "varchar", "Comment on the schema", "SCHEMA"),
    Definition("location", None, "varchar", "Where the tables of the schema are put, in most catalogs", "SCHEMA"),
)
