"""What translation does with each node of a tree, and the rules that several dialects share.

A node that is not in `_KNOWN`, and a function that its dialect does not list, is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sqlglot import expressions as exp

from pinakes.parser.faults import Fault
from pinakes.parser.translation.nodes import arguments, call, form, form_of, name_of, number_of, refuse, text_of

Change = Callable[[exp.Expr], exp.Expr | None]
"""Returns what a node is replaced by; None leaves it, as it then is."""
Function = Callable[[exp.Anonymous], exp.Expr | None]


class Dialect(NamedTuple):
    name: str
    title: str
    functions: Mapping[str, Function]
    nodes: Mapping[type[exp.Expr], Change]
    """Changes of nodes that are no calls."""


_KNOWN = frozenset(
    """
    Add Alias Aliases All And Anonymous Any Array AtTimeZone Between BitwiseAnd BitwiseLeftShift BitwiseNot
    BitwiseOr BitwiseRightShift BitwiseXor Boolean Bracket CTE Case Cast Collate Column ColumnDef Cube
    CurrentCatalog CurrentDate CurrentSchema CurrentTimestamp CurrentUser DPipe DataType DataTypeParam Delete
    Distinct Div Dot EQ Escape Except Exists Explode Extract Fetch Filter From GT GTE Group GroupingSets Having
    HexString ILike Identifier If IgnoreNulls In Insert IntDiv Intersect Interval Is JSONExtract JSONExtractScalar
    Join Kwarg LT LTE Lambda Lateral Like Limit LimitOptions Literal Localtimestamp Merge Mod Mul NEQ Neg Not Null
    NullSafeEQ NullSafeNEQ Offset Or Order Ordered Paren Placeholder Pow PropertyEQ Qualify RegexpILike RegexpLike
    RespectNulls Returning Rollup Schema Select Slice Star Struct Sub Subquery Table TableAlias TableSample ToMap
    Tuple Union Unnest Update Values Var Version When Whens Where Window WindowSpec With WithinGroup
    """.split()
)
"""Nodes with the same meaning in all dialects, unless a dialect has a change for them."""


def apply(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """Returns the tree with the rules of its dialect applied, inner nodes first."""
    for node in reversed(list(tree.walk(bfs=False))):
        if type(node).__name__ not in _KNOWN and type(node) not in dialect.nodes and type(node) not in _NODES:
            raise _placed(refuse(f"{_shown(node)} of {dialect.title}"), node)
        try:
            found = _changed(node, dialect)
        except Fault as fault:
            raise _placed(fault, node) from fault
        if found is None or found is node:
            continue
        if node.parent is None:
            tree = found
        else:
            node.replace(found)
    left = next((n for n in tree.find_all(exp.Anonymous) if form_of(n) is None and name_of(n)[:1] == "$"), None)
    if left is not None:  # a part of to_hex(md5(to_utf8(x))) alone
        raise _placed(refuse("to_utf8 or md5 outside of to_hex(md5(to_utf8(x)))"), left)
    return tree


def _changed(node: exp.Expr, dialect: Dialect) -> exp.Expr | None:
    if isinstance(node, exp.Anonymous):
        if form_of(node) is not None:
            return None
        if isinstance(node.parent, exp.Table | exp.Dot):  # a table function, or a function of a catalog
            return None
        rule = dialect.functions.get(name_of(node))
        if rule is None:
            raise refuse(f"the function {name_of(node)} of {dialect.title}")
        return rule(node)
    change = dialect.nodes.get(type(node)) or _NODES.get(type(node))
    return None if change is None else change(node)


def _placed(fault: Fault, node: exp.Expr) -> Fault:
    """Returns the fault at the first name of a node."""
    starts = [start for part in node.walk() if (start := part.meta.get("start")) is not None]
    return Fault(fault.message, min(starts, default=-1), unsupported=True)


def _shown(node: exp.Expr) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()


# --- rules of functions ------------------------------------------------------------------------------------------


def same(names: str) -> dict[str, Function]:
    """Functions with the same name and meaning here."""
    return dict.fromkeys(names.split(), lambda node: None)


def renamed(name: str) -> Function:
    """A function with another name here; DISTINCT and ORDER BY stay."""

    def rule(node: exp.Anonymous) -> exp.Expr | None:
        node.set("this", name)
        return None

    return rule


def forms(*texts: str) -> Function:
    """A function as an expression of ours, one for each number of arguments."""
    by_count = {max((int(at) + 1 for at in re.findall(r"\{(\d+)\}", text)), default=0): text for text in texts}

    def rule(node: exp.Anonymous) -> exp.Expr:
        text = by_count.get(len(node.expressions))
        if text is None:
            raise refuse(f"{name_of(node)} with {len(node.expressions)} arguments")
        _check_plain(node)
        return form(text, *node.expressions)

    return rule


def limited(fewest: int, most: int) -> Function:
    """A function with the same meaning here for this number of arguments."""

    def rule(node: exp.Anonymous) -> None:
        arguments(node, fewest, most)

    return rule


def _check_plain(node: exp.Anonymous) -> None:
    if any(isinstance(value, exp.Distinct | exp.Order | exp.IgnoreNulls) for value in node.expressions):
        raise refuse(f"{name_of(node)} with DISTINCT or ORDER BY")


def strict(name: str) -> Function:
    """greatest and least, which are NULL here only if all arguments are."""

    def rule(node: exp.Anonymous) -> exp.Expr:
        _check_plain(node)
        tests = " OR ".join(f"{{{at}}} IS NULL" for at in range(len(node.expressions)))
        inner = ", ".join(f"{{{at}}}" for at in range(len(node.expressions)))
        return form(f"(CASE WHEN {tests} THEN NULL ELSE {name}({inner}) END)", *node.expressions)

    return rule


def joined(node: exp.Anonymous) -> exp.Expr:
    """concat, which is NULL if an argument is."""
    _check_plain(node)
    if not node.expressions:
        raise refuse("concat without arguments")
    places = " || ".join(f"{{{at}}}" for at in range(len(node.expressions)))
    return form(f"({places})", *node.expressions)


def substring_call(node: exp.Expr) -> exp.Anonymous:
    """Returns SUBSTRING(x FROM 1 FOR 2) as a call."""
    values = (node.this, node.args.get("start") or exp.Literal.number(1), node.args.get("length"))
    return call("substring", *(value for value in values if value is not None))


def part_of_text(zero: int) -> Function:
    """substr, whose negative start counts from the end. A start of 0 is that of `zero`."""

    def rule(node: exp.Anonymous) -> exp.Expr:
        found = arguments(node, 2, 3)
        start, length = number_of(found[1]), number_of(found[2]) if len(found) == 3 else 0
        if start is None or length is None or length < 0:
            raise refuse("substr with a start or a length that is no constant, or a negative length")
        if start >= 0:
            return call("substr", found[0], exp.Literal.number(start or zero), *found[2:])
        if len(found) == 2:
            return form(f"right({{0}}, {-start})", found[0])
        return form(
            f"(CASE WHEN length({{0}}) >= {-start} THEN substr(right({{0}}, {-start}), 1, {length}) "
            f"ELSE substr({{0}}, 1, greatest(length({{0}}) - {-start - length}, 0)) END)",
            found[0],
        )

    return rule


# --- formats of dates --------------------------------------------------------------------------------------------

_MYSQL = {"i": "%M", "s": "%S", "h": "%I", "M": "%B", "W": "%A", "D": None, "T": "%H:%M:%S", "v": "%V", "x": "%G"}
_MYSQL |= {letter: f"%{letter}" for letter in "aYymdHISjbp%"} | {
    "e": "%-d",
    "c": "%-m",
    "k": "%-H",
    "l": "%-I",
    "f": "%6f",
}
_JAVA = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "hh": "%I", "mm": "%M", "ss": "%S", "a": "%p",
    "MMM": "%b", "MMMM": "%B", "EEE": "%a", "E": "%a", "EEEE": "%A", "DDD": "%j", "M": "%-m", "d": "%-d", "H": "%-H",
    "y": "%Y", "SSS": "%3f", "SSSSSS": "%6f",
}  # fmt: skip
_JAVA_PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", re.DOTALL)


def of_mysql(node: exp.Expr | None, *, reading: bool) -> exp.Expr:
    """Returns a format of MySQL and Trino as one of strftime."""
    text = text_of(node)
    if text is None:
        raise refuse("a format that is no constant")

    def found(match: re.Match[str]) -> str:
        letter = match[1]
        made = _MYSQL.get(letter)
        if made is None or (reading and letter in "vxDcekl"):
            raise refuse(f"%{letter} in the format {text!r}")
        return made.replace("%6f", "%f")

    return exp.Literal.string(re.sub(r"%(.?)", found, text, flags=re.DOTALL))


def of_java(node: exp.Expr | None, *, reading: bool) -> exp.Expr:
    """Returns a format of Java and Spark, such as yyyy-MM-dd, as one of strftime."""
    text = text_of(node)
    if text is None:
        raise refuse("a format that is no constant")

    def found(match: re.Match[str]) -> str:
        if match[2] is None:
            return ((match[1].replace("''", "'") or "'") if match[3] is None else match[3]).replace("%", "%%")
        made = _JAVA.get(match[0])
        if made is None or (reading and ("-" in made or made in ("%a", "%A"))):
            raise refuse(f"{match[0]} in the format {text!r}")
        return {"%6f": "%f", "%3f": "%g"}.get(made, made)

    return exp.Literal.string(_JAVA_PART.sub(found, text))


def of_java_groups(node: exp.Expr) -> exp.Expr:
    """Returns the replacement of a regular expression with \\1 in place of Java's $1."""
    text = text_of(node)
    if text is None:
        raise refuse("a replacement that is no constant")
    if "\\" in text or re.search(r"\$(?!\d)", text) or re.search(r"\$\d\d", text):
        raise refuse(f"the replacement {text!r}")
    return exp.Literal.string(re.sub(r"\$(\d)", r"\\\1", text))


