"""Variable-length integers, seven bits per byte, lowest first, as in protobuf and Avro."""

from __future__ import annotations


def read_varint(content: bytes, at: int) -> tuple[int, int]:
    """Returns the number at an offset, and the offset of its end; ValueError if it has more than ten bytes, since a
    number of a million bytes takes minutes to read."""
    value = shift = 0
    while shift < 70:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("a number of more than 64 bits")


def as_varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
