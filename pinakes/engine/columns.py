"""Column references that DataFusion would not find as written: names in mixed case, qualifiers of many parts.

DataFusion folds unquoted identifiers to lower case and knows at most three parts in front of a column. Where a table
has a column that folding would miss, or a reference spells out a nested namespace, the reference is spliced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pinakes.core.names import match, quote
from pinakes.engine.relation import Relation
from pinakes.engine.splice import Edit

if TYPE_CHECKING:
    from pinakes.parser.statements import ColumnRef, Planned, TableRef

TARGET = -1
"""The index that stands for the target of a change among a column's possible tables."""


def column_edits(statement: Planned, relations: Mapping[int, Relation], target: Relation | None) -> list[Edit]:
    """Edits for every column reference that needs one; most statements need none and are not looked at twice.

    `relations` are those of the statement's tables that matter here, by their place among them.
    """
    odd = any(r.has_odd_columns for r in (*relations.values(), *((target,) if target else ())))
    deep = any(len(ref.name.parts) > 2 for ref in statement.tables)
    if not statement.parsed or not (odd or deep):
        return []
    from pinakes.parser import locate_columns

    sources = {index: (statement.tables[index], relation) for index, relation in relations.items()}
    edits: list[Edit] = []
    for column in locate_columns(statement):
        edits += _edits(column, sources, target)
    return edits


def _edits(column: ColumnRef, sources: dict[int, tuple[TableRef, Relation]], target: Relation | None) -> list[Edit]:
    edits: list[Edit] = []
    name = _exact_name(column, sources, target)
    if name is not None:
        edits.append(Edit(column.name_span.start, column.name_span.end, quote(name)))
    if len(column.qualifier) > 1:
        owner = _owner(column, sources)
        if owner is not None:
            ref, relation = owner
            spelled = quote(ref.alias.exact) if ref.alias else _known_as(ref, relation)
            edits.append(Edit(column.span.start, column.name_span.start, spelled + "."))
    return edits


def _exact_name(
    column: ColumnRef, sources: dict[int, tuple[TableRef, Relation]], target: Relation | None
) -> str | None:
    """The column's own spelling when folding would miss it, else None."""
    if column.name.quoted or column.derived:
        return None
    for index in column.tables:
        ref, relation = (None, target) if index == TARGET else sources.get(index, (None, None))
        if relation is None or (column.qualifier and ref is not None and not _qualifies(column, ref)):
            continue
        found = match(column.name, relation.columns, "column")
        if found is not None:
            return found if found != column.name.text.lower() else None
    return None


def _qualifies(column: ColumnRef, ref: TableRef) -> bool:
    """Whether `a.b.t` in front of a column may mean this table: an alias alone, or a tail of the name as written."""
    if ref.alias is not None:
        return len(column.qualifier) == 1 and column.qualifier[0].matches(ref.alias.exact)
    tail = ref.name.parts[-len(column.qualifier) :]
    return len(tail) == len(column.qualifier) and all(
        a.matches(b.exact) for a, b in zip(column.qualifier, tail, strict=True)
    )


def _owner(column: ColumnRef, sources: dict[int, tuple[TableRef, Relation]]) -> tuple[TableRef, Relation] | None:
    return next((sources[i] for i in column.tables if i in sources and _qualifies(column, sources[i][0])), None)


def _known_as(ref: TableRef, relation: Relation) -> str:
    """What a table without an alias goes by in the planned text."""
    written = ref.name.last.exact
    return relation.sql if written == relation.key[2] else quote(written)
