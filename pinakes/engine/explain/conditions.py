"""Formats DataFusion's predicates as readable SQL: `a > 5 AND b LIKE 'x%'`.

Unsupported expressions are shown in DataFusion's form. The text is never executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from datafusion import Expr

from pinakes.core.names import spell, text_literal
from pinakes.core.value_format import as_text, plain
from pinakes.engine.iceberg.scan.native import UUID_TEXT

MOST = 20
"""The maximum number of values of an IN list to show."""
_SAME = ("nanvl", UUID_TEXT)
"""Identity functions that a scan puts around columns (`scan/native.py`)."""
_STRENGTH = {"OR": 1, "AND": 2, "+": 5, "-": 5, "||": 5, "*": 6, "/": 6, "%": 6}
_COMPARISON = 4
_ATOM = 9
_SCAN = "?table?."
"""DataFusion's prefix of the columns of a scan."""
_TYPES = {
    "Boolean": "BOOLEAN",
    "Int8": "TINYINT",
    "Int16": "SMALLINT",
    "Int32": "INTEGER",
    "Int64": "BIGINT",
    "Float32": "REAL",
    "Float64": "DOUBLE",
    "Decimal128": "DECIMAL",
    "Utf8": "VARCHAR",
    "Utf8View": "VARCHAR",
    "Date32": "DATE",
}
_AFTER = {
    "IsNull": "IS NULL",
    "IsNotNull": "IS NOT NULL",
    "IsTrue": "IS TRUE",
    "IsFalse": "IS FALSE",
    "IsNotTrue": "IS NOT TRUE",
    "IsNotFalse": "IS NOT FALSE",
}


def as_sql(conditions: Sequence[Expr]) -> str:
    """Returns predicates combined with AND; "" for none."""
    strength = _STRENGTH["AND"] if len(conditions) > 1 else 0
    return " AND ".join(_within(c, strength) for c in conditions)


def _within(e: Expr, strength: int) -> str:
    """Returns an operand, in parentheses if it binds less strongly than its context."""
    text, own = _spelled(e)
    return text if own >= strength else f"({text})"


def _spelled(e: Expr) -> tuple[str, int]:
    """Returns the text, and the precedence of its outermost operator."""
    kind = e.variant_name()
    match kind:
        case "Column":
            return spell(e.to_variant().name()), _ATOM
        case "Literal":
            return _literal(e), _ATOM
        case "BinaryExpr":
            return _binary(e)
        case "InList":
            return _in_list(e), _COMPARISON
        case "Like":
            return _like(e), _COMPARISON
        case "Not":
            return f"NOT {_within(e.rex_call_operands()[0], _COMPARISON)}", 3
        case "ScalarFunction":
            return _function(e)
        case "Cast" | "TryCast":
            return _cast(e), _ATOM
        case "Negative":
            return f"-{_within(e.rex_call_operands()[0], _ATOM)}", _ATOM - 1
        case _ if kind in _AFTER:
            return f"{_within(e.rex_call_operands()[0], _COMPARISON + 1)} {_AFTER[kind]}", _COMPARISON
    return _printed(e), 0


def _printed(e: Expr) -> str:
    return str(e.canonical_name()).replace(_SCAN, "")


def _binary(e: Expr) -> tuple[str, int]:
    operator, (left, right) = e.rex_call_operator(), e.rex_call_operands()
    strength = _STRENGTH.get(operator, _COMPARISON)
    shown = "<>" if operator == "!=" else operator
    # The left operand of a chain needs no parentheses; the right one only for operators other than AND and OR.
    after = strength if operator in ("AND", "OR") else strength + 1
    before = strength if operator in _STRENGTH else strength + 1
    return f"{_within(left, before)} {shown} {_within(right, after)}", strength


def _in_list(e: Expr) -> str:
    tested, *values = e.rex_call_operands()
    shown = [_within(v, 0) for v in values[:MOST]]
    if len(values) > MOST:
        shown.append(f"… {len(values) - MOST} more")
    negated = "NOT " if e.to_variant().negated() else ""
    return f"{_within(tested, _COMPARISON + 1)} {negated}IN ({', '.join(shown)})"


def _like(e: Expr) -> str:
    tested, pattern = e.rex_call_operands()
    escape = e.to_variant().escape_char()
    tail = f" ESCAPE {text_literal(escape)}" if escape is not None else ""
    operator = e.rex_call_operator().upper()
    return f"{_within(tested, _COMPARISON + 1)} {operator} {_within(pattern, _COMPARISON + 1)}{tail}"


def _function(e: Expr) -> tuple[str, int]:
    name, operands = e.rex_call_operator(), e.rex_call_operands()
    if name in _SAME and len({str(o) for o in operands}) == 1:
        return _spelled(operands[0])
    if name == "get_field":
        return f"{_within(operands[0], _ATOM)}{''.join(f'[{_within(o, 0)}]' for o in operands[1:])}", _ATOM
    return f"{name}({', '.join(_within(o, 0) for o in operands)})", _ATOM


def _cast(e: Expr) -> str:
    """Formats a cast. DataFusion's Python API shows the target type only in the expression's text."""
    word = "CAST" if e.variant_name() == "Cast" else "TRY_CAST"
    written = _printed(e).rpartition(" AS ")[2].removesuffix(")")
    kind, opened, rest = written.partition("(")
    return f"{word}({_within(e.to_variant().expr(), 0)} AS {_TYPES.get(kind, kind)}{opened}{rest})"


def _literal(e: Expr) -> str:
    value: Any = e.python_value()
    if not isinstance(value, pa.Scalar):
        return _printed(e)
    if not value.is_valid:
        return "NULL"
    text = as_text(plain(pa.array([value], value.type))[0])
    kind = value.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return text
    return text if pa.types.is_decimal(kind) else text_literal(text)
