"""Makes texts of Arrow arrays, a batch at a time: JSON, and the texts that casts of lists, structs and maps give."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.errors import NotSupportedError, OutOfMemory

_TEXT = pa.string()
_SPECIAL = r'["\\\x00-\x1f]'
_ESCAPED = 6
"""The longest form of a character: \\u001f."""


def json_of(values: pa.Array, limit: int) -> pa.Array:
    """The JSON of each value; NULL stays NULL, and is null within a list, a struct or a map."""
    _check(_size(values), limit)
    return _json(values)


def text_of(values: pa.Array, limit: int) -> pa.Array:
    """The texts of lists, structs and maps in DuckDB's form: [1, NULL], {'a': 1}, {k=1}."""
    _check(_size(values), limit)
    return _text(values)


def joined_object(rows: pa.StructArray, limit: int) -> pa.Array:
    """The objects of structs whose fields are JSON texts."""
    _check(_size(rows), limit)
    return _joined([field.name for field in rows.type], [_or_null(member) for member in rows.flatten()])


def joined_array(rows: pa.StructArray, limit: int, *, nulls: bool) -> pa.Array:
    """The arrays of structs whose fields are JSON texts, with null for NULL or without it."""
    _check(_size(rows), limit)
    members = [_or_null(member) if nulls else member for member in rows.flatten()]
    inner = pc.binary_join_element_wise(*members, ",", null_handling="skip")
    return pc.binary_join_element_wise(pa.scalar("["), inner, pa.scalar("]"), "")


def _check(size: float, limit: int) -> None:
    if size > limit:
        raise OutOfMemory(
            f"the texts of a batch of rows may have {size:,.0f} bytes, more than the {limit:,} that one call may make: "
            "SET batch_size lower"
        )


def _size(values: pa.Array) -> float:
    """The most bytes that the texts of an array may have."""
    type = values.type
    if is_.is_struct(type):
        names = sum(_ESCAPED * len(field.name.encode()) + 4 for field in type)
        return float(names * len(values)) + sum(_size(member) for member in values.flatten())
    if is_.is_map(type):
        return _size(values.keys) + _size(values.items) + 4.0 * (len(values) + len(values.keys))
    if is_.is_list(type) or is_.is_large_list(type):
        return _size(values.values) + 2.0 * len(values) + len(values.values)
    if is_.is_string_view(type) or is_.is_dictionary(type):
        return _size(values.cast(pa.large_string()))
    return float(_ESCAPED * values.nbytes) + 40.0 * len(values)


def _json(values: pa.Array) -> pa.Array:
    type = values.type
    if is_.is_null(type):
        return pa.nulls(len(values), _TEXT)
    if is_.is_boolean(type) or is_.is_integer(type) or is_.is_decimal(type):
        return values.cast(_TEXT)
    if is_.is_floating(type):
        return _number(values)
    if is_.is_string(type) or is_.is_large_string(type) or is_.is_string_view(type) or is_.is_dictionary(type):
        return _string(values.cast(_TEXT))
    if is_.is_date(type) or is_.is_time(type):
        return _quoted(_without_zeros(values.cast(_TEXT)) if is_.is_time(type) else values.cast(_TEXT))
    if is_.is_timestamp(type):
        plain = values.cast(pa.timestamp(type.unit)).cast(_TEXT)
        moment = _without_zeros(pc.replace_substring(plain, " ", "T"))
        zone = pa.scalar("" if type.tz is None else "+00:00")
        return _quoted(pc.binary_join_element_wise(moment, zone, ""))
    if is_.is_struct(type):
        members = [_or_null(_json(member)) for member in values.flatten()]
        return _where(values, _joined([field.name for field in type], members))
    if is_.is_map(type):
        if not (
            is_.is_string(type.key_type) or is_.is_large_string(type.key_type) or is_.is_string_view(type.key_type)
        ):
            keys = _quoted(_json(values.keys)) if is_.is_integer(type.key_type) else None
        else:
            keys = _json(values.keys)
        if keys is None:
            raise NotSupportedError(f"JSON of a map with keys of type {type.key_type} is not supported: cast the keys")
        pairs = pc.binary_join_element_wise(keys, _or_null(_json(values.items)), ":")
        return _where(values, _listed(values.offsets, pairs, "{", "}"))
    if is_.is_fixed_size_list(type):
        values, type = values.cast(pa.list_(type.value_type)), pa.list_(type.value_type)
    if is_.is_list(type) or is_.is_large_list(type):
        return _where(values, _listed(values.offsets, _or_null(_json(values.values)), "[", "]"))
    raise NotSupportedError(f"JSON of the type {type} is not supported: write CAST(… AS VARCHAR) around it")


