"""Writers of version 3 manifests and manifest lists: those of version 2, with row ids.

A new data file has no row id of its own: it inherits one from its manifest, which gets one when the manifest list is
written, since the snapshot's first row id is not known before. See "Row Lineage" in Iceberg's specification.
"""

from __future__ import annotations

from pyiceberg.avro.codecs import AVRO_CODEC_KEY, AvroCompressionCodec
from pyiceberg.avro.file import AvroOutputFile
from pyiceberg.io import OutputFile
from pyiceberg.manifest import (
    MANIFEST_LIST_FILE_SCHEMAS,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestListWriter,
    ManifestListWriterV2,
    ManifestWriterV2,
)
from pyiceberg.typedef import TableVersion

from pinakes.providers.iceberg.v3.records import DataFileV3, ManifestFileV3


class ManifestWriterV3(ManifestWriterV2):
    """Writes the entries of one manifest."""

    @property
    def version(self) -> TableVersion:
        return 3

    def new_writer(self) -> AvroOutputFile[ManifestEntry]:
        schema = self._with_partition(3)
        return AvroOutputFile[ManifestEntry](
            output_file=self._output_file,
            file_schema=schema,
            record_schema=schema,
            schema_name="manifest_entry",
            metadata=self._meta,
        )

    def prepare_entry(self, entry: ManifestEntry) -> ManifestEntry:
        """Clears the row id of an added file, which inherits one; an existing file keeps the row id that it
        inherited.
        """
        checked = super().prepare_entry(entry)
        file = DataFileV3.of(checked.data_file)
        if checked.status == ManifestEntryStatus.ADDED:
            file.first_row_id = None
        return ManifestEntry(
            checked.status, checked.snapshot_id, checked.sequence_number, checked.file_sequence_number, file
        )

    def to_manifest_file(self) -> ManifestFile:
        return ManifestFileV3.of(super().to_manifest_file())


class ManifestListWriterV3(ManifestListWriterV2):
    """Writes the manifests of a snapshot, and assigns a row id to each data manifest that has none.

    After all manifests are added, `next_row_id` is the first row id of the following snapshot.
    """

    def __init__(
        self,
        output_file: OutputFile,
        snapshot_id: int,
        parent_snapshot_id: int | None,
        sequence_number: int,
        first_row_id: int,
        compression: AvroCompressionCodec,
    ) -> None:
        meta = {
            "snapshot-id": str(snapshot_id),
            "parent-snapshot-id": str(parent_snapshot_id) if parent_snapshot_id is not None else "null",
            "sequence-number": str(sequence_number),
            "first-row-id": str(first_row_id),
            "format-version": "3",
            AVRO_CODEC_KEY: compression,
        }
        ManifestListWriter.__init__(self, format_version=3, output_file=output_file, meta=meta)
        self._commit_snapshot_id = snapshot_id
        self._sequence_number = sequence_number
        self.next_row_id = first_row_id

    def __enter__(self) -> ManifestListWriterV3:
        schema = MANIFEST_LIST_FILE_SCHEMAS[3]
        self._writer = AvroOutputFile[ManifestFile](
            output_file=self._output_file,
            record_schema=schema,
            file_schema=schema,
            schema_name="manifest_file",
            metadata=self._meta,
        )
        self._writer.__enter__()
        return self

    def prepare_manifest(self, manifest_file: ManifestFile) -> ManifestFile:
        manifest = ManifestFileV3.of(super().prepare_manifest(manifest_file))
        if manifest.content == ManifestContent.DATA and manifest.first_row_id is None:
            manifest.first_row_id = self.next_row_id
            # Existing rows count too: the files of a manifest from before an upgrade have no row ids.
            self.next_row_id += _rows(manifest)
        return manifest


def _rows(manifest: ManifestFile) -> int:
    added, existing = manifest.added_rows_count, manifest.existing_rows_count
    if added is None or existing is None:
        raise ValueError(f"manifest {manifest.manifest_path} does not say how many rows it has: it can get no row ids")
    return added + existing
