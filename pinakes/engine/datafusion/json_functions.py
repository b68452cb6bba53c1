"""The JSON functions. Each is computed once for every different text of a batch (`json_text.py`); `json_writer.py`
makes JSON of other values with Arrow's kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datafusion import ScalarUDF, SessionContext, udf

from pinakes.core.errors import OutOfMemory
from pinakes.engine.datafusion import json_text as j
from pinakes.engine.datafusion.json_writer import joined_array, joined_object, json_of, text_of
from pinakes.parser.typed import json as names

_TEXT, _TEXTS, _NUMBER = pa.string(), pa.list_(pa.string()), pa.int64()
_PART_BYTES = 1 << 20


LISTED = (
    (
        "json_extract",
        "json_extract(json, path | index)",
        "JSON at a path such as $.a[0], /a/0 or a key; a list of all for $.a[*].b",
    ),
    ("json_extract_string", "json_extract_string(json, path | index)", "The same as a text"),
    ("json_extract_scalar", "json_extract_scalar(json, path | index)", "The same, NULL for arrays and objects"),
    ("json_extract_path", "json_extract_path(json, key, …)", "JSON at several keys, one in the other"),
    ("json_extract_path_text", "json_extract_path_text(json, key, …)", "The same as a text"),
    ("json_value", "json_value(json, path)", "The text of a scalar at a path of SQL/JSON"),
    ("json_query", "json_query(json, path)", "JSON at a path of SQL/JSON"),
    ("json_array_length", "json_array_length(json[, path])", "The number of elements of an array"),
    ("json_array_elements", "json_array_elements(json)", "A row for each element of an array"),
    ("json_array_elements_text", "json_array_elements_text(json)", "The same as texts"),
    ("json_keys", "json_keys(json)", "The keys of an object, as a list"),
    ("json_object_keys", "json_object_keys(json)", "A row for each key of an object"),
    ("json_typeof", "json_typeof(json)", "object, array, string, number, boolean or null"),
    ("json_type", "json_type(json[, path])", "The name of the type in DuckDB, such as OBJECT or VARCHAR"),
    ("json_valid", "json_valid(text)", "Whether a text is JSON"),
    ("json_parse", "json_parse(text)", "A text as JSON; an error if it is malformed"),
    ("json_format", "json_format(json)", "JSON as a text"),
    ("to_json", "to_json(value)", "A value as JSON"),
    ("array_to_json", "array_to_json(list)", "A list as JSON"),
    ("json_object", "json_object(key, value, …)", "A JSON object"),
    ("json_build_object", "json_build_object(key, value, …)", "A JSON object"),
    ("json_array", "json_array(value, …)", "A JSON array of the values that are not NULL"),
    ("json_build_array", "json_build_array(value, …)", "A JSON array"),
    ("list_transform", "list_transform(list, x -> …)", "The results of a lambda for each element"),
    ("list_filter", "list_filter(list, x -> …)", "The elements for which a lambda is true"),
    ("any_match", "any_match(list, x -> …)", "Whether a lambda is true for an element"),
    ("all_match", "all_match(list, x -> …)", "Whether a lambda is true for all elements"),
    ("none_match", "none_match(list, x -> …)", "Whether a lambda is true for no element"),
)
"""Names, syntax and descriptions of functions that are written in `parser/typed`, for SHOW FUNCTIONS."""


def register_json_functions(context: SessionContext, limit: int) -> None:
    """Registers them; `limit` is that of the bytes that one call may make of a batch."""
    for function in _functions(limit):
        context.register_udf(function)


@lru_cache(maxsize=8)
def _functions(limit: int) -> tuple[ScalarUDF, ...]:
    of_one: tuple[tuple[str, Callable[[str], Any], pa.DataType], ...] = (
        (names.VALID, j.is_valid, pa.bool_()),
        (names.TYPEOF, j.type_of, _TEXT),
        (names.TYPE, j.storage_type, _TEXT),
        (names.LENGTH, j.array_length, _NUMBER),
        (names.KEYS, j.keys, _TEXTS),
        (names.OBJECT_KEYS, j.object_keys, _TEXTS),
        (names.ELEMENTS, j.elements, _TEXTS),
        (names.ELEMENT_TEXTS, j.element_texts, _TEXTS),
        (names.PARSE, _checked, _TEXT),
        (names.FORMAT, _checked, _TEXT),
        (names.TRY_PARSE, lambda text: text if j.is_valid(text) else None, _TEXT),
    )
    by_path: tuple[tuple[str, Callable[[Any], Any], Callable[[str, Any], Any], pa.DataType], ...] = (
        (names.GET, j.by_key, j.part, _TEXT),
        (names.GET_TEXT, j.by_key, j.part_text, _TEXT),
        (names.AT, _by_index, j.part, _TEXT),
        (names.AT_TEXT, _by_index, j.part_text, _TEXT),
        (names.PATH, j.by_keys, j.part, _TEXT),
        (names.PATH_TEXT, j.by_keys, j.part_text, _TEXT),
        (names.EXTRACT, j.by_path, j.part, _TEXT),
        (names.EXTRACT_STRING, j.by_path, j.part_text, _TEXT),
        (names.EXTRACT_SCALAR, j.by_path, j.scalar_text, _TEXT),
        (names.EXTRACT_ALL, j.all_by_path, j.all_parts, _TEXTS),
        (names.EXTRACT_ALL_TEXTS, j.all_by_path, j.all_part_texts, _TEXTS),
        (names.TYPE_AT, j.by_path, j.storage_type, _TEXT),
        (names.LENGTH_AT, j.by_path, _length_at, _NUMBER),
        (names.VALUE, j.standard_path, j.standard_value, _TEXT),
        (names.QUERY, j.standard_path, j.standard_query, _TEXT),
    )
    return (
        *(udf(_each(compute, type, limit), [_TEXT], type, "immutable", name) for name, compute, type in of_one),
        *(
            udf(
                _each_path(read, compute, type, limit),
                [_TEXT, _NUMBER if read is _by_index else _TEXT],
                type,
                "immutable",
                name,
            )
            for name, read, compute, type in by_path
        ),
    )


def json_function(name: str, type: pa.DataType, called: str, limit: int) -> ScalarUDF:
    """A function that makes texts of values of one type; members of json_object and json_array are JSON already."""
    match name:
        case "to_json":
            return udf(lambda values: json_of(values, limit), [type], _TEXT, "immutable", called)
        case "nested_text":
            return udf(lambda values: text_of(values, limit), [type], _TEXT, "immutable", called)
        case "json_object":
            return udf(lambda values: joined_object(values, limit), [type], _TEXT, "immutable", called)
        case "json_array":
            return udf(lambda values: joined_array(values, limit, nulls=False), [type], _TEXT, "immutable", called)
        case _:
            return udf(lambda values: joined_array(values, limit, nulls=True), [type], _TEXT, "immutable", called)


def _checked(text: str) -> str:
    j.parse(text)
    return text


def _by_index(index: int) -> j.Steps:
    return (j.Step(None, index),)


def _length_at(text: str, steps: j.Steps) -> int | None:
    found = j.part(text, steps)
    return None if found is None else j.array_length(found)


def _each(compute: Callable[[str], Any], type: pa.DataType, limit: int) -> Callable[[pa.Array], pa.Array]:
    def computed(texts: pa.Array) -> pa.Array:
        encoded = texts.dictionary_encode()
        parts = [pa.array(map(compute, part.to_pylist()), type) for part in _parts(encoded.dictionary)]
        found = pa.concat_arrays(parts) if parts else pa.array([], type)
        if found.nbytes * len(texts) > limit:  # equal texts have a result each
            from pinakes.engine.datafusion.bounded_functions import sizes

            size = sizes(found) @ np.bincount(encoded.indices.drop_null(), minlength=len(found))
            if size > limit:
                raise OutOfMemory(f"the JSON of a batch would have {size:,.0f} bytes: SET batch_size lower")
        return found.take(encoded.indices)

    return computed


def _parts(texts: pa.Array) -> Iterator[pa.Array]:
    """Yields texts of about a megabyte: what Python makes of them takes many times as much."""
    ends = np.cumsum(pc.binary_length(texts).to_numpy(zero_copy_only=False), dtype=np.int64) // _PART_BYTES
    starts = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(texts)]
    return (texts.slice(start, stop - start) for start, stop in pairwise(starts) if stop > start)


def _each_path(
    read: Callable[[Any], Any], compute: Callable[[str, Any], Any], type: pa.DataType, limit: int
) -> Callable[[pa.Array, pa.Array], pa.Array]:
    def computed(texts: pa.Array, paths: pa.Array) -> pa.Array:
        if len(paths) and paths.null_count == 0 and pc.all(pc.equal(paths, paths[0])).as_py():
            steps = read(paths[0].as_py())
            if steps is None:
                return pa.nulls(len(texts), type)
            return _each(lambda text: compute(text, steps), type, limit)(texts)
        known: dict[tuple[str, Any], Any] = {}
        found = list[Any]()
        for pair in zip(texts.to_pylist(), paths.to_pylist(), strict=True):
            if None in pair:
                found.append(None)
                continue
            if pair not in known:
                steps = read(pair[1])
                known[pair] = None if steps is None else compute(pair[0], steps)
            found.append(known[pair])
        return pa.array(found, type)

    return computed