def value_at(order: str) -> Function:
    """max_by and min_by, which return NULL if x is NULL in the row with that y."""

    def rule(node: exp.Anonymous) -> exp.Expr:
        if isinstance(node.parent, exp.Filter | exp.Window):
            raise refuse(f"{name_of(node)} with FILTER or OVER")
        _check_plain(node)
        found = arguments(node, 2, 2)
        return form(f"first_value({{0}} ORDER BY {{1}} {order}) FILTER (WHERE {{1}} IS NOT NULL)", *found)

    return rule


SEQUENCE = "generate_series({0}, {1}, CASE WHEN {0} <= {1} THEN 1 ELSE -1 END)"
"""A list of integers that may descend."""


def replace_all(node: exp.Anonymous) -> exp.Expr:
    """regexp_replace of Java, which replaces all matches."""
    text, pattern, *other = arguments(node, 2, 3)
    new = of_java_groups(other[0]) if other else exp.Literal.string("")
    return form("regexp_replace({0}, {1}, {2}, 'g')", text, pattern, new)


XOR = "(({0} | {1}) - ({0} & {1}))"


# --- rules of nodes ----------------------------------------------------------------------------------------------


def plain_division(node: exp.Expr) -> None:
    node.set("typed", True)
    node.set("safe", False)


