"""The values of CommandGetSqlInfo: properties of the server and of its SQL dialect.

All numbers of Flight SQL are present: the JDBC driver fails with a NullPointerException if one is missing. `0` as a
limit means unlimited.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from pinakes.core.version import __version__
from pinakes.parser.keywords import RESERVED

Value = str | bool | int | tuple[str, ...] | dict[int, tuple[int, ...]] | None


class Bits(int):
    """A bit mask or an enum value: an int32, while a plain number is an int64."""


def _of(*options: int) -> Bits:
    return Bits(sum(1 << option for option in options))


_NUMERIC = (
    "abs acos asin atan atan2 ceil cos cot degrees exp floor ln log log10 pi power radians random round sin sqrt tan "
    "trunc"
)
_STRING = (
    "ascii char_length character_length concat left length lower lpad ltrim octet_length position repeat replace right "
    "rpad rtrim substring trim upper"
)
_DATETIME = "current_date current_time current_timestamp date_part date_trunc now to_char to_date to_timestamp"
_SYSTEM = "coalesce ifnull nullif version"
_EVERY_TYPE = tuple(range(20))
_TEXTS, _NUMBERS, _TIMES, _BYTES = (3, 11, 19), (0, 2, 5, 6, 7, 12, 13, 14, 17), (4, 15, 16), (1, 10, 18)
_CONVERSIONS: dict[int, tuple[int, ...]] = {
    **dict.fromkeys(_TEXTS, _EVERY_TYPE),
    **dict.fromkeys(_NUMBERS, (*_NUMBERS, *_TEXTS)),
    **dict.fromkeys(_TIMES, (*_TIMES, *_TEXTS)),
    **dict.fromkeys(_BYTES, (*_BYTES, *_TEXTS)),
}
"""Supported CAST targets per type, by the numbers of SqlSupportsConvert."""

SERVER: dict[int, Value] = {
    0: "Pinakes",
    1: __version__,
    2: pa.__version__,
    3: False,  # read only
    4: True,  # SQL
    5: False,  # Substrait
    6: "",
    7: "",
    8: Bits(1),  # transactions, without savepoints
    9: True,  # cancel
    10: True,  # bulk ingestion
    11: True,  # also within transactions
}
SYNTAX: dict[int, Value] = {
    500: True,  # CREATE and DROP of catalogs
    501: True,  # of schemas
    502: True,  # of tables
    503: Bits(3),  # unquoted names are folded to lower case
    504: '"',
    505: Bits(0),  # quoted names are case-sensitive, for which there is no number
    506: False,  # a table that is listed may still not be readable by this user
    507: Bits(0),  # NULL is greater than any value
    508: tuple(sorted(RESERVED)),
    509: tuple(_NUMERIC.split()),
    510: tuple(_STRING.split()),
    511: tuple(_SYSTEM.split()),
    512: tuple(_DATETIME.split()),
    513: "\\",
    514: "",
    515: True,  # aliases of columns
    516: True,  # NULL || 'a' is NULL
    517: _CONVERSIONS,
    518: True,  # aliases of tables
    519: False,
    520: True,  # expressions in ORDER BY
    521: True,  # ORDER BY of columns that are not selected
    522: _of(0, 1),
    523: True,  # LIKE … ESCAPE
    524: True,  # NOT NULL
    525: _of(0, 1, 2),
    526: _of(0, 1),
    527: False,
    528: _of(1, 2),
    529: "schema",
    530: "procedure",
    531: "catalog",
    532: True,  # the catalog comes first
    533: _of(0),
    534: _of(0),
    535: Bits(0),
    536: False,  # SELECT FOR UPDATE
    537: False,
    538: _of(0, 1, 2),
    539: True,  # correlated subqueries
    540: _of(0, 1),
    **dict.fromkeys(range(541, 556), 0),  # limits
    556: True,
    **dict.fromkeys(range(557, 562), 0),  # more limits
    562: 3,  # snapshot isolation, which is closest to REPEATABLE READ
    563: True,  # transactions
    564: _of(3),
    565: False,
    566: False,
    567: _of(1),  # results are read forward
    568: _of(1),
    569: _of(1),
    570: Bits(0),
    571: Bits(0),
    572: True,  # batches of updates
    573: False,  # savepoints
    574: False,
    575: False,
    576: False,
}


WITHOUT_TRANSACTIONS: dict[int, Value] = {8: Bits(0), 11: False, 562: 0, 563: False, 564: Bits(0)}
"""The values for the JDBC driver: its commit() and rollback() do nothing and never reach the server, so an application
that relied on them could not roll back. BEGIN, COMMIT and ROLLBACK as statements work there, too."""


def informed(prepared_age: float, transaction_age: float, *, is_java: bool = False) -> dict[int, Value]:
    """Returns all values, including the expiry times of this server."""
    ages = {100: Bits(int(prepared_age * 1000)), 101: Bits(int(transaction_age * 1000))}
    return {**SERVER, **ages, **SYNTAX, **(WITHOUT_TRANSACTIONS if is_java else {})}


_TEXT_LIST = pa.list_(pa.field("string_data", pa.string()))
_MAP = pa.map_(pa.int32(), pa.list_(pa.field("$data$", pa.int32())))
CHILDREN = [
    pa.field("string_value", pa.string()),
    pa.field("bool_value", pa.bool_()),
    pa.field("bigint_value", pa.int64()),
    pa.field("int32_bitmask", pa.int32()),
    pa.field("string_list", _TEXT_LIST),
    pa.field("int32_to_int32_list_map", _MAP),
]
SCHEMA = pa.schema(
    [
        pa.field("info_name", pa.uint32(), nullable=False),
        pa.field("value", pa.dense_union(CHILDREN), nullable=False),
    ]
)


def batch(values: Mapping[int, Value]) -> pa.RecordBatch:
    """Returns the values in the union type of the protocol."""
    children: list[list[object]] = [[] for _ in CHILDREN]
    kinds, offsets = [], []
    for value in values.values():
        kind = _child(value)
        kinds.append(kind)
        offsets.append(len(children[kind]))
        children[kind].append(list(value.items()) if isinstance(value, dict) else value)
    arrays = [pa.array(held, field.type) for held, field in zip(children, CHILDREN, strict=True)]
    union = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), arrays, [field.name for field in CHILDREN]
    )
    return pa.RecordBatch.from_arrays([pa.array(list(values), pa.uint32()), union], schema=SCHEMA)


def _child(value: Value) -> int:
    match value:
        case bool():
            return 1
        case Bits():
            return 3
        case int():
            return 2
        case tuple():
            return 4
        case dict():
            return 5
        case _:
            return 0
