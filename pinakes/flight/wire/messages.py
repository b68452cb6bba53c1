"""Protobuf messages, built from `schema.py` at run time: `message("CommandGetTables")(…)`, and their wrapping in `Any`
as Flight SQL sends them. A malformed message raises InvalidArgument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from pinakes.core.errors import InvalidArgument
from pinakes.flight.wire.schema import FLIGHT, FLIGHT_MESSAGES, SQL, SQL_MESSAGES

Message = Any
"""Protobuf classes are built at run time, so their fields have no static types."""

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    name: getattr(_Field, f"TYPE_{name.upper()}")
    for name in ("string", "bytes", "bool", "int32", "int64", "uint32", "sfixed64", "double")
}
_DECLARED = re.compile(r"(\w+) (\d+) (\w+)(\?|\*|\{\}|\|)?\Z")
_PREFIX = "type.googleapis.com/"


@cache
def message(name: str) -> Any:
    """Returns the class of a message by name."""
    package = SQL if name in SQL_MESSAGES else FLIGHT
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{package}.{name}"))


def read(name: str, payload: bytes) -> Message:
    """Parses a message that is not wrapped."""
    found = message(name)()
    try:
        found.ParseFromString(payload)
    except DecodeError as error:
        raise InvalidArgument(f"malformed {name} message ({len(payload)} bytes): {error}") from error
    return found


def unpack(payload: bytes) -> tuple[str, Message]:
    """Unwraps a message from `Any`. Returns its name and its content."""
    wrapped = any_pb2.Any()
    try:
        wrapped.ParseFromString(payload)
    except DecodeError as error:
        raise InvalidArgument(f"malformed Flight SQL command ({len(payload)} bytes): {error}") from error
    package, _, name = wrapped.type_url.rpartition("/")[2].rpartition(".")
    if package != SQL or name not in SQL_MESSAGES:
        raise InvalidArgument(f"{wrapped.type_url[:200]!r} is not a command of Flight SQL that this server knows")
    return name, read(name, wrapped.value)


def unpack_as(name: str, payload: bytes) -> Message:
    """Unwraps a message of the given type."""
    found, content = unpack(payload)
    if found != name:
        raise InvalidArgument(f"a {name} was expected, and a {found} came")
    return content


def pack(content: Message) -> bytes:
    """Wraps a message in `Any`."""
    wrapped = any_pb2.Any(type_url=_PREFIX + content.DESCRIPTOR.full_name, value=content.SerializeToString())
    return bytes(wrapped.SerializeToString())


def optional(content: Message, name: str) -> Any:
    """Returns the value of an optional field; None if it is absent, which differs from empty."""
    return getattr(content, name) if content.HasField(name) else None


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for package, messages in ((FLIGHT, FLIGHT_MESSAGES), (SQL, SQL_MESSAGES)):
        pool.Add(_file(package, messages))
    return pool


def _file(package: str, messages: Mapping[str, str]) -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        declared = file.message_type.add(name=name)
        for field in filter(None, fields.split(", ")):
            _add_field(declared, field, package)
    return file


def _add_field(declared: Any, text: str, package: str) -> None:
    found = _DECLARED.match(text)
    assert found is not None, text
    name, number, kind, mark = found.groups()
    field = declared.field.add(name=name, number=int(number), label=_Field.LABEL_OPTIONAL)
    if mark == "{}":
        _make_map(declared, field, kind, package)
        return
    _set_type(field, kind, package)
    if mark == "*":
        field.label = _Field.LABEL_REPEATED
    elif mark == "|":
        if not declared.oneof_decl:
            declared.oneof_decl.add(name="alternatives")
        field.oneof_index = 0
    elif mark == "?":
        field.proto3_optional = True
        field.oneof_index = len(declared.oneof_decl)
        declared.oneof_decl.add(name=f"_{name}")


def _make_map(declared: Any, field: Any, kind: str, package: str) -> None:
    """Declares a map, which is a repeated message of key and value."""
    entry = "".join(word.capitalize() for word in field.name.split("_")) + "Entry"
    nested = declared.nested_type.add(name=entry)
    nested.options.map_entry = True
    _set_type(nested.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL), "string", package)
    _set_type(nested.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), kind, package)
    field.label, field.type = _Field.LABEL_REPEATED, _Field.TYPE_MESSAGE
    field.type_name = f".{package}.{declared.name}.{entry}"


def _set_type(field: Any, kind: str, package: str) -> None:
    if kind in _TYPES:
        field.type = _TYPES[kind]
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{package}.{kind}"
