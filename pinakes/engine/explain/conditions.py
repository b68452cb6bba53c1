"""Formats predicates as readable SQL: `a > 5 AND b LIKE 'x%'`.

Unsupported expressions are shown in DataFusion's form. The text is never executed.
"""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.names import spell, text_literal
from pinakes.core.output.value_format import as_text, plain
from pinakes.engine.datafusion.parquet_scan import UUID_TEXT
from pinakes.engine.pushdown import predicate as p
from pinakes.engine.pushdown.placeholder_scan import PLACEHOLDER_PREFIX

MOST = 20
"""The maximum number of values of an IN list to show."""
_STRENGTH = {"OR": 1, "AND": 2, "+": 5, "-": 5, "||": 5, "*": 6, "/": 6, "%": 6}
_COMPARISON = 4
_ATOM = 9
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


def as_sql(predicate: p.Predicate) -> str:
    """Returns "" for a predicate that is true for every row."""
    return _spelled(predicate)[0]


def _within(e: p.Predicate, strength: int) -> str:
    """Returns an operand, in parentheses if it binds less strongly than its context."""
    text, own = _spelled(e)
    return text if own >= strength else f"({text})"


def _spelled(e: p.Predicate) -> tuple[str, int]:
    """Returns the text, and the precedence of its outermost operator."""
    match e:
        case p.ColumnRef(name, path):
            return "".join((spell(name), *(f"[{text_literal(field)}]" for field in path))), _ATOM
        case p.Literal(value):
            return _literal(value), _ATOM
        case p.And(parts) | p.Or(parts):
            word = "AND" if isinstance(e, p.And) else "OR"
            return f" {word} ".join(_within(part, _STRENGTH[word]) for part in parts), _STRENGTH[word]
        case p.Comparison(operator, left, right):
            shown = "<>" if operator == "!=" else operator
            return f"{_within(left, _COMPARISON + 1)} {shown} {_within(right, _COMPARISON + 1)}", _COMPARISON
        case p.In(tested, values, negated):
            shown = ", ".join(_within(v, 0) for v in values[:MOST])
            more = f", … {len(values) - MOST} more" if len(values) > MOST else ""
            return f"{_within(tested, _COMPARISON + 1)} {'NOT ' * negated}IN ({shown}{more})", _COMPARISON
        case p.Like(tested, pattern, negated, caseless, escape):
            tail = f" ESCAPE {text_literal(escape)}" if escape is not None else ""
            word = f"{'NOT ' * negated}{'I' * caseless}LIKE"
            return f"{_within(tested, _COMPARISON + 1)} {word} {_within(pattern, _COMPARISON + 1)}{tail}", _COMPARISON
        case p.Is(tested, value, negated):
            return f"{_within(tested, _COMPARISON + 1)} IS {'NOT ' * negated}{value}", _COMPARISON
        case p.Not(part):
            return f"NOT {_within(part, _COMPARISON)}", 3
        case p.Call(function, arguments):
            return _call(function, arguments)
        case p.Cast(argument, type_name, is_try):
            kind, opened, rest = type_name.partition("(")
            return f"{'TRY_' * is_try}CAST({_within(argument, 0)} AS {_TYPES.get(kind, kind)}{opened}{rest})", _ATOM
        case p.Case(tested, when, then, otherwise):
            of = "" if tested is None else f" {_within(tested, 0)}"
            other = "" if otherwise is None else f" ELSE {_within(otherwise, 0)}"
            return f"CASE{of} WHEN {_within(when, 0)} THEN {_within(then, 0)}{other} END", _ATOM
        case p.Unknown(text):
            return PLACEHOLDER_PREFIX.sub("", text), 0


def _call(function: str, arguments: tuple[p.Predicate, ...]) -> tuple[str, int]:
    if function == UUID_TEXT:
        return _spelled(arguments[0])
    if function == "-" and len(arguments) == 1:
        return f"-{_within(arguments[0], _ATOM)}", _ATOM - 1
    if not function.isidentifier() and len(arguments) == 2:
        strength = _STRENGTH.get(function, _COMPARISON)
        # The left operand of a chain needs no parentheses.
        before = strength if function in _STRENGTH else strength + 1
        return f"{_within(arguments[0], before)} {function} {_within(arguments[1], strength + 1)}", strength
    return f"{function}({', '.join(_within(a, 0) for a in arguments)})", _ATOM


def _literal(value: pa.Scalar) -> str:
    if not value.is_valid:
        return "NULL"
    text = as_text(plain(pa.array([value], value.type))[0])
    kind = value.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return text
    return text if pa.types.is_decimal(kind) else text_literal(text)
