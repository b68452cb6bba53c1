"""Rewrites a tree with DataFusion's meaning to the same meaning in Spark, node by node from the leaves up.

Replaced nodes become Spark text, in a node that is printed verbatim. Unknown kinds of nodes are refused, since they
could have another meaning in Spark.
"""

from __future__ import annotations

import re

import pyarrow as pa
from sqlglot import expressions as exp

from pinakes.parser.spark import calls, literals
from pinakes.parser.spark import types as t
from pinakes.parser.spark.infer import ARITHMETIC, Inference, cast_type
from pinakes.parser.spark.tree import name_of, refused
from pinakes.parser.spark.writing import Writing

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_AS_THEY_ARE = (
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset),
    *(exp.With, exp.CTE, exp.Subquery, exp.Table, exp.TableAlias, exp.Identifier, exp.Column, exp.Star, exp.Alias),
    *(exp.Union, exp.Intersect, exp.Except, exp.Values, exp.Tuple, exp.Distinct, exp.Rollup, exp.Cube),
    *(exp.GroupingSets, exp.Window, exp.WindowSpec, exp.Filter, exp.Paren, exp.Neg, exp.Not, exp.And, exp.Or, exp.Is),
    *(exp.Null, exp.Boolean, exp.Exists, exp.If, exp.DataType, exp.DataTypeParam, exp.Var, exp.Like, exp.ILike),
    *(exp.Escape, exp.Literal, exp.Interval, exp.Paren, exp.CurrentDate, exp.CurrentTimestamp),
)
_COUNTED = ("year", "month", "week", "day")
"""Units that keep a date a date."""
_NEGATED_DIGITS = 34
"""Digits that Spark keeps when it negates a decimal."""
_UNITS = (*_COUNTED, "hour", "minute", "second")


def rewrite(tree: exp.Expr, inference: Inference) -> exp.Expr:
    nodes = list(tree.walk(bfs=False))
    writing = Writing({id(node): inference.of(node) for node in nodes}, nodes)
    _check_sets(nodes, inference)
    _check_lists(nodes)
    for node in reversed(nodes):
        new = _written(node, writing)
        if new is not node:
            tree = new if node is tree else tree
            writing.replace(node, new)
    return tree


def _written(node: exp.Expr, writing: Writing) -> exp.Expr:
    operator = ARITHMETIC.get(type(node))
    if operator is not None:
        return _arithmetic(operator, node, writing)
    match node:
        case exp.Literal():
            return literals.written(node)
        case exp.Anonymous():
            return calls.written(node, writing)
        case exp.Filter() | exp.Window():
            return calls.around_average(node, writing)
        case exp.Cast():
            return _cast(node, writing)
        case exp.Neg():
            return _negated(node, writing)
        case exp.Interval():
            return _interval(node)
        case exp.DPipe():
            return _joined(node, writing)
        case exp.Extract():
            return calls.part(str(node.name).lower(), node.expression, writing)
        case exp.Substring():
            arguments = [node.this, node.args.get("start"), node.args.get("length")]
            return calls.of("substr", [a for a in arguments if a is not None], writing)
        case exp.StrPosition():
            if node.args.get("position") or node.args.get("occurrence"):
                raise refused("POSITION with more than two arguments")
            return calls.of("strpos", [node.this, node.args["substr"]], writing)
        case exp.Trim():
            return _trim(node, writing)
        case exp.RegexpLike():
            return calls.of("regexp_like", [node.this, node.expression], writing)
        case exp.Case():
            return _case(node, writing)
        case exp.Between():
            _compared([node.this, node.args["low"], node.args["high"]], writing)
            return node
        case exp.In():
            return _in(node, writing)
    if isinstance(node, _COMPARISONS):
        _compared([node.left, node.right], writing)
        return node
    _check(node)
    return node