def float_division(node: exp.Expr) -> None:
    """A division of integers with a fraction."""
    plain_division(node)
    left = node.this
    node.set("this", exp.Cast(this=left, to=exp.DataType(this=exp.DType.DOUBLE)))


def no_escapes(node: exp.Expr) -> None:
    """LIKE without an escape character: here it is the backslash."""
    if isinstance(node.parent, exp.Escape):
        return
    pattern = text_of(node.expression)
    if pattern is None or "\\" in pattern:
        node.set("expression", form("{0} ESCAPE ''", node.expression))


def _interval(node: exp.Expr) -> exp.Expr | None:
    """INTERVAL x DAY of an expression, as x * INTERVAL '1' DAY."""
    value = node.this
    if value is None or (isinstance(value, exp.Literal)):
        if isinstance(value, exp.Literal) and not value.is_string:
            node.set("this", exp.Literal.string(value.name))
        return None
    unit = node.args.get("unit")
    if not isinstance(unit, exp.Var):
        raise refuse("such an INTERVAL")
    return form(f"({{0}} * INTERVAL '1' {unit.name})", value)


def _table(node: exp.Expr) -> None:
    for part in ("pivots", "hints", "changes", "rows_from", "partition", "system_time"):
        if node.args.get(part):
            raise refuse(f"{part.upper()} of a table")


