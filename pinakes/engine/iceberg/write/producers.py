"""Snapshot producers: those of pyiceberg with manifest merging and conflict detection.

`Append` adds files and never conflicts. Changes that replace files mix in `Revalidating`: if the table has changed
before the commit, the change is valid if the data that it has read is unchanged, and otherwise a conflict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyiceberg.exceptions import ValidationException
from pyiceberg.manifest import DataFile, DataFileContent, ManifestContent, ManifestFile
from pyiceberg.schema import Schema
from pyiceberg.table import TableProperties
from pyiceberg.table.snapshots import IsolationLevel, Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles as FastAppendFiles
from pyiceberg.table.update.snapshot import _ManifestMergeManager as ManifestMergeManager
from pyiceberg.table.update.snapshot import _SnapshotProducer
from pyiceberg.utils.properties import property_as_bool, property_as_int

from pinakes.engine.iceberg.write.difference import difference

if TYPE_CHECKING:
    from pyiceberg.table import Transaction
    from pyiceberg.table.metadata import TableMetadata

    _Base = _SnapshotProducer[Any]
else:
    _Base = object


class Merging(_Base):
    """Merges small manifests when there are many: a thousand single-row INSERTs leave few to plan with."""

    def _process_manifests(self, manifests: list[ManifestFile]) -> list[ManifestFile]:
        properties = self._transaction.table_metadata.properties
        if not property_as_bool(properties, TableProperties.MANIFEST_MERGE_ENABLED, True):
            return manifests
        least = property_as_int(
            properties, TableProperties.MANIFEST_MIN_MERGE_COUNT, TableProperties.MANIFEST_MIN_MERGE_COUNT_DEFAULT
        )
        size = property_as_int(
            properties, TableProperties.MANIFEST_TARGET_SIZE_BYTES, TableProperties.MANIFEST_TARGET_SIZE_BYTES_DEFAULT
        )
        assert least is not None
        assert size is not None
        data = [m for m in manifests if m.content == ManifestContent.DATA]
        others = [m for m in manifests if m.content != ManifestContent.DATA]
        if len(data) < least:
            return manifests
        return ManifestMergeManager(size, least, True, self).merge_manifests(data) + others

    def schema(self) -> Schema:
        """Returns the schema for manifests. pyiceberg writes the manifests of old files under the current schema, and
        fails if that lacks a partition column: after DROP COLUMN, or after CREATE OR REPLACE TABLE, which renumbers all
        columns.
        """
        metadata = self._transaction.table_metadata
        return with_partition_columns(metadata, metadata.schema())


class Append(Merging, FastAppendFiles):
    """Adds files to the current state of the table."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(Operation.APPEND, transaction, transaction._table.io)


class Revalidating(_Base):
    """A change that depends on what it has read: the replaced files must exist, and no relevant files may be added."""

    reads: Callable[[DataFile], bool] = staticmethod(lambda file: True)
    """Returns whether the change would have read a concurrently added file."""

    def _validate_concurrency(self) -> None:
        window = self._commit_window
        if window is None or window.is_empty():
            return
        found = difference(window.base, window.head, self._io)
        gone = sorted(f.file_path for f in self._deleted_data_files if f.file_path in found.removed)
        if gone:
            raise ValidationException(f"{len(gone)} of the files that it replaces were removed, among them {gone[0]}")
        if any(file.content != DataFileContent.DATA and self._matters(file) for file in found.added):
            raise ValidationException("rows were deleted meanwhile")
        if self._is_serializable() and any(self.reads(file) for file in found.added):
            raise ValidationException("rows were added meanwhile that it has not read")

    def _matters(self, delete: DataFile) -> bool:
        """Returns whether concurrently deleted rows are among those that the change has read."""
        return True

    def _is_serializable(self) -> bool:
        metadata = self._transaction.table_metadata
        return metadata.isolation_level(self._isolation_operation) == IsolationLevel.SERIALIZABLE


def with_partition_columns(metadata: TableMetadata, current: Schema) -> Schema:
    """Returns the current columns, followed by dropped ones that files may be partitioned by."""
    used = {field.source_id for spec in metadata.partition_specs for field in spec.fields}
    missing = used - set(current.field_ids)
    if not missing:
        return current
    gone = {
        number: schema.find_field(number)
        for schema in metadata.schemas
        for number in missing.intersection(schema.field_ids)
    }
    fields = [f.model_copy(update={"name": f"{f.name} {n}", "required": False}) for n, f in sorted(gone.items())]
    keys = current.identifier_field_ids
    return Schema(*current.fields, *fields, schema_id=current.schema_id, identifier_field_ids=keys)
