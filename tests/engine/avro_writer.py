"""Writes Avro files with any schema, value by value."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

from pinakes.core.varint import as_varint

_MARK = bytes(range(16))


def avro_file(schema: dict[str, Any], rows: Sequence[dict[str, Any]], codec: str = "null") -> bytes:
    """The bytes of a file with one block. A value of a union is (branch, value)."""
    header = {"avro.schema": json.dumps(schema).encode(), "avro.codec": codec.encode()}
    pairs = b"".join(_sized(key.encode()) + _sized(value) for key, value in header.items())
    block = b"".join(_value(schema, row) for row in rows)
    start = b"Obj\x01" + _number(len(header)) + pairs + b"\x00" + _MARK
    return start + (_number(len(rows)) + _sized(block) + _MARK if rows else b"")


def _value(kind: Any, value: Any) -> bytes:
    if isinstance(kind, list):
        branch, inner = (0, None) if value is None else value
        return _number(branch) + _value(kind[branch], inner)
    name = kind["type"] if isinstance(kind, dict) else kind
    if isinstance(name, dict | list):
        return _value(name, value)
    match name:
        case "null":
            return b""
        case "boolean":
            return bytes([value])
        case "int" | "long":
            return _number(value)
        case "float":
            return struct.pack("<f", value)
        case "double":
            return struct.pack("<d", value)
        case "bytes":
            return _sized(value)
        case "string":
            return _sized(value.encode())
        case "fixed":
            return bytes(value)
        case "enum":
            return _number(kind["symbols"].index(value))
        case "array":
            items = b"".join(_value(kind["items"], item) for item in value)
            return (_number(len(value)) + items if value else b"") + b"\x00"
        case "map":
            entries = b"".join(_sized(k.encode()) + _value(kind["values"], v) for k, v in value.items())
            return (_number(len(value)) + entries if value else b"") + b"\x00"
        case "record":
            return b"".join(_value(f["type"], value[f["name"]]) for f in kind["fields"])
    raise ValueError(name)


def _sized(value: bytes) -> bytes:
    return _number(len(value)) + value


def _number(number: int) -> bytes:
    return as_varint((number << 1) ^ (number >> 63) if number >= 0 else ((-number) << 1) - 1)