def _check(node: exp.Expr) -> None:
    if type(node) not in _AS_THEY_ARE:
        raise refused(f"the form {type(node).__name__}")
    if isinstance(node, exp.Select) and (node.args.get("distinct") and node.args["distinct"].args.get("on")):
        raise refused("DISTINCT ON")
    if isinstance(node, exp.Select) and (node.args.get("laterals") or node.args.get("qualify")):
        raise refused("LATERAL or QUALIFY")
    if isinstance(node, exp.WindowSpec) and str(node.args.get("kind")).upper() == "GROUPS":
        raise refused("a window frame with GROUPS")
    if isinstance(node, exp.With) and node.args.get("recursive"):
        raise refused("WITH RECURSIVE")
    if isinstance(node, exp.Join) and str(node.args.get("method") or ""):
        raise refused(f"a {node.args['method']} JOIN")


def _check_sets(nodes: list[exp.Expr], inference: Inference) -> None:
    """Refuses set operations on types that the engines combine differently."""
    for node in nodes:
        if isinstance(node, exp.SetOperation):
            pairs = zip(inference.outputs(node.left), inference.outputs(node.right), strict=False)
            for left, right in pairs:
                if not _alike(left, right) or not t.is_exact([left, right]):
                    raise refused(f"{type(node).__name__.upper()} of columns of different types")


def _check_lists(nodes: list[exp.Expr]) -> None:
    """Refuses string_agg combined with an aggregate of DISTINCT values, which the optimizer of Spark 4.1 can't plan."""
    calls = [node for node in nodes if isinstance(node, exp.Anonymous)]
    distinct = {id(c.parent_select) for c in calls if any(isinstance(a, exp.Distinct) for a in c.expressions)}
    if any(name_of(call) == "string_agg" and id(call.parent_select) in distinct for call in calls):
        raise refused("string_agg next to an aggregate of DISTINCT values")


def _alike(left: pa.DataType | None, right: pa.DataType | None) -> bool:
    if left is None or right is None:
        return False
    return (
        left == right
        or t.is_null(left)
        or t.is_null(right)
        or any(kind(left) and kind(right) for kind in (t.is_integer, t.is_decimal, t.is_float, t.is_text, t.is_moment))
    )


# --- arithmetic ------------------------------------------------------------------------------------------------------


def _arithmetic(operator: str, node: exp.Expr, writing: Writing) -> exp.Expr:
    left, right = node.left, node.right  # type: ignore[attr-defined]
    types = writing.type(left), writing.type(right)
    _check_nesting(node, left, right)
    if isinstance(right.unnest(), exp.Var) and right.unnest().name.startswith("INTERVAL"):
        return _moved(operator, node, types[0], right)
    if operator == "-" and t.is_date(types[0]) and t.is_date(types[1]):
        return writing.raw("CAST(datediff({0}, {1}) AS BIGINT)", [left, right])
    if operator in "+-" and t.is_date(types[0]) and t.is_integer(types[1]):
        return writing.raw(f"date_{'add' if operator == '+' else 'sub'}({{0}}, CAST({{1}} AS INT))", [left, right])
    result = writing.type(node)
    if result is None or not all(t.is_number(type) or t.is_null(type) for type in types):
        raise refused(f"{operator} of values whose types are not plain numbers")
    if t.is_float(result):
        for one, type in ((left, types[0]), (right, types[1])):
            if t.is_decimal(type):
                writing.replace(one, writing.raw("CAST({0} AS DOUBLE)", [one]))
    if operator != "/" or t.is_float(result) or any(t.is_null(type) for type in types):
        return node
    left, right = node.left, node.right  # type: ignore[attr-defined]
    if t.is_integer(result):
        return writing.raw("({0} DIV {1})", [left, right], result)
    return writing.quotient(left, right, result)


def _negated(node: exp.Neg, writing: Writing) -> exp.Expr:
    """Translates the negation of a decimal: Spark rounds it to 34 digits, but differences are exact."""
    type = writing.type(node.this)
    if type is None or not t.is_decimal(type) or type.precision <= _NEGATED_DIGITS:
        return node
    return writing.raw("(0BD - {0})", [node.this], type)