def _arrow(node: exp.Expr) -> None:
    """`x -> 'key'` binds in other ways next to operators: it is refused there unless it is in brackets."""
    parent = node.parent
    loose = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Cast, exp.Bracket)
    if isinstance(parent, loose) and parent.this is node and not isinstance(parent, exp.Cast):
        raise refuse("-> without brackets next to an operator", "put brackets around it")


def _star(node: exp.Expr) -> None:
    if node.args.get("ilike"):
        raise refuse("* LIKE")


def _lateral(node: exp.Expr) -> None:
    if node.args.get("view"):
        raise refuse("LATERAL VIEW", "CROSS JOIN UNNEST(…)")


def _within_group(node: exp.Expr) -> exp.Expr | None:
    """string_agg(x, ',') WITHIN GROUP (ORDER BY y) as string_agg(x, ',' ORDER BY y)"""
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.Anonymous) or name_of(inner) != "string_agg":
        return None
    if len(inner.expressions) != 2 or not isinstance(order, exp.Order):
        raise refuse("listagg without a separator")
    text, separator = inner.expressions
    ordered = exp.Order(this=separator, expressions=list(order.expressions))
    return exp.Anonymous(this="string_agg", expressions=[text, ordered])


def _exists(node: exp.Expr) -> None:
    if not isinstance(node.this, exp.Query):
        raise refuse("exists of a list", "cardinality(filter(list, x -> …)) > 0")


def _limit_options(node: exp.Expr) -> None:
    if node.args.get("percent") or node.args.get("with_ties"):
        raise refuse("FETCH FIRST … PERCENT or WITH TIES")


def _window(node: exp.Expr) -> None:
    if node.args.get("over") not in (None, "OVER"):
        raise refuse(f"{node.args['over']} behind a function")


_NODES: Mapping[type[exp.Expr], Change] = {
    exp.Interval: _interval,
    exp.Exists: _exists,
    exp.WithinGroup: _within_group,
    exp.LimitOptions: _limit_options,
    exp.JSONExtract: _arrow,
    exp.JSONExtractScalar: _arrow,
    exp.BitwiseXor: lambda node: form(XOR, node.this, node.expression),
    exp.Explode: lambda node: call("unnest", node.this),
    exp.Table: _table,
    exp.Star: _star,
    exp.Lateral: _lateral,
    exp.Window: _window,
    exp.Div: plain_division,
    exp.Substring: lambda node: None,
    exp.StrPosition: lambda node: form("strpos({0}, {1})", node.this, node.args["substr"]),
    exp.Trim: lambda node: _trim(node),
    exp.Overlay: lambda node: None,
    exp.TryCast: lambda node: None,
    exp.SubqueryPredicate: lambda node: None,
}


def _trim(node: exp.Expr) -> exp.Expr:
    where = str(node.args.get("position") or "BOTH").upper()
    name = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}[where]
    other = node.expression
    return call(name, node.this, *([other] if other is not None else []))
