"""The one module that patches pyiceberg: version 3 uses our parts, versions 1 and 2 keep pyiceberg's (except for the
NULL handling of `projection.py`, which applies to every version).

`pyiceberg_gate.py` has the patches for safety, in any version. `PLACES` names all others;
`tests/providers/test_iceberg_v3.py` fails when pyiceberg's code there differs from the code that these parts were
written for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, cast

from pyiceberg.io import FileIO
from pyiceberg.io.fileformat import FileFormatFactory
from pyiceberg.io.pyarrow import ArrowProjectionVisitor, ParquetFormatWriter
from pyiceberg.manifest import FileFormat, ManifestFile, ManifestWriter
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import _SetFreshIDs
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata, TableMetadataV3
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    UpdatesAndRequirements,
    UpgradeFormatVersionUpdate,
    _apply_table_update,
    _TableMetadataUpdateContext,
)
from pyiceberg.table.update.snapshot import _SnapshotProducer
from pyiceberg.table.update.spec import UpdateSpec
from pyiceberg.transforms import Transform
from pyiceberg.typedef import TableVersion
from pyiceberg.types import IcebergType

from pinakes.core.types.variant import VariantType
from pinakes.providers.iceberg.pyiceberg_gate import close_gate
from pinakes.providers.iceberg.v3 import defaults, lineage, projection, snapshots
from pinakes.providers.iceberg.v3.records import read_manifest_list
from pinakes.providers.iceberg.v3.statistics import ParquetModel
from pinakes.providers.iceberg.v3.writers import ManifestWriterV3

logger = logging.getLogger(__name__)

WRITTEN_FOR = "0.12"

PLACES: dict[str, Callable[..., Any]] = {
    "TableMetadataV3.model_dump_json": TableMetadataV3.model_dump_json,
    "Snapshot.manifests": Snapshot.manifests,
    "_SnapshotProducer.new_manifest_writer": _SnapshotProducer.new_manifest_writer,
    "_SnapshotProducer._commit": _SnapshotProducer._commit,
    "_SetFreshIDs.struct": _SetFreshIDs.struct,
    "ParquetFormatWriter.close": ParquetFormatWriter.close,
    "Transaction.upgrade_table_version": Transaction.upgrade_table_version,
    "UpdateSpec._partition_field": UpdateSpec._partition_field,
    "UpgradeFormatVersionUpdate": _apply_table_update.dispatch(UpgradeFormatVersionUpdate),
    "AddSnapshotUpdate": _apply_table_update.dispatch(AddSnapshotUpdate),
    "IcebergType.handle_primitive_type": cast("Any", IcebergType).handle_primitive_type,
    "ArrowProjectionVisitor.list": projection.THEIR_LIST,
    "ArrowProjectionVisitor.map": projection.THEIR_MAP,
}
"""pyiceberg's own code, before the patches."""

_lock = threading.Lock()
_done = False


def install() -> None:
    """Makes version 3 writable in this process. Repeated calls have no effect."""
    global _done
    with _lock:
        if not _done:
            _done = True
            _install(version("pyiceberg"))


def _install(found: str) -> None:
    close_gate()
    if not found.startswith(f"{WRITTEN_FOR}."):
        logger.warning("pyiceberg is %s, not %s: Iceberg format version 3 can't be written", found, WRITTEN_FOR)
        return
    defaults.register()
    _apply_table_update.register(UpgradeFormatVersionUpdate, lineage.apply_upgrade)
    _apply_table_update.register(AddSnapshotUpdate, _apply_snapshot)
    replaced: list[tuple[type, str, Any]] = [
        (IcebergType, "handle_primitive_type", classmethod(_primitive_type)),
        (TableMetadataV3, "model_dump_json", lineage.dump_json),
        (Snapshot, "manifests", _manifests),
        (_SnapshotProducer, "new_manifest_writer", _new_manifest_writer),
        (_SnapshotProducer, "_commit", _commit),
        (_SetFreshIDs, "struct", defaults.struct_with_fresh_ids),
        (Transaction, "upgrade_table_version", _upgrade_table_version),
        (UpdateSpec, "_partition_field", _partition_field),
        (ArrowProjectionVisitor, "list", projection.list_with_nulls),
        (ArrowProjectionVisitor, "map", projection.map_with_nulls),
    ]
    FileFormatFactory._registry[FileFormat.PARQUET] = ParquetModel()
    for owner, name, ours in replaced:
        setattr(owner, name, ours)


def _primitive_type(cls: type[IcebergType], v: Any, handler: Any) -> IcebergType:
    """Returns the type that a name denotes, for a column or a field of a struct."""
    if v == "variant":
        return VariantType()
    found: IcebergType = PLACES["IcebergType.handle_primitive_type"](v, handler)
    return found


def _apply_snapshot(
    update: AddSnapshotUpdate, base_metadata: TableMetadata, context: _TableMetadataUpdateContext
) -> TableMetadata:
    lineage.check_snapshot(update, base_metadata)
    added: TableMetadata = PLACES["AddSnapshotUpdate"](update, lineage.started(base_metadata), context)
    return added


def _manifests(self: Snapshot, io: FileIO) -> list[ManifestFile]:
    if self.first_row_id is None:
        theirs: list[ManifestFile] = PLACES["Snapshot.manifests"](self, io)
        return theirs
    return list(read_manifest_list(io, self.manifest_list))


def _new_manifest_writer(self: _SnapshotProducer[Any], spec: PartitionSpec) -> ManifestWriter:
    if self._transaction.table_metadata.format_version < 3:
        theirs: ManifestWriter = PLACES["_SnapshotProducer.new_manifest_writer"](self, spec)
        return theirs
    return ManifestWriterV3(spec, self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression)


def _commit(self: _SnapshotProducer[Any]) -> UpdatesAndRequirements:
    if self._transaction.table_metadata.format_version < 3:
        theirs: UpdatesAndRequirements = PLACES["_SnapshotProducer._commit"](self)
        return theirs
    return snapshots.commit(self)


def _upgrade_table_version(self: Transaction, format_version: TableVersion) -> Transaction:
    update = {"action": "upgrade-format-version", "format-version": format_version}
    lineage.check_version(format_version, self.table_metadata.format_version)
    return self._apply((UpgradeFormatVersionUpdate.model_validate(update),))


def _partition_field(
    self: UpdateSpec, transform_key: tuple[int, Transform[Any, Any]], name: str | None
) -> PartitionField:
    """Reuses the id of a field that an earlier spec had, as in version 2; pyiceberg does this for version 2 only."""
    metadata = self._transaction.table_metadata
    known = [f for spec in metadata.specs().values() for f in spec.fields] if metadata.format_version >= 3 else []
    source, transform = transform_key
    for field in known:
        same = field.source_id == source and repr(field.transform) == repr(transform)
        if same and name in (None, field.name):
            return field
    theirs: PartitionField = PLACES["UpdateSpec._partition_field"](self, transform_key, name)
    return theirs
