"""Numbers of variable length, seven bits a byte, the lowest first: how protobuf and Avro write them."""

from __future__ import annotations


def read_varint(content: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and where it ends."""
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def as_varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
