"""Helpers of the rewrite: types of nodes, Spark text in place of a node, and forms that need both."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import expressions as exp

from pinakes.parser.spark import literals
from pinakes.parser.spark import types as t
from pinakes.parser.spark.tree import refused

_DIVISOR_DIGITS = 20
"""Precision of a divisor: Spark derives the scale of a quotient from it, and has all digits that are kept."""


class Writing:
    def __init__(self, types: dict[int, pa.DataType | None], nodes: list[exp.Expr]) -> None:
        self._types = types
        self._kept = nodes
        """All nodes that were ever typed: kept alive, since types are stored by their ids."""
        self.averages: dict[int, tuple[str, str]] = {}
        """Sum and count of averages inside a FILTER or OVER that is not translated yet."""

    def type(self, node: exp.Expr) -> pa.DataType | None:
        return self._types.get(id(node))

    def replace(self, old: exp.Expr, new: exp.Expr) -> None:
        self._kept.append(new)
        if id(new) not in self._types:
            self._types[id(new)] = self.type(old)
        if old.parent is not None:
            old.replace(new)

    def raw(self, template: str, arguments: Sequence[exp.Expr], type: pa.DataType | None = None) -> exp.Var:
        """Returns Spark text with the arguments inserted."""
        texts = [self.text(argument) for argument in arguments]
        found = exp.Var(this=template.format(*texts, all=", ".join(texts)))
        self._kept.append(found)
        if type is not None:
            self._types[id(found)] = type
        return found

    def text(self, node: exp.Expr, *, plain: bool = False) -> str:
        if isinstance(node, exp.Literal) and not node.is_string and not plain:
            node = literals.number(node)
        written = str(node.sql(dialect="spark", identify=True))
        return f"({written})" if isinstance(node, exp.Binary | exp.Neg | exp.Not | exp.Between) else written

    def unify(self, nodes: Sequence[exp.Expr], type: pa.DataType | None) -> None:
        """Casts all nodes to one type, where Spark would choose another than DataFusion."""
        types = [self.type(node) for node in nodes]
        if type is None:
            raise refused("CASE or COALESCE of values whose types don't go together")
        if any(map(t.is_decimal, types)) and pa.float32() in types:
            raise refused("a column of decimals and REAL")
        for node, own in zip(nodes, types, strict=True):
            if t.is_float(type) and t.is_decimal(own):
                self.replace(node, self.raw("CAST({0} AS DOUBLE)", [node], type))
            elif t.is_decimal(type) and t.is_decimal(own) and own != type:
                self.replace(node, self.raw(f"CAST({{0}} AS {(t.in_spark(type) or '').upper()})", [node], type))

    def as_text(self, node: exp.Expr) -> exp.Var:
        """Returns a value as text in the format of || and concat."""
        type = self.type(node)
        if t.is_text(type) or t.is_null(type):
            return self.raw("{0}", [node], t.TEXT)
        if not (t.is_integer(type) or t.is_decimal(type) or t.is_date(type)):
            raise refused(f"a text made of {'something' if type is None else type}")
        return self.raw("CAST({0} AS STRING)", [node], t.TEXT)

    def quotient(self, left: exp.Expr, right: exp.Expr, type: pa.DataType) -> exp.Var:
        """Returns a quotient of decimals: rounded to 16 digits after the point if they fit; otherwise with four
        more than the dividend, truncated.
        """
        given = t.as_decimal(self.type(right) or t.LONG)
        divisor = t.decimal(max(given.precision, given.scale + _DIVISOR_DIGITS), given.scale)
        wide = t.in_spark(divisor) or ""
        text = f"({self.text(left)} / CAST({self.text(right)} AS {wide.upper()}))"
        dividend = t.as_decimal(self.type(left) or t.LONG)
        if type.scale <= dividend.scale + t.EXTRA_DIGITS:
            # Digits that are all 9 would be rounded up before they are cut off. Their number is that of the divisor.
            if t.spark_quotient_scale(dividend, divisor) < type.scale + given.precision:
                raise refused("a quotient of decimals with so many digits")
            return self.cut(text, type)
        found = exp.Var(this=f"CAST(round({text}, {type.scale}) AS {(t.in_spark(type) or '').upper()})")
        self._kept.append(found)
        self._types[id(found)] = type
        return found

    def await_average(self, parts: tuple[str, str]) -> exp.Var:
        found = exp.Var(this=parts[0])
        self._kept.append(found)
        self.averages[id(found)] = parts
        return found

    def cut(self, text: str, type: pa.DataType) -> exp.Var:
        step = f"CAST('1E-{type.scale}' AS DECIMAL({type.scale + 1},{type.scale}))"
        found = exp.Var(this=f"CAST(({text} - {text} % {step}) AS {(t.in_spark(type) or '').upper()})")
        self._kept.append(found)
        self._types[id(found)] = type
        return found
