"""Writers of delete manifests, which pyiceberg 0.12 reads but does not write."""

from __future__ import annotations

from pyiceberg.avro.codecs import AvroCompressionCodec
from pyiceberg.io import OutputFile
from pyiceberg.manifest import ManifestContent, ManifestWriter, ManifestWriterV2
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema

from pinakes.providers.iceberg.v3.writers import ManifestWriterV3


class DeleteManifestWriterV2(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class DeleteManifestWriterV3(ManifestWriterV3):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def delete_manifest_writer(
    version: int,
    spec: PartitionSpec,
    schema: Schema,
    output: OutputFile,
    snapshot_id: int,
    compression: AvroCompressionCodec,
) -> ManifestWriter:
    """Returns the writer for a format version. Version 1 has no deletes."""
    writer = DeleteManifestWriterV2 if version == 2 else DeleteManifestWriterV3
    return writer(spec, schema, output, snapshot_id, compression)
