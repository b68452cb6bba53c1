"""The order in which tables are joined: from each table on, always the next that leaves the fewest rows; then the best.

DataFusion joins the tables of a FROM clause as they are written, each as soon as a condition connects it to those
before. An order is worth changing when much less is expected of another: estimates are no more than that.
"""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.engine.planning.optimize.sizes import Sizes

MUCH_LESS = 0.7
"""Of the cost of the order as written."""
BUILT = 1.0
"""The cost of a row of the smaller side of a join, relative to a row of the result."""

Order = tuple[int, ...]


def better_order(sizes: Sizes) -> Order | None:
    """None if the order as written is as good as any."""
    written = _as_written(sizes)
    best = min((_from(start, sizes) for start in range(len(sizes.tables))), key=lambda found: found[0])
    return best[1] if best[0] < MUCH_LESS * _cost(written, sizes) else None


def _as_written(sizes: Sizes) -> Order:
    """As DataFusion takes them."""
    order, left = [0], list(range(1, len(sizes.tables)))
    while left:
        before = frozenset(order)
        following = next((t for t in left if sizes.connects(before, t)), left[0])
        left.remove(following)
        order.append(following)
    return tuple(order)


def _cost(order: Iterable[int], sizes: Sizes) -> float:
    first, *others = order
    cost, rows, before = 0.0, sizes.tables[first].rows, frozenset({first})
    for table in others:
        joined = sizes.joined(rows, before, table)
        cost += joined + BUILT * min(rows, sizes.tables[table].rows)
        rows, before = joined, before | {table}
    return cost


def _from(start: int, sizes: Sizes) -> tuple[float, Order]:
    """The cost of the order that begins with a table; infinite where it would join what nothing connects."""
    order, left = [start], set(range(len(sizes.tables))) - {start}
    rows = sizes.tables[start].rows
    while left:
        before = frozenset(order)
        near = [t for t in sorted(left) if sizes.connects(before, t)]
        if not near:
            return float("inf"), ()
        rows, following = min((sizes.joined(rows, before, t), t) for t in near)
        left.remove(following)
        order.append(following)
    return _cost(order, sizes), tuple(order)
