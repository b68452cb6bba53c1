"""Reads the manifests of an Iceberg table in full, as Arrow tables, through the manifest cache. Metadata tables use
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.names import dotted
from pinakes.providers.foreign_errors import translate_foreign

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.caches.files import ManifestCache
    from pinakes.core.catalog import IcebergTable


def avro_of(cache: ManifestCache, table: IcebergTable, path: str) -> pa.Table:
    """Returns a manifest or a manifest list in full; the cache entries of scans hold only a part. These files never
    change.
    """
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