def _check_nesting(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> None:
    """Refuses || and arithmetic in one expression, since parsers differ in their precedence."""
    if isinstance(left, exp.DPipe) or isinstance(right, exp.DPipe):
        raise refused("|| next to arithmetic without brackets")


def _moved(operator: str, node: exp.Expr, type: pa.DataType | None, interval: exp.Expr) -> exp.Expr:
    """Translates a date or timestamp plus or minus an interval."""
    unit = interval.unnest().name.split()[-1].lower()
    if operator not in "+-" or not (t.is_date(type) or t.is_moment(type)):
        raise refused("an interval with an operand that is not a date")
    if t.is_date(type) and unit not in _COUNTED:
        raise refused(f"a date {operator} {unit}s")
    return node


def _interval(node: exp.Interval) -> exp.Expr:
    unit = str(node.args["unit"].name if node.args.get("unit") else "").lower().removesuffix("s")
    value = node.this
    if not isinstance(value, exp.Literal) or unit not in _UNITS:
        raise refused("an interval that is not a whole number of one unit")
    if not value.name.strip().lstrip("+-").isdigit():
        raise refused("an interval that is not a whole number of one unit")
    return exp.Var(this=f"INTERVAL '{int(value.name)}' {unit.upper()}")


# --- comparisons -----------------------------------------------------------------------------------------------------


_OTHER_UUID = re.compile(
    r"(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$)\{?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?"
)
"""A uuid in another form than the canonical one: Spark compares it as a text."""


_CONSTANT = re.compile(r"-?\d+L?")
"""An integer in Spark's syntax."""


def _compared(nodes: list[exp.Expr], writing: Writing) -> None:
    """Gives compared values the common type that DataFusion gives them."""
    types = [writing.type(node) for node in nodes]
    for node in nodes:
        if isinstance(node, exp.Literal) and node.is_string and _OTHER_UUID.fullmatch(node.name.strip()):
            raise refused("a comparison with a uuid that is not written in lower case with four hyphens")
        if isinstance(node, exp.Predicate | exp.DPipe) and not isinstance(node, exp.Subquery | exp.Exists):
            raise refused("a comparison next to another operator without brackets")
    if any(map(t.is_text, types)) and any(map(t.is_number, types)):
        raise refused("a comparison of a text with a number")
    if any(type is None for type in types) and any(t.is_text(x) or t.is_decimal(x) for x in types):
        raise refused("a comparison with a value whose type is not known")
    calls.check_exact([node for node in nodes if not _CONSTANT.fullmatch(node.name)], writing)
    for node, type in zip(nodes, types, strict=True):
        if t.is_float(type) and isinstance(node, exp.Column):
            # Iceberg on Spark prunes files by bounds that ignore NaN and the equality of -0.0 and 0.0.
            writing.replace(node, writing.raw("nanvl({0}, {0})", [node], type))
        elif t.is_decimal(type) and type is not None and not isinstance(node, exp.Column):
            _check_range(type, [x for n, x in zip(nodes, types, strict=True) if not _CONSTANT.fullmatch(n.name)])


def _check_range(constant: pa.DataType, others: list[pa.DataType | None]) -> None:
    """Refuses comparisons of an integer with a decimal constant out of its range: Spark does not evaluate them, not
    even for NULL.
    """
    digits = [len(str(2 ** (other.bit_width - 1))) for other in others if other is not None and t.is_integer(other)]
    if digits and constant.precision - constant.scale >= min(digits):
        raise refused("a comparison of an integer with a decimal of more digits")


def _in(node: exp.In, writing: Writing) -> exp.Expr:
    query = node.args.get("query")
    if query is not None:
        types = writing.type(node.this), writing.type(query)
        if not _alike(*types) or not t.is_exact(types):
            raise refused("IN with a query of another type")
        return node
    if not node.expressions:
        raise refused("IN with a right side that is not a list")
    members = [writing.type(member) for member in (node.this, *node.expressions)]
    if any(map(t.is_decimal, members)) and pa.float32() in members:
        raise refused("IN with decimals and REAL")
    _compared([node.this, *node.expressions], writing)
    return node


def _case(node: exp.Case, writing: Writing) -> exp.Expr:
    if node.this is not None:
        _compared([node.this, *(when.this for when in node.args["ifs"])], writing)
    branches = [when.args["true"] for when in node.args["ifs"]]
    if node.args.get("default") is not None:
        branches.append(node.args["default"])
    writing.unify(branches, writing.type(node))
    return node


# --- text ------------------------------------------------------------------------------------------------------------


def _joined(node: exp.DPipe, writing: Writing) -> exp.Expr:
    for side in (node.left, node.right):
        if type(side) in ARITHMETIC:
            raise refused("|| next to arithmetic without brackets")
        if not t.is_text(writing.type(side)):
            writing.replace(side, writing.as_text(side))
    return node


def _trim(node: exp.Trim, writing: Writing) -> exp.Expr:
    characters, where = node.expression, str(node.args.get("position") or "BOTH").upper()
    if not t.is_text(writing.type(node.this)):
        raise refused("TRIM of a value that is not text")
    if characters is None:
        return writing.raw(f"trim({where} ' ' FROM {{0}})", [node.this], t.TEXT)
    if not isinstance(characters, exp.Literal) or not characters.name:
        raise refused("TRIM of characters that are not given as a constant")
    return writing.raw(f"trim({where} {{0}} FROM {{1}})", [characters, node.this], t.TEXT)


def _cast(node: exp.Cast, writing: Writing) -> exp.Expr:
    wanted, given = cast_type(node.to), writing.type(node.this)
    name = None if wanted is None else t.in_spark(wanted)
    if wanted is None or name is None:
        raise refused(f"a cast to {node.to.sql()}")
    if given is None:
        raise refused("a cast of a value whose type is not known")
    _check_cast(given, wanted)
    if isinstance(node.this, exp.Literal) and node.this.is_string and t.is_moment(wanted):
        literals.check_moment(node.this.name)
    if t.is_integer(wanted) and t.is_decimal(given):
        return writing.raw(f"CAST(round({{0}}, 0) AS {name.upper()})", [node.this], wanted)
    if t.is_integer(wanted) and t.is_float(given):
        return writing.raw(f"CAST(rint({{0}}) AS {name.upper()})", [node.this], wanted)
    form = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    if form == "CAST" and t.is_decimal(wanted) and t.is_float(given):  # Spark returns NULL for an infinity
        outside = "CASE WHEN NOT abs({0}) < double('Infinity') THEN raise_error('out of range') ELSE {0} END"
        return writing.raw(f"CAST({outside} AS {name.upper()})", [node.this], wanted)
    return writing.raw(f"{form}({{0}} AS {name.upper()})", [node.this], wanted)


def _check_cast(given: pa.DataType, wanted: pa.DataType) -> None:
    if t.is_null(given) or given == wanted:
        return
    as_text = (t.is_text, t.is_integer, t.is_decimal, t.is_date, pa.types.is_boolean)
    if t.is_text(wanted) and not any(kind(given) for kind in as_text):
        raise refused(f"a cast of {given} to text")
    if pa.types.is_boolean(wanted) or (pa.types.is_boolean(given) and not t.is_text(wanted)):
        raise refused(f"a cast of {given} to {wanted}")
    if (t.is_date(given) or t.is_moment(given)) and not (t.is_text(wanted) or t.is_date(wanted) or t.is_moment(wanted)):
        raise refused(f"a cast of {given} to {wanted}")
    if t.is_number(given) and (t.is_date(wanted) or t.is_moment(wanted)):
        raise refused(f"a cast of {given} to {wanted}")
