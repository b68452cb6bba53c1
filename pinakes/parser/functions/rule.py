"""The description of a function and the rewrite of its calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import Value
from pinakes.parser.workarounds.writing import Changes, Template, all_below, is_repeatable, operand

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Arguments = Sequence[tuple[n.Node, Value]]
Write = Callable[[n.Call, Changes], None]
Typed = Callable[["Writer", n.Call, Arguments, Arguments], Value | None]

_PLACE = re.compile(r"\{(\d+)\}")
_MOST_NESTED = 4
"""Calls within an argument that is duplicated: each may duplicate its own."""
_LONGEST = 300
"""Maximum characters of an argument that is duplicated."""


class Rule(NamedTuple):
    """A function. `write` is its rewrite if that does not depend on types, `typed` if it does."""

    syntax: str
    takes: str
    """The types of its arguments."""
    returns: str
    description: str
    example: str
    """A query that returns one value."""
    write: Write | None = None
    typed: Typed | None = None
    kind: str = "scalar"
    deterministic: bool = True


def template(*forms: str) -> Write:
    """Returns a rewrite to the form that takes as many arguments: `{0}` is the first of them."""
    by_count = {max((int(at) + 1 for at in _PLACE.findall(form)), default=0): form for form in forms}

    def write(call: n.Call, changes: Changes) -> None:
        check_plain(call)
        form = by_count.get(len(call.arguments))
        if form is None:
            counts = " or ".join(map(str, sorted(by_count)))
            raise InvalidArgument(f"{call.name} takes {counts} arguments, not {len(call.arguments)}")
        changes.replace(call, filled(call, form, call.arguments))

    return write


def filled(call: n.Call, form: str, arguments: Sequence[n.Node]) -> Template:
    """Returns the parts of a form, with nodes in its places."""
    found: Template = []
    places = _PLACE.split(form)
    for at, part in enumerate(places):
        if at % 2:
            argument = arguments[int(part)]
            if places[1::2].count(part) > 1:
                check_repeated(call, argument)
            found += operand(argument)
        else:
            found.append(part)
    return found


def check_plain(call: n.Call) -> None:
    """Refuses the clauses of aggregates, and arguments by name."""
    if call.named:
        raise NotSupportedError(f"arguments of {call.name} by name are not supported: write them in their order")
    if call.over or call.distinct or call.others:
        raise InvalidArgument(
            f"{call.name} is not an aggregate: DISTINCT, ORDER BY, FILTER and OVER do not apply to it"
        )


def check_repeated(call: n.Call, argument: n.Node) -> None:
    """Refuses an argument that can't be duplicated in the text."""
    nested = sum(isinstance(part, n.Call) for part in all_below(argument))
    if nested > _MOST_NESTED or argument.end - argument.start > _LONGEST or not is_repeatable(argument):
        raise NotSupportedError(
            f"{call.name} of such an argument is not supported: compute the argument in a subquery first"
        )


def renamed(name: str) -> Write:
    """Returns a rewrite to a function of another name with the same clauses."""
    return lambda call, changes: changes.rename(call, name)


def constant(writer: Writer, node: n.Call, argument: n.Node, what: str) -> str:
    """Returns the value of an argument that must be a constant text."""
    if not isinstance(argument, n.Text) or writer.source[argument.start] != "'":
        raise NotSupportedError(f"{node.name} takes {what} as a constant text only")
    return argument.value
