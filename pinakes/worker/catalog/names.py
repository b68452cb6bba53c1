"""Distinct types for bytes, strings and enumerations of the catalog interface."""

from __future__ import annotations

from enum import Enum
from typing import NewType

AttachOpaqueData = NewType("AttachOpaqueData", bytes)
"""Data that a catalog issues for an attachment and receives with every call. It may contain secrets: never log it."""

TransactionOpaqueData = NewType("TransactionOpaqueData", bytes)
"""Data that a catalog issues for a transaction and receives with every call in it."""

SerializedSchema = NewType("SerializedSchema", bytes)
"""An Arrow schema as bytes: `schema.serialize().to_pybytes()`."""

SqlExpression = NewType("SqlExpression", str)


class SchemaObjectType(Enum):
    """The kind of objects that `schema_contents` lists."""

    TABLE = "table"
    VIEW = "view"
    SCALAR_FUNCTION = "scalar_function"
    TABLE_FUNCTION = "table_function"


class FunctionType(Enum):
    SCALAR = "scalar"
    TABLE = "table"


class OnConflict(Enum):
    """The action if an object of the name exists."""

    ERROR = "error"
    IGNORE = "ignore"
    REPLACE = "replace"
