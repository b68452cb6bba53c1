"""The manifests of an Iceberg table for who looks into its metadata: whole, as Arrow tables, and remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.names import dotted
from pinakes.providers.foreign_errors import translate_foreign

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.caches.manifests import ManifestCache
    from pinakes.core.catalog import IcebergTable


def avro_of(cache: ManifestCache, table: IcebergTable, path: str) -> pa.Table:
    """A manifest or a list of manifests. They never change; beside what a scan keeps of one, this is all of it."""
    from pinakes.engine.iceberg.scan.avro import read_avro
    from pinakes.engine.iceberg.scan.locations import remembered_as

    io = table.handle.io
    try:
        return cache.get("avro", remembered_as(path, io), lambda: read_avro(io, path))
    except PinakesError:
        raise
    except Exception as error:
        name = dotted((*table.namespace, table.name))
        said = (str(error).strip() or type(error).__name__).splitlines()[0][:500]
        damaged = DataCorrupt(f"table {name}: its manifests cannot be read: {said}")
        raise translate_foreign(error, f"table {name}") or damaged from error
