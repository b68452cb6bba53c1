"""Reads Avro files of a table, manifests and data files, through the table's FileIO."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pyarrow as pa
from pyiceberg.io import FileIO

from pinakes.core.location import Location
from pinakes.engine.datafusion.avro import read_content
from pinakes.engine.iceberg.scan.locations import local_path
from pinakes.providers.iceberg.checked_avro import MOST_UNPACKED


def read_avro(io: FileIO, location: str) -> pa.Table:
    """Reads the rows of an Avro file through the table's FileIO."""
    return read_avro_with_schema(io, location)[0]


def read_avro_aside(io: FileIO, location: str) -> tuple[pa.Table, Any]:
    """Reads the rows and the file's schema in another thread.

    This is for use while DataFusion runs a query: it cannot run a second query in the thread of the first.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, read_avro_with_schema, io, location).result()


def read_avro_with_schema(io: FileIO, location: str) -> tuple[pa.Table, Any]:
    """Reads the rows of an Avro file and its Avro schema, with columns in the same positions."""
    with io.new_input(location).open() as stream:
        content = stream.read(MOST_UNPACKED + 1)
    return read_content(content, local_path(Location.parse(location)))
