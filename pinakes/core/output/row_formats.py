"""Rows as text: lines of delimited cells for CSV and similar formats, and JSON objects.

In delimited lines, cells are quoted only where necessary. NULL is an empty cell (or the text `null`) and an empty text
is "", so that a reader can distinguish them. In a row with a single column NULL is also "", since many readers skip
empty lines, unless `blank` is set. JSON objects are built column by column, for the formats json and jsonl and for
COPY."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.output.texts import content_of, joined, json_texts, pieces, texts

# --- delimited ---------------------------------------------------------------------------------------------------


_USUAL = frozenset(",;|\t\"'\\")
"""Characters that do not occur in the text of numbers and times."""


_MARK = "\ufeff"
"""The byte order mark, which readers skip at the start of a file."""


@dataclass(frozen=True)
class Delimited:
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    """The character before a quote, or before itself, within quotes."""
    null: str = ""
    forced: Sequence[str] | None = ()
    """The columns whose values are always quoted unless NULL; None is all of them."""
    blank: bool = False
    """Whether an empty line may represent NULL in a single column."""

    def header(self, names: Sequence[str]) -> bytes:
        """Returns the header line."""
        cells = self._quoted_where_needed(pa.array(list(names), pa.string()))
        return (self.delimiter.join(cells.to_pylist()) + "\n").encode()

    def lines(self, batch: pa.RecordBatch) -> Iterator[pa.Buffer]:
        """Yields the rows in buffers of complete lines without the last line break."""
        for piece in pieces(batch):
            yield joined(self._rows(piece), "\n")

    def _rows(self, batch: pa.RecordBatch) -> pa.Array:
        if batch.num_columns == 0:
            return pa.array([""] * batch.num_rows, pa.string())
        cells = [self._cells(column, name) for column, name in zip(batch.columns, batch.schema.names, strict=True)]
        null = self.quote * 2 if len(cells) == 1 and not self.null and not self.blank else self.null
        return pc.binary_join_element_wise(*cells, self.delimiter, null_handling="replace", null_replacement=null)

    def _cells(self, column: pa.Array, name: str) -> pa.Array:
        found = texts(column)
        if self.forced is None or name in self.forced:
            return self._quoted(found)
        return found if self._never_quoted(column.type) else self._quoted_where_needed(found)

    def _never_quoted(self, kind: pa.DataType) -> bool:
        types = pa.types
        simple = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
        usual = not self.null and {self.delimiter, self.quote, self.escape} <= _USUAL
        return usual and bool(simple or types.is_date(kind) or types.is_timestamp(kind))

    def _quoted_where_needed(self, found: pa.Array) -> pa.Array:
        needed = self._misread(found)
        return found if needed is None else pc.if_else(needed, self._quoted(found), found)

    def _misread(self, found: pa.Array) -> pa.Array | None:
        """Returns a mask of the cells that need quotes: those with a separator, a quote, a line break or the byte
        order mark, and the text that means NULL. None if no cell does; the search in the concatenated text makes
        this fast.
        """
        content = content_of(found)
        signs = [sign for sign in self._signs if sign.encode() in content]
        marks = [pc.match_substring(found, sign) for sign in signs]
        nulls = pc.equal(found, self.null)
        if pc.any(nulls).as_py():
            marks.append(nulls)
        return reduce(pc.or_, marks) if marks else None

    @cached_property
    def _signs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.delimiter, self.quote, self.escape, "\r", "\n", _MARK)))

    def _quoted(self, found: pa.Array) -> pa.Array:
        content = content_of(found)
        for sign in dict.fromkeys((self.escape, self.quote)):  # the escape first, or it would escape itself
            if sign.encode() in content:
                found = pc.replace_substring(found, sign, self.escape + sign)
        return pc.binary_join_element_wise(self.quote, found, self.quote, "")


CSV = Delimited()
TSV = Delimited("\t")


# --- JSON --------------------------------------------------------------------------------------------------------


def json_objects(batch: pa.RecordBatch, keys: Sequence[str], between: str) -> Iterator[pa.Buffer]:
    """Yields the rows as objects with these keys, in buffers with `between` as separator within each."""
    for piece in pieces(batch):
        yield joined(_batch_objects(piece, keys), between)


def _batch_objects(batch: pa.RecordBatch, keys: Sequence[str]) -> pa.Array:
    if batch.num_columns == 0:
        return pa.array(["{}"] * batch.num_rows, pa.string())
    parts: list[object] = []
    for number, (key, column) in enumerate(zip(keys, batch.columns, strict=True)):
        parts += (("," if number else "{") + json.dumps(key, ensure_ascii=False) + ":", json_texts(column))
    return pc.binary_join_element_wise(*parts, "}", "")


def distinct_keys(names: Sequence[str]) -> list[str]:
    """Returns the column names with a number after repeated ones, so that an object keeps all columns."""
    keys: list[str] = []
    for name in names:
        key, number = name, 0
        while key in keys:
            number += 1
            key = f"{name}_{number}"
        keys.append(key)
    return keys
