"""Finds queries that have more than one right answer, and the columns that a query's ORDER BY sorts by."""

from __future__ import annotations

import re

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

_CHANGING = re.compile(
    r"\b(random|uuid|gen_random_uuid|uuidv\d|now|current_timestamp|current_date|current_time|localtime|localtimestamp|"
    r"today|get_current_timestamp|get_current_time|transaction_timestamp|nextval|currval|setseed|version|current_user|session_user|current_role|current_catalog|"
    r"current_schema|current_database|current_setting|getenv|txid_current|approx_\w+|reservoir_quantile|tablesample|"
    r"using\s+sample|rowid|getvariable|hash|stats|memory|filename|file_row_number|current_query|current_schemas)\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"\b(first|last|any_value|arbitrary|list|array_agg|string_agg|group_concat|listagg|json_group_array|"
    r"json_group_object|mode|arg_min|arg_max|min_by|max_by|argmin|argmax|histogram|first_value|last_value|nth_value|lag|"
    r"lead|row_number|ntile|map_from_entries|list_distinct|array_distinct|list_unique|lateral|limit|offset|distinct\s+on|fetch)\b",
    re.IGNORECASE,
)


def changes_by_itself(sql: str) -> bool:
    """Whether a query asks for chance, a clock or the engine's own state."""
    return _CHANGING.search(sql) is not None


def depends_on_order(sql: str) -> bool:
    """Whether a query has a part whose answer depends on an order that it might not give. LIMIT and windows with a
    total order are among these: a difference there is looked at with `order_columns`."""
    return _ORDERED.search(sql) is not None


def has_unordered_part(sql: str) -> bool:
    """Whether a LIMIT, a window or an aggregate that depends on the order of rows has no ORDER BY of its own."""
    try:
        root = sqlglot.parse_one(sql, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return depends_on_order(sql)
    for node in root.walk():
        if isinstance(node, exp.Query) and (node.args.get("limit") or node.args.get("offset")):
            if node.args.get("order") is None:
                return True
        elif isinstance(node, exp.Window):
            has_frame = node.args.get("spec") is not None
            if node.args.get("order") is None and (has_frame or depends_on_order(node.this.sql("duckdb"))):
                return True
        elif isinstance(node, exp.Func) and not isinstance(node, exp.Connector) and node.find_ancestor(exp.Select):
            name = node.sql("duckdb").partition("(")[0]
            if depends_on_order(name) and node.find(exp.Order) is None and not isinstance(node.parent, exp.Window):
                return True
    return depends_on_order(sql) and "distinct on" in re.sub(r"\s+", " ", sql.lower())


def order_columns(sql: str, columns: int) -> list[int]:
    """The positions of the result's columns that the outermost ORDER BY sorts by, up to the first key that is none."""
    try:
        root = sqlglot.parse_one(sql, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return []
    order = root.args.get("order")
    if order is None:
        return []
    selects = root.selects if isinstance(root, exp.Query) else []
    if any(isinstance(s, exp.Star) or s.is_star for s in selects):
        selects = []
    names = [s.alias_or_name.lower() for s in selects]
    texts = [s.unalias().sql("duckdb").lower() for s in selects]
    found: list[int] = []
    for key in order.expressions:
        what = key.this if isinstance(key, exp.Ordered) else key
        text = what.sql("duckdb").lower()
        if text == "all":
            return list(range(columns))
        if isinstance(what, exp.Literal) and what.is_int:
            found.append(int(what.this) - 1)
        elif text in names:
            found.append(names.index(text))
        elif text in texts:
            found.append(texts.index(text))
        elif isinstance(what, exp.Column) and what.name.lower() in names:
            found.append(names.index(what.name.lower()))
        else:
            break
    return [at for at in found if 0 <= at < columns]
