"""A column: its name, and its type as Pinakes writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from dbt.adapters.base import Column

_DECIMAL = re.compile(r"^(?:decimal|numeric)(?:\((\d+), ?(\d+)\))?$")


@dataclass
class PinakesColumn(Column):  # type: ignore[misc]
    """`dtype` is the whole type: texts have no length here, and a decimal has its digits in its name."""

    # Contracts pass through here, too: a type that Pinakes knows must stay what it is.
    TYPE_LABELS: ClassVar[dict[str, str]] = {"STRING": "varchar"}

    @property
    def quoted(self) -> str:
        return '"{}"'.format(self.column.replace('"', '""'))

    @property
    def data_type(self) -> str:
        return str(self.dtype)

    def is_string(self) -> bool:
        return self.dtype.lower() in ("varchar", "text", "string")

    def is_integer(self) -> bool:
        return self.dtype.lower() in ("tinyint", "smallint", "integer", "int", "bigint")

    def is_float(self) -> bool:
        return self.dtype.lower() in ("real", "float", "double")

    def is_numeric(self) -> bool:
        return _DECIMAL.match(self.dtype.lower()) is not None

    def can_become(self, new_type: str) -> bool:
        """Whether the type of stored values can change without writing them anew: they only get wider."""
        wider = (self.dtype.lower(), new_type.lower())
        if wider in (("integer", "bigint"), ("real", "double")):
            return True
        old, new = _DECIMAL.match(wider[0]), _DECIMAL.match(wider[1])
        return bool(old and new and old[2] == new[2] and int(old[1] or 0) <= int(new[1] or 0))

    def can_expand_to(self, other_column: Column) -> bool:
        """Texts have no length that could grow."""
        return False

    @classmethod
    def string_type(cls, size: int) -> str:
        return "varchar"

    @classmethod
    def numeric_type(cls, dtype: str, precision: Any, scale: Any) -> str:
        return dtype if precision is None or scale is None else f"decimal({precision},{scale})"
