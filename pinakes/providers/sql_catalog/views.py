"""Iceberg views: one metadata file per state, appended versions, and a row that is updated with a compare-and-set."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from pyiceberg.exceptions import NoSuchViewError
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.view import View
from pyiceberg.view.metadata import ViewHistoryEntry, ViewMetadata, ViewVersion

from pinakes.providers.sql_catalog.metadata_files import read_view_metadata, write_view_metadata
from pinakes.providers.sql_catalog.rows import Rows, shown

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.typedef import Identifier, Properties

HISTORY_ENTRIES = "version.history.num-entries"
"""Iceberg's property: the number of versions that a view keeps."""
DEFAULT_HISTORY_ENTRIES = 10


class LoadFileIO(Protocol):
    def __call__(self, properties: Properties = ..., location: str | None = None) -> FileIO: ...


class Views:
    """The views of one catalog. `new_location` chooses the directory of a new one."""

    def __init__(self, rows: Rows, new_location: Callable[[Identifier], str], load_io: LoadFileIO) -> None:
        self._rows = rows
        self._new_location = new_location
        self._load_io = load_io

    def exists(self, identifier: Identifier) -> bool:
        try:
            self._rows.get("VIEW", identifier)
        except NoSuchViewError:
            return False
        return True

    def load(self, identifier: Identifier) -> View:
        _, location = self._rows.get("VIEW", identifier)
        return self._read(identifier, location)

    def register(self, identifier: Identifier, metadata_location: str) -> View:
        view = self._read(identifier, metadata_location)
        self._rows.insert("VIEW", identifier, metadata_location)
        return view

    def create(
        self, identifier: Identifier, schema: Schema, version: ViewVersion, location: str | None, properties: Properties
    ) -> View:
        self._rows.check_free(identifier)
        metadata = _new_metadata(location or self._new_location(identifier), schema, version, properties)
        metadata_location = _file_location(metadata, 0)
        io = self._load_io(location=metadata_location)
        with self._rows.landing(io, metadata_location):
            write_view_metadata(metadata, io, metadata_location)
            self._rows.insert("VIEW", identifier, metadata_location)
        return View(identifier, metadata)

    def replace(self, identifier: Identifier, schema: Schema, version: ViewVersion, properties: Properties) -> View:
        _, before = self._rows.get("VIEW", identifier)
        metadata = _with_version(self._read(identifier, before).metadata, schema, version, properties)
        metadata_location = _file_location(metadata, metadata.current_version_id)
        io = self._load_io(location=metadata_location)
        with self._rows.landing(io, metadata_location):
            write_view_metadata(metadata, io, metadata_location)
            self._rows.swap("VIEW", identifier, before, metadata_location)
        return View(identifier, metadata)

    def _read(self, identifier: Identifier, metadata_location: str) -> View:
        io = self._load_io(location=metadata_location)
        return View(identifier, read_view_metadata(io, metadata_location, f"view {shown(identifier)}"))


def _file_location(metadata: ViewMetadata, number: int) -> str:
    return f"{metadata.location.rstrip('/')}/metadata/{number:05d}-{uuid.uuid4()}.metadata.json"


def _new_metadata(location: str, schema: Schema, version: ViewVersion, properties: Properties) -> ViewMetadata:
    fresh = _numbered(schema, 0)
    first = version.model_copy(update={"version_id": 1, "schema_id": 0, "timestamp_ms": _now()})
    return ViewMetadata.model_validate(
        {
            "view-uuid": str(uuid.uuid4()),
            "format-version": 1,
            "location": location.rstrip("/"),
            "schemas": [fresh],
            "current-version-id": 1,
            "versions": [first],
            "version-log": [_log_entry(first)],
            "properties": dict(properties),
        }
    )


def _with_version(metadata: ViewMetadata, schema: Schema, version: ViewVersion, properties: Properties) -> ViewMetadata:
    """Returns the metadata with a new version, unless the current one has the same content: then only the properties
    change.
    """
    schemas, schema_id = _with_schema(metadata.schemas, schema)
    current = next(v for v in metadata.versions if v.version_id == metadata.current_version_id)
    added = version.model_copy(
        update={
            "version_id": max(v.version_id for v in metadata.versions) + 1,
            "schema_id": schema_id,
            "timestamp_ms": max(_now(), current.timestamp_ms),
        }
    )
    changed = metadata.model_copy(update={"properties": dict(properties), "schemas": schemas})
    if _content(added) == _content(current):
        return changed
    return _bounded(
        changed.model_copy(
            update={
                "current_version_id": added.version_id,
                "versions": [*metadata.versions, added],
                "version_log": [*metadata.version_log, _log_entry(added)],
            }
        )
    )


def _with_schema(schemas: list[Schema], schema: Schema) -> tuple[list[Schema], int]:
    """Returns the schemas including this one, and its id; an equal schema is reused."""
    new_id = max(known.schema_id for known in schemas) + 1
    fresh = _numbered(schema, new_id)
    same = next((known.schema_id for known in schemas if known.as_struct() == fresh.as_struct()), None)
    return (schemas, same) if same is not None else ([*schemas, fresh], new_id)


def _bounded(metadata: ViewMetadata) -> ViewMetadata:
    """Returns the metadata with only the newest versions and their log entries."""
    most = max(1, int(metadata.properties.get(HISTORY_ENTRIES, DEFAULT_HISTORY_ENTRIES)))
    versions = metadata.versions[-most:]
    kept = {version.version_id for version in versions}
    log = [entry for entry in metadata.version_log if entry.version_id in kept]
    used = {version.schema_id for version in versions}
    schemas = [schema for schema in metadata.schemas if schema.schema_id in used]
    return metadata.model_copy(update={"versions": versions, "version_log": log, "schemas": schemas})


def _content(version: ViewVersion) -> tuple[object, ...]:
    return version.schema_id, version.representations, version.default_catalog, tuple(version.default_namespace)


def _log_entry(version: ViewVersion) -> ViewHistoryEntry:
    return ViewHistoryEntry.model_validate({"timestamp-ms": version.timestamp_ms, "version-id": version.version_id})


def _numbered(schema: Schema, schema_id: int) -> Schema:
    """Returns the schema with fresh column ids from 1."""
    return assign_fresh_schema_ids(schema).model_copy(update={"schema_id": schema_id})


def _now() -> int:
    return time.time_ns() // 1_000_000
