"""Subqueries that refer to the row around them, of forms that DataFusion 55 answers with wrong rows: refused.

It makes a join of such a subquery and takes the conditions on the row around it out, past whatever stands between.
An aggregate without groups gives a row also where nothing matches, which the join does not have: for a scalar subquery
it is put in, unless HAVING or another operator stands above it; for EXISTS and IN it is not. A window or an OFFSET
would count the rows of all, an outer join would lose those without a partner. A condition that says the same as NOT IN
itself is left out, and then a NULL among all values counts. Columns of one name, of several tables within, are taken
one for the other when one of them is compared with the row around. A constant that NOT IN is about becomes a condition
on the values, which takes the NULLs away.

Texts that `parser/workarounds` can't read are looked at here, too: what it would have rewritten is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pinakes.core.errors import NotSupportedError

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

Kind = Literal["EXISTS", "IN", "scalar", "LATERAL"]

_SUBQUERY = re.compile(r"(EXISTS |IN |ANY |ALL )?\(<subquery>\)")
_IN = re.compile(r"(\S+) (?:NOT )?IN \(<subquery>\)")
_IN_SUBQUERY = re.compile(r" (NOT )?IN \(<subquery>\)( IS )?")
_NOT = re.compile(r"(?<!IS )\bNOT (?!IN |BETWEEN |LIKE |ILIKE )")
_OPERAND_STARTS = (" AND ", " OR ", " WHEN ", " THEN ", " ELSE ", "NOT ", ": ")
_EQUAL = re.compile(r"[\w.\"$]+ = outer_ref\([\w.\"$]+\)|outer_ref\([\w.\"$]+\) = [\w.\"$]+")
_OUTER_REF = re.compile(r"outer_ref\([^()]*\)")
_QUALIFIED = re.compile(r'(?:[\w$"]+\.)+[\w$"]+')
_OUTER_JOIN = re.compile(r"(Left|Right|Full) Join: ")
_HALF_JOIN = re.compile(r"(LeftSemi|LeftAnti|RightSemi|RightAnti) Join: ")
_GROUPS = re.compile(r"Aggregate: groupBy=\[\[(.*?)\]\], aggr=\[\[(.*)\]\]$")
_SETS = re.compile(r"\b(?:ROLLUP|CUBE|GROUPING SETS) \(")
_LITERAL = re.compile(r'\b[A-Z]\w*\((?:[^()"]*|"[^"]*")\)')
_TEXT = re.compile(r'"[^"]*"')
_VALUE = re.compile(r"\b(?!CAST|TRY_CAST)[A-Z]\w*\([^()]*\)")
_NAME = re.compile(r"[\w\"]\.[\w\"]|(?<![\w$])[a-z_$][\w$]*+(?!\()|count\(")
"""A column, also one that has no table's name before it."""
_COLUMN = re.compile(r'[\w"]\.[\w"]')
_STRUCTS = re.compile(r"struct\(.*\) (?:[=<>!]+|IN|NOT IN|BETWEEN|NOT BETWEEN) \(*\[?(?:named_)?struct\(")
_ANY = re.compile(r"array_has\(")


@dataclass(slots=True, eq=False)
class _Node:
    text: str
    depth: int
    parent: _Node | None = None
    below: list[_Node] = field(default_factory=list)

    @property
    def is_subquery(self) -> bool:
        return self.text == "Subquery:"

    def own(self) -> Iterator[_Node]:
        """All below it, without what is in other subqueries."""
        for node in self.below:
            if not node.is_subquery:
                yield node
                yield from node.own()


def refuse_unsound_subqueries(planned: LogicalPlan) -> None:
    """An error if a subquery of the plan, as it is before it is optimised, would be answered wrongly."""
    for node in _nodes(planned):
        if _has_constant_not_in(node.text):
            raise NotSupportedError(
                "NOT IN (SELECT …) after a constant is not supported, since a NULL among the values would not be seen: "
                "write NOT EXISTS (SELECT … WHERE …)"
            )
        _check_filtered(node)
        if not node.is_subquery:
            continue
        kind, places = _kind(node), [place for place in node.own() if "outer_ref(" in place.text]
        for place in places:
            _check(node, place, kind)
            _check_not_in(node, place)
        _check_names(places, kind)


def _has_constant_not_in(text: str) -> bool:
    """Returns whether NOT IN (SELECT …) may have an operand without columns. A subquery may be a constant, and NOT may
    stand far before IN: the text of a plan has no parentheses.
    """
    if "IN (<subquery>)" not in text:
        return False
    text = _TEXT.sub("", text)
    first = _NOT.search(text)
    for found in _IN_SUBQUERY.finditer(text):
        if not found[1] and not found[2] and (first is None or first.start() > found.start()):
            continue
        depth, at = 0, found.start()
        while at > 0:
            depth += (text[at - 1] == ")") - (text[at - 1] == "(")
            if depth < 0 or (depth == 0 and text.endswith((*_OPERAND_STARTS, ", "), 0, at)):
                break
            at -= 1
        operand = text[at : found.start()].replace("(<subquery>)", "")
        if not _NAME.search(_VALUE.sub("", operand)):
            return True
    return False


