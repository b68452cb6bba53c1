"""Refuses plans in which DataFusion 55 applies a predicate to the wrong column.

Above a right join it pushes predicates down by name: `a RIGHT JOIN b … WHERE a.v IS NULL` becomes `b.v IS NULL`, if b
has a `v`, and rows of b are lost (apache/datafusion#25263). A full join becomes a right one when a predicate needs a
row of the right side. Dynamic filters of joins and of ORDER BY … LIMIT have the same defect (#25296): `planner.py`
plans without them where relations have columns of the same name.

For NOT IN (SELECT …), a NULL among the values means that no row qualifies. Where the subquery is correlated, DataFusion
counts a NULL anywhere, also among values of other rows: that is refused, too.

A list of values with zero in it does not match -0.0, which equals zero. `parser/workarounds/in_lists.py` rewrites most
of these; what remains in the optimised plan, such as a list made of several OR, is refused. So is an order or a window
over GROUPING SETS of which one column is constant by a predicate that `grouped_constants.py` did not see.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import NotSupportedError

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

_MAY_GO_ASTRAY = re.compile(r"\b(?:RIGHT|FULL|NOT|IN|OR|ANY|SOME|ROLLUP|CUBE|GROUPING)\b", re.IGNORECASE)
_SCANNED = re.compile(r"TableScan: .*? projection=\[(.*?)\](?:, |$)")
_NAMED = re.compile(r" AS ([^\s,]+)")
_NOT_IN_PER_ROW = re.compile(r"LeftAnti Join: (?:.* Filter: .*|.+ = .+, .+ = .+) null_aware$")

_ZERO_IN_LIST = re.compile(r"(?<!\+ Float64\(0\)) (?:NOT )?IN \(\[[^\]]*\bFloat(?:16|32|64)\(-?0\)")

_SETS = re.compile(r"Aggregate: groupBy=\[\[.*?\b(?:ROLLUP|CUBE|GROUPING SETS) (\(.*\))\]\], aggr=")
_IN_ORDER = ("Sort:", "WindowAggr:")


class _Node(NamedTuple):
    depth: int
    text: str


def may_go_astray(sql: str) -> bool:
    """Whether a look at the plan is needed."""
    return _MAY_GO_ASTRAY.search(sql) is not None


def refuse_astray(optimized: LogicalPlan) -> None:
    """An error if a condition above a right join speaks of a column whose name both sides have, if a NOT IN is about
    other values for each row, if zero is looked for in a list, or if totals of a constant are put in order."""
    lines = optimized.display_indent().splitlines()
    nodes = [_Node(len(line) - len(line.lstrip()), line.lstrip()) for line in lines]
    above: list[_Node] = []
    for at, node in enumerate(nodes):
        above = [n for n in above if n.depth < node.depth]
        conditions = [n.text for n in above if n.text.startswith("Filter:")]
        if conditions and node.text.startswith("Right Join:"):
            _refuse(conditions, _shared_names(nodes, at))
        if _NOT_IN_PER_ROW.match(node.text):
            _refuse_not_in()
        if _ZERO_IN_LIST.search(node.text):
            _refuse_zero()
        if (sets := _SETS.match(node.text)) and any(n.text.startswith(_IN_ORDER) for n in above):
            _refuse_constants(sets[1], [n.text for n in _below(nodes, at)])
        above.append(node)


def refuse_untyped(optimized: LogicalPlan, *, unchecked: bool) -> None:
    """An error if a text whose types were not all known computes something that depends on them: DataFusion compares a
    decimal and a double as DECIMAL(30, 15), and integers wrap around. Where all types are known the text has casts
    (`parser/typed`)."""
    if unchecked:
        raise NotSupportedError(
            "this statement computes with numbers in a form whose types are not known, so that an overflow would not "
            "be noticed: cast them, as in CAST(x AS BIGINT) + 1, or compute with them in a subquery"
        )
    if "AS Decimal128(30, 15))" in optimized.display_indent():
        raise NotSupportedError(
            "a DECIMAL meets a DOUBLE in this statement, which has a form whose types are not known: cast one of them, "
            "as in CAST(x AS DOUBLE)"
        )


def _refuse(conditions: Sequence[str], names: Sequence[str]) -> None:
    for name in names:
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", condition) for condition in conditions):
            raise NotSupportedError(
                f"a condition on the result of this RIGHT or FULL JOIN is not supported, since both sides have a "
                f"column {name}: rows would be lost. Write a LEFT JOIN with the two sides swapped, or give {name} "
                f"another name in a subquery: FROM (SELECT {name} AS {name}_2, … FROM …) AS …"
            )


def _refuse_not_in() -> None:
    raise NotSupportedError(
        "NOT IN (SELECT …) is not supported where the subquery refers to the row around it and its values may be NULL: "
        "rows would be lost. Write <> ALL (SELECT …), or NOT EXISTS (SELECT 1 FROM … WHERE … AND value = x), for which "
        "NULLs do not count"
    )


def _refuse_zero() -> None:
    raise NotSupportedError(
        "a floating point number is compared with several values, one of them 0, which -0.0 would not be found equal "
        "to. Write x + 0.0 IN (…), in which there is no -0.0"
    )


def _refuse_constants(keys: str, below: Sequence[str]) -> None:
    for key in set(re.findall(r"\w+(?=[,)])", keys)):
        constant = re.compile(rf'\b{re.escape(key)} = \w+\((?:"[^"]*"|[^()]*)\)(?! IS TRUE)')
        if any(constant.search(text) for text in below):
            raise NotSupportedError(
                "an order or a window over GROUPING SETS, ROLLUP or CUBE is not supported where a condition makes "
                f"{key} constant, since the NULL of the totals would not be seen. Write that condition as "
                f"({key} = …) IS TRUE"
            )


def _shared_names(nodes: Sequence[_Node], join: int) -> list[str]:
    """The names that are given more than once below a join."""
    found = Counter(name for node in _below(nodes, join) for name in _names(node.text))
    return [name for name, times in found.items() if times > 1]


def _below(nodes: Sequence[_Node], at: int) -> Iterator[_Node]:
    for node in nodes[at + 1 :]:
        if node.depth <= nodes[at].depth:
            return
        yield node


def _names(text: str) -> set[str]:
    scanned = _SCANNED.match(text)
    return set(scanned[1].split(", ")) if scanned is not None else set(_NAMED.findall(text))
