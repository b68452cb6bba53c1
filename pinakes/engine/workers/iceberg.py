"""Opens an Iceberg table by the location of its metadata, for worker tables that delegate to `iceberg_scan('…')`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pinakes.core.access.path_sandbox import Roots
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import NotSupportedError, SecretNotFound, TableNotFound
from pinakes.core.location import Location
from pinakes.providers.locations import written_location

if TYPE_CHECKING:
    from pinakes.engine.statement_context import Execution

_ENDING = ".metadata.json"


def iceberg_at(place: str, options: dict[str, Any], execution: Execution) -> IcebergTable:
    """Opens the table at a metadata file, or at a local directory that contains a table. The user must be allowed to
    read the location, through the local paths that they may read or through a secret. The same applies to the files
    that the metadata refers to.
    """
    from pyiceberg.table import StaticTable

    from pinakes.providers.iceberg.adapter import translate_errors
    from pinakes.providers.iceberg.table_io import TableIO
    from pinakes.providers.iceberg.v3.install import install
    from pinakes.providers.sql_catalog.metadata_files import read_table_metadata

    if options:
        raise NotSupportedError(f"iceberg_scan of a worker takes a place and no option {min(options)!r}")
    install()
    files, written = execution.session.guard.files, written_location(place)
    files.location(written)
    if written.is_local:
        location, properties, stores = _newest(Path(written.path), place), dict[str, str](), "s3://"
    else:
        location, properties, stores = _remote(written, execution)
    with translate_errors("table", (place,)):
        io = TableIO(properties, Roots(files.roots.directories, stores))
        metadata = read_table_metadata(io, location, f"table at '{place}'")
    table = StaticTable(("iceberg_scan", place), metadata, location, io, cast("Any", None))
    return IcebergTable((), place, table)


def _newest(directory: Path, place: str) -> str:
    """Returns the metadata file, or the newest one in a directory."""
    from pinakes.providers.hadoop_catalog.versions import current, versions_in

    if directory.name.endswith(_ENDING):
        return str(directory)
    metadata = directory / "metadata"
    names = [path.name for path in metadata.iterdir() if path.name.endswith(_ENDING)] if metadata.is_dir() else []
    hint = metadata / "version-hint.text"
    numbered = current(versions_in(names), hint.read_text() if hint.is_file() else None, f"table at '{place}'")
    if numbered is not None:
        return str(metadata / numbered.file)
    if not names:
        raise TableNotFound(f"'{place}' has no Iceberg table: there is no metadata file in it")
    return str(metadata / max(names))


def _remote(location: Location, execution: Execution) -> tuple[str, dict[str, str], str]:
    """Returns the metadata file, the storage properties to read it with, and the object store prefix that the table's
    files must be in.
    """
    from pinakes.core.secrets import Access
    from pinakes.providers.iceberg.storage import limited_storage, storage_properties

    session, place = execution.session, location.text
    if not place.endswith(_ENDING):
        raise NotSupportedError(f"iceberg_scan of an object store needs the metadata file itself, not '{place}'")
    secret = session.engine.secrets.for_path(place, session.identity)
    if secret is None:
        raise SecretNotFound(f"no secret serves '{place}': CREATE SECRET s (TYPE s3, …, SCOPE '…') makes one")
    session.guard.store(secret)
    ambient = secret.uses_chain or session.engine.policy.may(session.identity, "server_credentials")
    access = Access(storage=secret, outbound=session.guard.outbound, ambient=ambient)
    return place, limited_storage(storage_properties(secret), replace(access, outbound=None)), access.stores
