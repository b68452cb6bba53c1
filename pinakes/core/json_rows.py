"""Rows as JSON objects, built column by column, for the formats json and jsonl and for COPY."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.texts import joined, json_texts, pieces


def objects(batch: pa.RecordBatch, keys: Sequence[str], between: str) -> Iterator[pa.Buffer]:
    """Yields the rows as objects with these keys, in buffers with `between` as separator within each."""
    for piece in pieces(batch):
        yield joined(_objects(piece, keys), between)


def _objects(batch: pa.RecordBatch, keys: Sequence[str]) -> pa.Array:
    if batch.num_columns == 0:
        return pa.array(["{}"] * batch.num_rows, pa.string())
    parts: list[object] = []
    for number, (key, column) in enumerate(zip(keys, batch.columns, strict=True)):
        parts += (("," if number else "{") + json.dumps(key, ensure_ascii=False) + ":", json_texts(column))
    return pc.binary_join_element_wise(*parts, "}", "")


def distinct(names: Sequence[str]) -> list[str]:
    """Returns the column names with a number after repeated ones, so that an object keeps all columns."""
    keys: list[str] = []
    for name in names:
        key, number = name, 0
        while key in keys:
            number += 1
            key = f"{name}_{number}"
        keys.append(key)
    return keys
