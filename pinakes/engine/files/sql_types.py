"""Converts SQL type names in options to Arrow types."""

from __future__ import annotations

from itertools import count

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, ParseError
from pinakes.parser import read_type


def arrow_type(text: str, zone: str, what: str) -> pa.DataType:
    """Parses a type such as `DECIMAL(10, 2)`; the types of CREATE TABLE are supported."""
    from pinakes.core.types import arrow_type_of, iceberg_type  # loads pyiceberg

    try:
        parsed = read_type(text)
    except ParseError as error:
        raise InvalidArgument(f"{text!r} in the options of {what} is no type: {error.message}") from error
    ids = count(1)
    return arrow_type_of(iceberg_type(parsed, lambda: next(ids)), zone)
