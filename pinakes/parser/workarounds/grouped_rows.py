"""GROUP BY GROUPING SETS (…), (a, b): DataFusion 55 treats the row next to the grouping sets as one value, and
loses its columns; without grouping sets it refuses the row. In SQL it is the list of its columns.

    GROUP BY (a, b), ROLLUP (c)      GROUP BY a, b, ROLLUP (c)
"""

from __future__ import annotations

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, Template


def flatten_groups(node: n.Node, changes: Changes) -> None:
    if not isinstance(node, n.Select):
        return
    for group in node.groups:
        if isinstance(group, n.Row) and len(group.items) > 1 and changes.text[group.start] == "(":
            found: Template = []
            for number, item in enumerate(group.items):
                found += [", " if number else "", item]
            changes.replace(group, found)
