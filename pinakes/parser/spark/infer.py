"""Infers the DataFusion type of every expression of a tree, on which the translation depends (7 / 2 is 3, not 3.5).

None is an unknown type. Where a type is needed and unknown, the statement is refused. The types of the result are
compared with the schema that DataFusion planned (`translate.py`), so that a wrong rule here can't silently change a
result.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import expressions as exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from pinakes.parser.spark import types as t
from pinakes.parser.spark.functions import FUNCTIONS, Typing
from pinakes.parser.spark.literals import decimal_of
from pinakes.parser.spark.tree import name_of

Columns = Mapping[str, pa.DataType]

ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_TRUTHS = (exp.Predicate, exp.And, exp.Or, exp.Not, exp.Boolean, exp.Exists, exp.In, exp.Between)
_INTEGERS = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64()}
_NAMED = {
    **_INTEGERS,
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), t.TEXT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ"), t.MOMENT),
    "TIMESTAMPTZ": pa.timestamp("ns", "UTC"),
    "DATE": t.DATE,
    "FLOAT": pa.float32(),
    "DOUBLE": t.DOUBLE,
    "BOOLEAN": t.TRUTH,
}


class Inference:
    """Infers the types of one tree with qualified columns. `tables` has the columns of each table in it."""

    def __init__(self, tree: exp.Expr, tables: Mapping[str, Columns]) -> None:
        self._tables = tables
        self._known: dict[int, pa.DataType | None] = {}
        self._scopes: dict[int, Scope] = {}
        self.scopes = traverse_scope(tree)
        for scope in self.scopes:
            self._scopes[id(scope.expression)] = scope

    def of(self, node: exp.Expr | None) -> pa.DataType | None:
        if node is None:
            return None
        if id(node) not in self._known:
            self._known[id(node)] = None  # a query that reads itself has no type during inference
            self._known[id(node)] = self._of(node)
        return self._known[id(node)]

    def outputs(self, query: exp.Expr) -> list[pa.DataType | None]:
        """Returns the types of a query's columns."""
        if isinstance(query, exp.Subquery):
            return self.outputs(query.this)
        if isinstance(query, exp.SetOperation):
            pairs = zip(self.outputs(query.left), self.outputs(query.right), strict=False)
            return [t.common(left, right) for left, right in pairs]
        if isinstance(query, exp.Values):
            return [
                t.common(*map(self.of, column))
                for column in zip(*(r.expressions for r in query.expressions), strict=True)
            ]
        return [self.of(projection) for projection in query.selects] if isinstance(query, exp.Select) else []

    # --- by kind of node -------------------------------------------------------------------------------------------

    def _of(self, node: exp.Expr) -> pa.DataType | None:
        operator = ARITHMETIC.get(type(node))
        if operator is not None:
            return self._arithmetic(operator, node)
        match node:
            case exp.Column():
                return self._column(node)
            case exp.Literal():
                return t.TEXT if node.is_string else _number(node.name)
            case exp.Null():
                return pa.null()
            case exp.Paren() | exp.Alias() | exp.Neg() | exp.Window() | exp.Filter() | exp.Ordered():
                return self.of(node.this)
            case exp.Distinct():
                return self.of(node.expressions[0]) if node.expressions else None
            case exp.Cast():
                return cast_type(node.to)
            case exp.Case():
                found = [self.of(when.args["true"]) for when in node.args["ifs"]]
                return t.common(*found, *([self.of(node.args["default"])] if node.args.get("default") else []))
            case exp.Anonymous():
                return self._call(node)
            case exp.Extract() | exp.StrPosition():
                return pa.int32()
            case exp.Substring() | exp.Trim() | exp.DPipe():
                return t.TEXT
            case exp.CurrentDate():
                return t.DATE
            case exp.CurrentTimestamp():
                return pa.timestamp("ns", "UTC")
            case exp.Subquery():
                outputs = self.outputs(node)
                return outputs[0] if len(outputs) == 1 else None
            case exp.Select() | exp.SetOperation():
                outputs = self.outputs(node)
                return outputs[0] if len(outputs) == 1 else None
        return t.TRUTH if isinstance(node, _TRUTHS) else None

    def _arithmetic(self, operator: str, node: exp.Expr) -> pa.DataType | None:
        left, right = self.of(node.left), self.of(node.right)  # type: ignore[attr-defined]
        for one, other in ((node.left, right), (node.right, left)):  # type: ignore[attr-defined]
            if isinstance(one.unnest(), exp.Interval):
                return other if t.is_date(other) or t.is_moment(other) else None
        if operator == "-" and t.is_date(left) and t.is_date(right):
            return t.LONG
        if operator in "+-" and t.is_date(left) and t.is_integer(right):
            return t.DATE
        if left is None or right is None:
            return None
        result = t.of_arithmetic(operator, left, right)
        if operator == "/" and t.is_decimal(result) and not (t.is_null(left) or t.is_null(right)):
            return t.quotient(left, right, result, t.whole_digits(left, node.left.unnest()))  # type: ignore[attr-defined]
        return result

    def _call(self, node: exp.Anonymous) -> pa.DataType | None:
        known = FUNCTIONS.get(name_of(node))
        if known is None:
            return None
        arguments = [self.of(argument) for argument in node.expressions]
        if name_of(node) == "round" and t.is_decimal(arguments[0]):
            return _rounded(arguments[0], node.expressions[1] if len(arguments) == 2 else exp.Literal.number(0))
        return known.type(arguments) if isinstance(known.type, Typing) else known.type

    # --- columns ---------------------------------------------------------------------------------------------------

    def _column(self, column: exp.Column) -> pa.DataType | None:
        scope = self._scope_of(column)
        if not column.table and scope is not None:
            return self._output(scope.expression, column.name)
        while scope is not None:
            source = scope.sources.get(column.table)
            if source is not None:
                return self._from(source, column.name, column.table)
            scope = scope.parent
        return None

    def _output(self, query: exp.Expr, name: str) -> pa.DataType | None:
        """Returns the type of a result column that ORDER BY names."""
        names, outputs = getattr(query, "named_selects", ()), self.outputs(query)
        return outputs[names.index(name)] if name in names and len(outputs) == len(names) else None

    def _scope_of(self, node: exp.Expr) -> Scope | None:
        found: exp.Expr | None = node
        while found is not None:
            if id(found) in self._scopes:
                return self._scopes[id(found)]
            found = found.parent
        return None

    def _from(self, source: object, name: str, alias: str) -> pa.DataType | None:
        if isinstance(source, exp.Table):
            return self._tables.get(source.name, {}).get(name)
        if not isinstance(source, Scope):
            return None
        query = source.expression
        if isinstance(query, exp.Values):
            names = [column.name for column in query.args["alias"].columns] if query.args.get("alias") else []
            outputs = self.outputs(query)
            return outputs[names.index(name)] if name in names else None
        return self._output(query, name)


def _number(text: str) -> pa.DataType:
    if text.isdigit():
        return t.LONG
    digits = decimal_of(text)
    return t.DOUBLE if digits is None else pa.decimal128(*digits)


def _rounded(type: pa.DataType | None, digits: exp.Expr) -> pa.DataType | None:
    """Returns the type of round for decimals only: Spark rounds doubles differently."""
    if not t.is_decimal(type) or type is None or not isinstance(digits, exp.Literal) or not digits.name.isdigit():
        return None
    return t.decimal(type.precision, int(digits.name)) if int(digits.name) <= type.scale else None


def cast_type(to: exp.DataType) -> pa.DataType | None:
    """Returns the type that CAST names."""
    name = str(to.this.value if hasattr(to.this, "value") else to.this).upper()
    if name in ("DECIMAL", "NUMERIC"):
        digits = [int(parameter.name) for parameter in to.expressions]
        return t.decimal(*[*digits, 0][:2]) if digits else t.decimal(38, 10)
    return _NAMED.get(name)
