"""A column in a predicate: its statistics, and literals converted to the type in which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa
from pyiceberg.types import DoubleType, FloatType, IcebergType, UUIDType

from pinakes.engine.iceberg.scan.bounds import Range, kind_of
from pinakes.engine.iceberg.scan.monotonic_functions import Image, image_of
from pinakes.engine.iceberg.scan.snapshot import Buckets
from pinakes.engine.pushdown.predicate import Predicate


class Known(Protocol):
    """Statistics of files by file number: a `SnapshotFiles`, or a subset of one."""

    def __len__(self) -> int: ...

    def ranges(self, field_id: int, kind: IcebergType) -> list[Range]: ...

    def counts(self, column: str, field_id: int) -> pa.Array: ...

    def not_all_null(self, field_id: int) -> pa.Array: ...

    def buckets(self, field_id: int) -> list[Buckets]: ...


class Column:
    """A column of the table, or a nested field, in a predicate."""

    def __init__(
        self,
        files: Known,
        field_id: int,
        type: IcebergType,
        *,
        as_text: bool,
        within: bool = False,
        images: Sequence[Image] = (),
    ) -> None:
        self.files = files
        self.field_id = field_id
        self.type = type
        self.as_text = as_text
        self.within = within
        """Whether it is a field of a struct."""
        self.images = images
        """The functions applied to the column, innermost first. Literals are compared with the result of the last
        one.
        """
        kind = images[-1].kind if images else kind_of(type)
        assert kind is not None
        self.kind = kind

    @property
    def ranges(self) -> list[Range]:
        known: list[Range | None] = [*self.files.ranges(self.field_id, self.type)]
        for image in self.images:
            known = [None if one is None else image.range(one) for one in known]
        return [one for one in known if one is not None]

    @property
    def has_nan(self) -> bool:
        return isinstance(self.type, FloatType | DoubleType)

    def behind(self, e: Predicate) -> Column | None:
        """Returns the column wrapped in a function; None if the function is not known to preserve order."""
        seen = None if self.as_text else image_of(e, self.kind)
        if seen is None:
            return None
        images = (*self.images, seen)
        return Column(self.files, self.field_id, self.type, as_text=False, within=self.within, images=images)

    def value(self, literal: pa.Scalar) -> pa.Scalar | None:
        """Returns a literal in the type of the bounds; None if it cannot be converted."""
        if not literal.is_valid or self.as_text != isinstance(self.type, UUIDType):
            return None
        if pa.types.is_binary(self.kind):
            return _as_bytes(literal, self.as_text)
        if self.kind == pa.float32() and literal.type != pa.float32():
            return None
        try:
            return literal if literal.type == self.kind else literal.cast(self.kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None


def _as_bytes(literal: pa.Scalar, as_text: bool) -> pa.Scalar | None:
    value = literal.as_py()
    if as_text:
        return _uuid_bytes(value)
    if isinstance(value, str):
        value = value.encode()
    return pa.scalar(value, pa.binary()) if isinstance(value, bytes) else None


def _uuid_bytes(value: object) -> pa.Scalar | None:
    """Parses only the canonical text form of a UUID: other forms have another sort order."""
    digits = value.replace("-", "") if isinstance(value, str) and len(value) == 36 else ""
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    shown = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return pa.scalar(found, pa.binary()) if len(found) == 16 and shown.lower() == value else None
