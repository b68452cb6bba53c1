"""Writes a planned text with replacements for some nodes of its tree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n

Template = list["str | n.Node"]
"""Text, and nodes of the tree, which are written with their own replacements."""

_WORD = re.compile(r"[\w$]+")
_VOLATILE = frozenset({"random", "rand", "uuid", "gen_random_uuid", "uuid_generate_v4", "uuidv4", "uuidv7"})


@dataclass(frozen=True, slots=True)
class Written:
    """A new text with a mapping of its offsets to the old one."""

    text: str
    old: str
    places: tuple[tuple[int, int], ...] = ((0, 0),)
    """(new offset, old offset) at the start of each copied run."""
    tree: n.Query | None = None
    """The tree of the new text, if it is unchanged and was parsed."""

    def behind(self, before: str) -> Written:
        """Returns the same with this text before it."""
        shift = len(before)
        places = tuple((here + shift, there + shift) for here, there in self.places)
        return Written(before + self.text, before + self.old, ((0, 0), *places))

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Returns the 1-based line and column in the old text for a position in the new one."""
        lines = self.text.split("\n")
        offset = sum(len(part) + 1 for part in lines[: line - 1]) + column - 1
        here, there = self.places[max(bisect_right(self.places, (offset, len(self.old))) - 1, 0)]
        before = self.old[: min(there + max(offset - here, 0), len(self.old))]
        return before.count("\n") + 1, len(before) - before.rfind("\n")


class Changes:
    """The replacements in one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._instead: dict[int, Template] = {}
        self._around: dict[int, tuple[str, str]] = {}
        self._names: dict[int, str] = {}

    def replace(self, node: n.Node, template: Template) -> None:
        """Replaces a node. The template may contain parts of the node any number of times."""
        self._instead.setdefault(id(node), template)

    def rename(self, call: n.Call, name: str) -> None:
        """Replaces the name of a function."""
        self._names[id(call)] = name

    def surround(self, node: n.Node, before: str, behind: str) -> None:
        """Writes text around a node."""
        outer = self._around.get(id(node), ("", ""))
        self._around[id(node)] = (before + outer[0], outer[1] + behind)

    def words_behind(self, part: n.Node, node: n.Node) -> list[str]:
        """Returns the words and symbols between a part of a node and the node's end."""
        return [token.word for token in tokenize(self.text[part.end : node.end])]

    def first_word(self, node: n.Node) -> str:
        found = _WORD.match(self.text, node.start)
        return "" if found is None else found[0].upper()

    def write(self, root: n.Query) -> Written:
        if not self._instead and not self._around and not self._names:
            return Written(self.text, self.text, tree=root)
        pieces, places = list[str](), list[tuple[int, int]]()
        length = 0
        ends = (self.text[: root.start], 0), (self.text[root.end :], root.end)
        for piece, place in (ends[0], *self._write(root), ends[1]):
            if place is not None:
                places.append((length, place))
            pieces.append(piece)
            length += len(piece)
        return Written("".join(pieces), self.text, tuple(places))

    def _write(self, node: n.Node) -> Iterator[tuple[str, int | None]]:
        before, behind = self._around.get(id(node), ("", ""))
        yield before, None
        template = self._instead.get(id(node))
        if template is None:
            yield from self._copy(node)
        else:
            for part in template:
                if isinstance(part, str):
                    yield part, None
                else:
                    yield from self._write(part)
        yield behind, None

    def _copy(self, node: n.Node) -> Iterator[tuple[str, int | None]]:
        at = node.start
        name = self._names.get(id(node))
        if name is not None:
            yield name, at
            at = self.text.index("(", at)
        for child in parts_of(node):
            yield self.text[at : child.start], at
            yield from self._write(child)
            at = child.end
        yield self.text[at : node.end], at


def parts_of(node: n.Node) -> Sequence[n.Node]:
    """Returns the children of a node, also queries, in the order of the text."""
    parts = _PARTS.get(type(node))
    return node.children if parts is None else parts(node)


def _of_query(node: n.Query) -> list[n.Node]:
    return [*node.defined, node.body, *node.order, *node.tail]


def _of_select(node: n.Select) -> list[n.Node]:
    clauses = [part for part in (node.where, node.having, node.qualify) if part is not None]
    found = [*node.items, *node.sources, *node.distinct_on, *node.groups, *node.windows, *clauses]
    found.sort(key=_START)
    return found


_START = attrgetter("start")
_PARTS: dict[type[n.Node], Callable[[Any], Sequence[n.Node]]] = {
    n.Query: _of_query,
    n.Select: _of_select,
    n.Defined: lambda node: (node.query,),
    n.SetOperation: lambda node: (node.left, node.right),
    n.Values: lambda node: node.rows,
}


def all_below(node: n.Node) -> Iterator[n.Node]:
    """Yields a node and all nodes in it."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += parts_of(found)


def within_query(node: n.Node) -> Iterator[n.Node]:
    """Yields a node and the nodes in it, except for nested queries."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [part for part in parts_of(found) if not isinstance(part, n.Query)]


def is_repeatable(node: n.Node) -> bool:
    """Returns whether an expression is deterministic for a row."""
    calls = (part.name.lower() for part in all_below(node) if isinstance(part, n.Call))
    return not any(name in _VOLATILE or name.startswith("$") for name in calls)


def bare(node: n.Node) -> n.Node:
    """Returns a node without enclosing parentheses."""
    while isinstance(node, n.Paren):
        node = node.inner
    return node


_ATOMS = (
    n.Column | n.Number | n.Text | n.Null | n.Boolean | n.Parameter | n.Call | n.Paren | n.Case | n.Scalar | n.Array
)


def operand(node: n.Node) -> Template:
    """Returns a node as an operand, in parentheses if necessary."""
    return [node] if isinstance(node, _ATOMS) else ["(", node, ")"]
