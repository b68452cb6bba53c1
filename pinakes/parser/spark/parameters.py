"""Replaces parameters by their values, since a text for Spark has none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pinakes.core.names import text_literal
from pinakes.parser.lexer import tokenize
from pinakes.parser.spark.tree import refused


def bound(text: str, values: Mapping[str, Any]) -> str:
    """Returns the planned text with a constant for each `$name`."""
    made, at = [], 0
    for token in tokenize(text):
        if token.kind == "parameter":
            made += [text[at : token.start], _constant(values[token.text.removeprefix("$")])]
            at = token.end
    return "".join([*made, text[at:]])


def _constant(value: Any) -> str:
    """Returns a constant with the type that DataFusion would give it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return f"({value})" if value < 0 else str(value)
        case float():
            return f"CAST({text_literal(repr(value))} AS DOUBLE)"
        case Decimal():
            digits = value.as_tuple()
            scale = max(0, -int(digits.exponent))
            precision = max(len(digits.digits), scale) + max(0, int(digits.exponent))
            return f"CAST({text_literal(format(value, 'f'))} AS DECIMAL({max(precision, 1)}, {scale}))"
        case str():
            return text_literal(value)
        case datetime():
            if value.tzinfo is not None:
                raise refused("a parameter with a time zone")
            return f"CAST({text_literal(value.isoformat(sep=' '))} AS TIMESTAMP)"
        case date():
            return f"CAST({text_literal(value.isoformat())} AS DATE)"
    raise refused(f"a parameter of type {type(value).__name__}")