def refuse_unread(planned: LogicalPlan) -> None:
    """An error if the plan of a text that can't be rewritten has something in it that would have to be."""
    for node in _nodes(planned):
        if _STRUCTS.search(node.text):
            _refuse("a comparison of rows, (a, b) < (1, 2)", "compare their columns one by one")
        if node.is_subquery and _kind(node) == "scalar" and not _has_a_row(node):
            _refuse("a scalar subquery without an aggregate", "write max(…) in it")
        groups = _GROUPS.match(node.text)
        if groups is None or (groups[1] and not _SETS.search(groups[1])):
            continue
        for above in _above(node):
            if above.text.startswith("Limit:"):
                break
            if above.text.startswith("Filter:") or (" Join: " in above.text and "Filter:" in above.text):
                _refuse(
                    "a condition on an aggregate without GROUP BY", "put the aggregate into a subquery with LIMIT 1"
                )


def _refuse(what: str, instead: str) -> None:
    raise NotSupportedError(
        f"{what} is not supported in a statement of this form, since DataFusion would answer it wrongly: {instead}"
    )


def _check_filtered(node: _Node) -> None:
    """What `parser/workarounds/constant_sums.py` does not write otherwise: the value of the aggregate below, if it is
    known without reading, would be put in place of that with the FILTER."""
    groups = _GROUPS.match(node.text)
    if groups is None or groups[1] or " FILTER (WHERE " not in groups[2]:
        return
    while len(node.below) == 1:
        node = node.below[0]
        groups = _GROUPS.match(node.text)
        if groups is not None and not groups[1]:
            raise NotSupportedError(
                "FILTER over a subquery that is an aggregate without GROUP BY is not supported with this aggregate, "
                "since DataFusion would answer it wrongly: put the condition into WHERE"
            )


def _has_a_row(subquery: _Node) -> bool:
    """Whether it is an aggregate without groups, and no condition or LIMIT on it."""
    for node in subquery.own():
        if groups := _GROUPS.match(node.text):
            return not groups[1]
        if not node.text.startswith("Projection:"):
            return node.text == "EmptyRelation: rows=1"
    return False


def _nodes(planned: LogicalPlan) -> list[_Node]:
    found: list[_Node] = []
    path: list[_Node] = []
    for line in planned.display_indent().splitlines():
        text = line.lstrip()
        node = _Node(text, len(line) - len(text))
        while path and path[-1].depth >= node.depth:
            path.pop()
        if path:
            node.parent = path[-1]
            path[-1].below.append(node)
        path.append(node)
        found.append(node)
    return found


def _above(node: _Node) -> Iterator[_Node]:
    while node.parent is not None:
        node = node.parent
        if node.is_subquery:
            return
        yield node


def _kind(subquery: _Node) -> Kind:
    parent = subquery.parent
    assert parent is not None
    marks = _SUBQUERY.findall(parent.text)
    number = [node for node in parent.below if node.is_subquery].index(subquery)
    if not marks:
        return "LATERAL"
    mark = marks[number].strip() if number < len(marks) else "IN"
    return "EXISTS" if mark == "EXISTS" else "IN" if mark else "scalar"


def _check(subquery: _Node, place: _Node, kind: Kind) -> None:
    """`place` refers to the row around the subquery."""
    if _OUTER_JOIN.match(place.text):
        _refuse_form("an outer join whose ON refers to the row around it", "move that condition to WHERE")
    below, path = place, list(_above(place))
    for number, node in enumerate(path):
        _check_between(node, below, place, kind)
        groups = _GROUPS.match(node.text)
        if groups is not None and not groups[1]:
            _check_single_row(path[number + 1 :], groups[2], kind)
        below = node
    if place.text.startswith("Filter:") and any((g := _GROUPS.match(n.text)) and not g[1] for n in place.own()):
        _refuse_having()


def _check_not_in(subquery: _Node, place: _Node) -> None:
    """x NOT IN (SELECT k … WHERE k = x)"""
    assert subquery.parent is not None
    around = subquery.parent.text
    compared = _IN.findall(around) if "NOT" in around else ()
    equal = [part for part in place.text.removeprefix("Filter: ").split(" AND ") if _EQUAL.fullmatch(part)]
    if any(f"outer_ref({operand})" in part for operand in compared for part in equal):
        _refuse_form("a condition on the very value that NOT IN is about", "write NOT EXISTS (SELECT … WHERE …)")