def _text(values: pa.Array) -> pa.Array:
    type = values.type
    if is_.is_null(type):
        return pa.nulls(len(values), _TEXT)
    if is_.is_boolean(type) or is_.is_integer(type) or is_.is_decimal(type) or is_.is_date(type):
        return values.cast(_TEXT)
    if is_.is_floating(type):
        texts = pc.replace_substring_regex(values.cast(_TEXT), r"^(-?[0-9]+)$", r"\1.0")
        return pc.replace_substring(pc.replace_substring(texts, "e+", "e"), "nan", "NaN")
    if is_.is_string(type) or is_.is_large_string(type) or is_.is_string_view(type) or is_.is_dictionary(type):
        return values.cast(_TEXT)
    if is_.is_time(type):
        return _without_zeros(values.cast(_TEXT))
    if is_.is_timestamp(type):
        moment = _without_zeros(values.cast(pa.timestamp(type.unit)).cast(_TEXT))
        return moment if type.tz is None else pc.binary_join_element_wise(moment, pa.scalar("+00"), "")
    if is_.is_struct(type):
        pieces: list[pa.Array | pa.Scalar] = []
        for at, (field, member) in enumerate(zip(type, values.flatten(), strict=True)):
            name = field.name.replace("\\", "\\\\").replace("'", "\\'")
            pieces += (pa.scalar(f"{', ' if at else '{'}'{name}': "), _member(member))
        return _where(values, pc.binary_join_element_wise(*pieces, pa.scalar("}"), ""))
    if is_.is_map(type):
        pairs = pc.binary_join_element_wise(_member(values.keys), _member(values.items), "=")
        return _where(values, _listed(values.offsets, pairs, "{", "}", ", "))
    if is_.is_fixed_size_list(type):
        values, type = values.cast(pa.list_(type.value_type)), pa.list_(type.value_type)
    if is_.is_list(type) or is_.is_large_list(type):
        return _where(values, _listed(values.offsets, _member(values.values), "[", "]", ", "))
    raise NotSupportedError(f"a cast to VARCHAR of nested values of the type {type} is not supported: cast them first")


_AMBIGUOUS = r"""^$|^\s|\s$|^(?i:null)$|[,'"\[\]{}():=;]"""
"""Texts that are quoted within a list, a struct or a map."""


def _member(values: pa.Array) -> pa.Array:
    """The texts of the members of a nested value."""
    texts = _text(values)
    if not is_.is_nested(values.type):
        escaped = pc.replace_substring_regex(texts, r"(['\\])", r"\\\1")
        quoted = pc.binary_join_element_wise(pa.scalar("'"), escaped, pa.scalar("'"), "")
        texts = pc.if_else(pc.match_substring_regex(texts, _AMBIGUOUS), quoted, texts)
    return pc.fill_null(texts, "NULL")


def _number(values: pa.Array) -> pa.Array:
    """Numbers; PostgreSQL writes NaN and infinities as strings."""
    texts = values.cast(_TEXT)
    if pc.all(pc.is_finite(values), min_count=0).as_py():
        return texts
    infinite = pc.if_else(pc.greater(values, 0.0), '"Infinity"', '"-Infinity"')
    return pc.if_else(pc.is_finite(values), texts, pc.if_else(pc.is_nan(values), '"NaN"', infinite))


def _string(values: pa.Array) -> pa.Array:
    special = pc.match_substring_regex(values, _SPECIAL)
    if not pc.any(special, min_count=0).as_py():
        return _quoted(values)
    encoded = values.dictionary_encode()
    texts = [json.dumps(text, ensure_ascii=False) for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, _TEXT).take(encoded.indices)


def _quoted(values: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar('"'), values, pa.scalar('"'), "")


def _without_zeros(values: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(values, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")


def _or_null(values: pa.Array) -> pa.Array:
    return pc.fill_null(values, "null")


def _where(values: pa.Array, texts: pa.Array) -> pa.Array:
    return texts if not values.null_count else pc.if_else(values.is_valid(), texts, pa.scalar(None, _TEXT))


def _listed(offsets: pa.Array, texts: pa.Array, opening: str, closing: str, separator: str = ",") -> pa.Array:
    kind = pa.LargeListArray if is_.is_int64(offsets.type) else pa.ListArray
    inner = pc.binary_join(kind.from_arrays(offsets, texts), separator).cast(_TEXT)
    return pc.binary_join_element_wise(pa.scalar(opening), inner, pa.scalar(closing), "")


def _joined(names: Sequence[str], members: Sequence[pa.Array]) -> pa.Array:
    pieces: list[pa.Array | pa.Scalar] = []
    for at, (name, member) in enumerate(zip(names, members, strict=True)):
        pieces += (pa.scalar(("," if at else "{") + json.dumps(name, ensure_ascii=False) + ":"), member)
    return pc.binary_join_element_wise(*pieces, pa.scalar("}"), "")
