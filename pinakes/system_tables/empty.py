"""Tables without rows, which exist for clients that query them: they have the expected columns."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable, none


def nothing(_: Request) -> Iterable[object]:
    return ()


def empty(name: str, doc: str, columns: str) -> SystemTable[object]:
    """Returns a table without rows. Columns are given as words; a suffix `:n` makes a column a number, all others are
    strings.
    """
    declared: list[Column[object]] = [
        Column(
            word.removesuffix(":n"),
            NUMBER if word.endswith(":n") else TEXT,
            "Not used; the table has no rows",
            none,
        )
        for word in columns.split()
    ]
    return SystemTable(name, f"{doc} It has no rows, because Pinakes has none.", tuple(declared), nothing)
