"""Types that are bytes or texts, and say of what."""

from __future__ import annotations

from enum import Enum
from typing import NewType

AttachOpaqueData = NewType("AttachOpaqueData", bytes)
"""What a catalog gives out for an attachment and gets back with every call. It may hold secrets: never log it."""

TransactionOpaqueData = NewType("TransactionOpaqueData", bytes)
"""The same for a transaction."""

SerializedSchema = NewType("SerializedSchema", bytes)
"""An Arrow schema as bytes: `schema.serialize().to_pybytes()`."""

SqlExpression = NewType("SqlExpression", str)


class SchemaObjectType(Enum):
    """What `schema_contents` is to list."""

    TABLE = "table"
    VIEW = "view"
    SCALAR_FUNCTION = "scalar_function"
    TABLE_FUNCTION = "table_function"


class FunctionType(Enum):
    SCALAR = "scalar"
    TABLE = "table"


class OnConflict(Enum):
    """What to do when something has the name already."""

    ERROR = "error"
    IGNORE = "ignore"
    REPLACE = "replace"
