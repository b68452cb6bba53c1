"""Creates a table from existing Parquet files in place: its columns come from the files and its partitions from
directory names. The table is created and the files are added in one commit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform

from pinakes.core.catalog import TableSpec
from pinakes.core.errors import NotSupportedError
from pinakes.core.types.iceberg_arrow import iceberg_schema_of
from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.binding.new_objects import check_free, check_places
from pinakes.engine.files.tables import open_format
from pinakes.engine.iceberg.maintenance.adopt import add_to
from pinakes.engine.iceberg.maintenance.sources import directory_values
from pinakes.engine.iceberg.write.commit import abandoned_on_error, commit
from pinakes.engine.iceberg.write.definition import check_names, format_version

if TYPE_CHECKING:
    from pinakes.core.names import Name
    from pinakes.engine.files.paths import File
    from pinakes.engine.statement_context import Execution


def inherit(execution: Execution, target: Name, files: Sequence[File], properties: Mapping[str, str]) -> int:
    """Creates the table and returns the number of its files."""
    resolver = execution.resolver
    place, name = resolver.new_object(target)
    catalog = table_changes(place.mount)
    if place.mount.is_private:
        raise NotSupportedError("a temporary table goes with the session, and its files with it: name another catalog")
    check_free(resolver.there(place, target), "TABLE", replace=False)
    execution.session.guard.properties(properties.items())
    spec = _spec(execution, files, properties)
    check_places(spec.location, properties.items(), place, execution.session.guard)
    transaction = catalog.begin_create_table(place.namespace, name, spec)
    with abandoned_on_error(transaction):
        done = add_to(transaction, files, transaction._table.io, execution)
        execution.query.check()
        commit(transaction, place, name)
    return done.files


def _spec(execution: Execution, files: Sequence[File], properties: Mapping[str, str]) -> TableSpec:
    """Returns the definition of the table: the columns of all files, and the partition columns from their
    directories.
    """
    keys = list(directory_values(files[0]))
    options = {"hive_partitioning": True} if keys else {}
    shown = open_format(list(files), "parquet", options, "UTC", "migrate").schema
    check_names(shown.names)
    version = format_version(properties)
    schema = iceberg_schema_of(pa.schema([f.with_nullable(True) for f in shown]), format_version=version)
    fields = [
        PartitionField(schema.find_field(key).field_id, 1000 + at, IdentityTransform(), key)
        for at, key in enumerate(keys)
    ]
    partitioning = PartitionSpec(*fields) if fields else UNPARTITIONED_PARTITION_SPEC
    return TableSpec(schema, partitioning, {**properties, "migrated": "true"}, _own_directory(files))


def _own_directory(files: Sequence[File]) -> str | None:
    """Returns the directory that contains only these files, as the location of the table.

    Returns None if it contains other files or is not local; the catalog then chooses the location. Files in a table's
    location may be removed as files of the table.
    """
    if not all(file.is_local for file in files):
        return None
    root = Path(os.path.commonpath([file.local.parent for file in files]))
    while "=" in root.name:
        root = root.parent
    known = {file.local for file in files}
    there = (Path(directory) / name for directory, _, names in os.walk(root) for name in names)
    return str(root) if all(path in known for path in there) else None