def _check_names(places: list[_Node], kind: Kind) -> None:
    """The columns that are compared with the row around must be the only ones of their names."""
    compared: dict[str, str] = {}
    for place in places:
        for conjunct in place.text.split(" AND "):
            for column in _QUALIFIED.findall(_OUTER_REF.sub("", conjunct)) if "outer_ref(" in conjunct else ():
                if compared.setdefault(_name(column), column) != column:
                    _refuse_names(_name(column))
    for place in places:
        for number, node in enumerate(reversed(list(_above(place)))):
            is_value = kind == "scalar" and number == 0
            if node.text.startswith("Projection: ") and not is_value:
                _check_items(node.text.removeprefix("Projection: "), compared)


def _check_items(items: str, compared: dict[str, str]) -> None:
    for item in _split(items):
        value, _, alias = item.partition(" AS ")
        name = alias.rpartition(" AS ")[2] or _name(value)
        if name in compared and value != compared[name]:
            _refuse_names(name)


def _name(column: str) -> str:
    return column.rpartition(".")[2]


def _refuse_names(name: str) -> None:
    if name.startswith("$"):  # `parser/workarounds/row_values.py` gave it
        _refuse_form("(a, b) IN", "write EXISTS (SELECT 1 FROM … WHERE x = a AND y = b)")
    _refuse_form(
        f"several columns {name}, of which one is compared with that row",
        f"give the others another name: FROM (SELECT {name} AS {name}_2, … FROM …)",
    )


def _is_equal(place: _Node) -> bool:
    """Whether all that refers to the row around is columns that equal something of it."""
    conjuncts = place.text.removeprefix("Filter: ").split(" AND ")
    return all(_EQUAL.fullmatch(part) for part in conjuncts if "outer_ref(" in part)


def _check_between(node: _Node, below: _Node, place: _Node, kind: Kind) -> None:
    """What stands between a reference to the row around and the subquery's top."""
    text, is_right = node.text, node.below.index(below) == len(node.below) - 1
    if text.startswith("WindowAggr:"):
        _refuse_form("a window function", "compute it in a subquery without such a reference, and join that")
    if text.startswith("Limit: ") and not text.startswith("Limit: skip=0,") and kind == "EXISTS":
        _refuse_form("OFFSET", "count the rows: (SELECT count(*) …) > 1")
    if (outer := _OUTER_JOIN.match(text)) and outer[1] != ("Right" if is_right else "Left"):
        _refuse_form("an outer join of a part that refers to the row around it", "move that condition to WHERE")
    if (half := _HALF_JOIN.match(text)) and half[1].startswith("Left") == is_right:
        _refuse_form("EXCEPT or INTERSECT with a part that refers to the row around it", "write [NOT] EXISTS (…)")
    groups = _GROUPS.match(text)
    if kind == "LATERAL" and (text == "Distinct:" or (groups and not groups[2])) and not _is_equal(place):
        _refuse_form("DISTINCT in LATERAL and another condition than equality", "put DISTINCT into the outer query")
    if groups and _SETS.search(groups[1]):
        _refuse_form("GROUPING SETS, ROLLUP or CUBE", "compute them in a subquery without such a reference")


def _check_single_row(above: list[_Node], aggregates: str, kind: Kind) -> None:
    """An aggregate without groups, which always has a row."""
    if kind == "EXISTS":
        _refuse_form("an aggregate without GROUP BY in EXISTS", "write a condition on (SELECT count(*) …)")
    if kind == "IN":
        _refuse_form("an aggregate without GROUP BY in IN, ANY or ALL", "write = (SELECT …)")
    for node in above:
        if node.text.startswith("Filter:"):
            _refuse_having()
        if not node.text.startswith(("Projection:", "SubqueryAlias:")):
            _refuse_form("something on top of an aggregate without GROUP BY", "compute it in the SELECT list")
        if node.text.startswith("Projection:") and _is_constant(node.text, aggregates):
            _refuse_form("an aggregate without GROUP BY whose value is not used", "leave the subquery out")


def _is_constant(projection: str, aggregates: str) -> bool:
    rest = projection.removeprefix("Projection: ")
    for aggregate in _split(aggregates):
        rest = rest.replace(aggregate, "@")
    return "@" not in rest and not _COLUMN.search(_LITERAL.sub("", rest))


def _split(listed: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, char in enumerate(listed):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            yield listed[start:at].strip()
            start = at + 1
    yield listed[start:].strip()


def _refuse_having() -> None:
    _refuse_form("HAVING without GROUP BY", "write CASE WHEN … THEN … END in its SELECT list")


def _refuse_form(what: str, instead: str) -> None:
    raise NotSupportedError(
        f"a subquery that refers to the row around it is not supported with {what}: rows would be wrong. "
        f"Instead, {instead}"
    )
