"""Avro files as Arrow tables, by DataFusion's reader: some ten times as fast as one in Python.

It fails on records without fields, which every manifest of an unpartitioned table has. They take no byte in the file,
so they are taken out of the schema in its header. It fails, too, on names with letters beyond ASCII, which most writers
of Iceberg have: a partition field of such a name gets another there. Partitions are read by position, not by name.
"""

from __future__ import annotations

import json
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any

import pyarrow as pa
from datafusion import SessionConfig, SessionContext
from pyiceberg.io import FileIO

from pinakes.core.location import Location
from pinakes.engine.iceberg.scan.locations import address_of, local_path
from pinakes.engine.iceberg.scan.varint import as_varint, read_varint

_MAGIC = b"Obj\x01"
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_MARK = 16
"""The bytes that end the header, and then every block of rows."""


def read_avro(io: FileIO, location: str) -> pa.Table:
    """The rows of an Avro file, read through the table's own access to storage."""
    return read_avro_with_schema(io, location)[0]


def read_avro_aside(io: FileIO, location: str) -> tuple[pa.Table, Any]:
    """The same, and the schema that they have in the file, while DataFusion runs a query: it can't run another in the
    thread of the first."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, read_avro_with_schema, io, location).result()


def read_avro_with_schema(io: FileIO, location: str) -> tuple[pa.Table, Any]:
    """The rows of an Avro file and the schema that they have there, with its columns at the same places."""
    with io.new_input(location).open() as stream:
        content = stream.read()
    path, readable = local_path(Location.parse(location)), readable_form(content)
    if path is not None and readable is content:
        found = _table(address_of(path))
    else:
        with tempfile.NamedTemporaryFile(prefix="pinakes-", suffix=".avro") as copy:
            copy.write(readable)
            copy.flush()
            found = _table(address_of(copy.name))
    if found.num_rows != (count := rows_in(content)):
        raise ValueError(f"{found.num_rows} of its {count} rows can be read")
    return found, json.loads(_whole_header(readable)[0][b"avro.schema"])


def _table(address: str) -> pa.Table:
    return _context().read_avro(address, file_extension="").to_arrow_table()


@cache
def _context() -> SessionContext:
    """One part: the rows of a file stay in its order."""
    return SessionContext(SessionConfig().with_target_partitions(1))


def readable_form(content: bytes) -> bytes:
    """The same file with a schema in which every record has a field, and every field a name that DataFusion takes; the
    very same bytes if it is so already."""
    header, end = _whole_header(content)
    schema = json.loads(header[b"avro.schema"])
    if not _drop_empty(schema) + _rename_odd(schema):
        return content
    header[b"avro.schema"] = json.dumps(schema).encode()
    pairs = b"".join(_sized(key) + _sized(value) for key, value in header.items())
    return _MAGIC + _zigzag(len(header)) + pairs + b"\x00" + content[end:]


def rows_in(content: bytes) -> int:
    """How many rows a file says that it has. It must be whole: DataFusion takes what it finds of one that is cut."""
    _, at = _whole_header(content)
    mark = content[at : at + _MARK]
    at, total = at + _MARK, 0
    while at < len(content):
        try:
            count, at = _number(content, at)
            size, at = _number(content, at)
        except IndexError as error:
            raise ValueError("it is cut off") from error
        at += size + _MARK
        if count < 0 or size < 0 or at > len(content) or content[at - _MARK : at] != mark:
            raise ValueError("it is cut off, or damaged")
        total += count
    return total


def _whole_header(content: bytes) -> tuple[dict[bytes, bytes], int]:
    if not content.startswith(_MAGIC):
        raise ValueError("it is no Avro file")
    try:
        return _header(content)
    except IndexError as error:
        raise ValueError("it ends within its header") from error


def _header(content: bytes) -> tuple[dict[bytes, bytes], int]:
    """The metadata in front, and where it ends. It comes in blocks, the last of which is empty."""
    found: dict[bytes, bytes] = {}
    count, at = _number(content, len(_MAGIC))
    while count:
        if count < 0:  # then the size of the block follows
            _, at = _number(content, at)
        for _ in range(abs(count)):
            key, at = _text(content, at)
            found[key], at = _text(content, at)
        count, at = _number(content, at)
    return found, at


def _drop_empty(schema: Any) -> int:
    """Take out the fields, at any depth, whose type is a record of nothing; how many there were."""
    if isinstance(schema, list):
        return sum(map(_drop_empty, schema))
    if not isinstance(schema, dict):
        return 0
    if schema.get("type") != "record":
        return sum(map(_drop_empty, schema.values()))
    kept = [field for field in schema["fields"] if not _is_empty(field["type"])]
    dropped = len(schema["fields"]) - len(kept)
    schema["fields"] = kept
    return dropped + sum(_drop_empty(field["type"]) for field in kept)


def _rename_odd(schema: Any) -> int:
    """Give other names to the fields, at any depth, whose name DataFusion does not take or that come twice in their
    record; how many there were."""
    if isinstance(schema, list):
        return sum(map(_rename_odd, schema))
    if not isinstance(schema, dict):
        return 0
    if schema.get("type") != "record":
        return sum(map(_rename_odd, schema.values()))
    renamed, seen = 0, set()
    for number, field in enumerate(schema["fields"]):
        if not _PLAIN_NAME.fullmatch(field["name"]) or field["name"] in seen:
            field["name"] = f"_pinakes_{number}"
            renamed += 1
        seen.add(field["name"])
    return renamed + sum(_rename_odd(field["type"]) for field in schema["fields"])


def _is_empty(kind: Any) -> bool:
    return isinstance(kind, dict) and kind.get("type") == "record" and not kind["fields"]


def _text(content: bytes, at: int) -> tuple[bytes, int]:
    length, at = _number(content, at)
    return content[at : at + length], at + length


def _number(content: bytes, at: int) -> tuple[int, int]:
    value, at = read_varint(content, at)
    return (value >> 1) ^ -(value & 1), at


def _sized(value: bytes) -> bytes:
    return _zigzag(len(value)) + value


def _zigzag(number: int) -> bytes:
    return as_varint((number << 1) ^ (number >> 63))
