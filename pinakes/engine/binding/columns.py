"""Column references that DataFusion would not find as written: names in mixed case, qualifiers of many parts, `t.*`,
what JOIN … USING shares; and fields of structs, which it would name by the words of its plan.

DataFusion folds unquoted identifiers to lower case (of ASCII only), knows at most three parts in front of a column,
wants the whole name of a table in front of a star, and mostly some in front of a shared column. Where a table has a
column that folding would miss, a reference spells out a nested namespace or a star has a table, the reference is
spliced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinakes.core.errors import NotSupportedError
from pinakes.core.names import Part, match, quote
from pinakes.engine.binding.relation import Relation
from pinakes.parser.splice import Edit

if TYPE_CHECKING:
    from pinakes.parser.statements import ColumnRef, Planned, SharedStar, TableRef

_ODD = re.compile(r"\.\s*\*|\busing\b|\bnatural\b", re.IGNORECASE)

_DOTTED = re.compile(r"(?<!\w)(\w++)\"?\s*\.\s*(?=[\w\"])")

_UNNEST = re.compile(r"\bunnest\b", re.IGNORECASE)

TARGET = -1
"""The index that stands for the target of a change among a column's possible tables."""

Sources = Mapping[int, tuple["TableRef", Relation]]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read `a.b.t.x.f`: how many parts name the table, and what the column after them is called."""

    depth: int
    column: str | None
    source: tuple[TableRef, Relation] | None


def column_edits(
    statement: Planned, relations: Mapping[int, Relation], target: tuple[TableRef, Relation] | None
) -> list[Edit]:
    """Edits for every column reference that needs one; most statements need none and are not looked at twice.

    `relations` are those of the statement's tables that matter here, by their place among them.
    """
    odd = target is not None or any(r.has_odd_columns for r in relations.values())
    odd = odd or any(ref.name.is_path and ref.name.called != ref.name.called.lower() for ref in statement.tables)
    deep = any(len(ref.name.parts) > 2 for ref in statement.tables) or _has_fields(statement.text, relations)
    if not statement.parsed or not (odd or deep or _ODD.search(statement.text)):
        return []
    from pinakes.parser import locate_references

    sources: dict[int, tuple[TableRef, Relation]] = {i: (statement.tables[i], r) for i, r in relations.items()}
    if target is not None:
        sources[TARGET] = target
    references = locate_references(statement)
    edits = [edit for column in references.columns for edit in _edits(column, sources)]
    named = {projection.end for projection in statement.projections}
    edits += [_field_name(column) for column in references.columns if column.field and column.span.end not in named]
    return [*edits, *_star_edits(references.stars, sources)]


def _has_fields(text: str, relations: Mapping[int, Relation]) -> bool:
    """Whether a dot may stand behind a column of a table, or one that UNNEST makes, and not only behind the table."""
    before = {found.group(1).lower() for found in _DOTTED.finditer(text)}
    return bool(before) and (
        _UNNEST.search(text) is not None or any(c.lower() in before for r in relations.values() for c in r.columns)
    )


def _field_name(column: ColumnRef) -> Edit:
    name = column.name.text if column.name.quoted else _folded(column.name.text)
    return Edit(column.span.end, column.span.end, f" AS {quote(name)}")


def _star_edits(stars: Sequence[SharedStar], sources: Sources) -> Iterator[Edit]:
    for star in stars:
        if all(isinstance(owner, Part) or owner in sources for joined in star.joined for owner, _ in joined):
            text = ", ".join(_written_out(joined, star.keeps_left, sources) for joined in star.joined)
            yield Edit(star.span.start, star.span.end, text)


def _written_out(
    joined: Sequence[tuple[int | Part, tuple[Part, ...] | None]], keeps_left: bool, sources: Sources
) -> str:
    """The columns that each join shares, those of the last one first; then all others of each source, but those that
    another has given before."""
    columns = [None if isinstance(owner, Part) else sources[owner][1].columns for owner, _ in joined]
    if None in columns and any(keys is None for _, keys in joined):
        kind = "LEFT JOIN" if keeps_left else "JOIN"
        raise NotSupportedError(
            f"SELECT * over NATURAL {kind} is only supported for tables and views. Write {kind} … USING"
        )
    first = list[tuple[int, str]]()
    """The columns that are shared, each with the number of its source."""
    taken = list[list[str]]()
    """Of each source the columns that another has, or that stand in `first`."""
    for at, (_, keys) in enumerate(joined):
        known = columns[at] or ()
        if keys is None:
            others = [c for i in range(at) for c in columns[i] or () if c not in taken[i]]
            keys = tuple(Part(c, quoted=True) for c in (*(name for _, name in first), *others) if c in known)
        moved = [next((f for f in first if key.matches(f[1])), None) or _giver(key, taken, columns) for key in keys]
        for i, name in moved:
            if (i, name) not in first:
                taken[i].append(name)
        taken.append([_exact(key, known) for key in keys])
        first = [*moved, *(f for f in first if f not in moved)]
    pieces = [f"{_owner(joined[i][0], sources)}.{quote(name)}" for i, name in first]
    for (owner, _), own, names in zip(joined, columns, taken, strict=True):
        if own is None or set(own) - set(names):
            pieces.append(
                f"{_owner(owner, sources)}.*" + (f" EXCEPT ({', '.join(map(quote, names))})" if names else "")
            )
    return ", ".join(pieces)


def _giver(key: Part, taken: Sequence[Sequence[str]], columns: Sequence[Sequence[str] | None]) -> tuple[int, str]:
    """The number of the source that has a column, and the column."""
    left = [i for i, names in enumerate(taken) if not any(key.matches(name) for name in names)]
    having = [i for i in left if any(key.matches(name) for name in columns[i] or ())]
    having = having or (left if len(left) == 1 else [])
    if not having:
        raise NotSupportedError(
            f"SELECT * over this JOIN … USING ({key.text}) is not supported, since the columns of a subquery "
            "before it are not known: name the columns"
        )
    return having[0], _exact(key, columns[having[0]] or ())


def _exact(key: Part, known: Sequence[str]) -> str:
    return match(key, known, "column") or key.exact


def _edits(column: ColumnRef, sources: Sources) -> Iterator[Edit]:
    parts = (*column.qualifier, column.name)
    reading = _read(column, parts, sources)
    owner = _owner(column.owner, sources)
    if owner is not None:
        yield Edit(column.span.start, column.span.start, f"{owner}.")
    if reading is None:
        return
    part = parts[reading.depth]
    if reading.source is not None and reading.depth and _needs_name(parts[: reading.depth], part, *reading.source):
        yield Edit(column.spans[0].start, column.spans[reading.depth - 1].end, _known_as(*reading.source))
    if reading.column is None or part.quoted or reading.column == _folded(part.text):
        return
    alias = f" AS {quote(part.exact)}" if column.exposed and reading.depth == len(parts) - 1 else ""
    span = column.spans[reading.depth]
    yield Edit(span.start, span.end, quote(reading.column) + alias)


def _owner(owner: int | Part | None, sources: Sources) -> str | None:
    """What goes before a column that JOIN … USING shares."""
    if isinstance(owner, int):
        return _known_as(*sources[owner]) if owner in sources else None
    return None if owner is None else quote(owner.text if owner.quoted else _folded(owner.text))


def _read(column: ColumnRef, parts: tuple[Part, ...], sources: Sources) -> _Reading | None:
    """The reading that fits: the nearest table that has the column; None leaves the reference to DataFusion."""
    if column.derived and parts[-1].text == "*":  # the star of a subquery, which may have a table's name
        return None
    for index in column.tables:
        if index not in sources:
            continue
        ref, relation = sources[index]
        for depth in range(len(parts) - 1, -1, -1):
            if depth and not _qualifies(parts[:depth], ref, relation):
                continue
            if depth == 0 and column.derived:
                continue
            name = None if parts[depth].text == "*" else match(parts[depth], relation.columns, "column")
            if name is not None or (depth and parts[depth].text == "*"):
                return _Reading(depth, name, (ref, relation))
    return _passed_on(column, parts, sources)


def _passed_on(column: ColumnRef, parts: tuple[Part, ...], sources: Sources) -> _Reading | None:
    """A column that a subquery or CTE passes on with `*`: the qualifier is the subquery's own name and stays."""
    if column.derived or len(parts) < 2:
        return None
    for index in column.tables:
        if index in sources:
            name = match(parts[-1], sources[index][1].columns, "column")
            if name is not None:
                return _Reading(len(parts) - 1, name, None)
    return None


def _needs_name(qualifier: tuple[Part, ...], part: Part, ref: TableRef, relation: Relation) -> bool:
    """Whether what stands in front of a column has to be replaced for DataFusion to find the table."""
    by_path = ref.name.is_path and ref.alias is None
    return len(qualifier) > 1 or part.text == "*" or relation.alias is not None or by_path or not _all_ascii(qualifier)


def _folded(text: str) -> str:
    """What DataFusion makes of an unquoted identifier."""
    return text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)


def _all_ascii(parts: Sequence[Part]) -> bool:
    return all(p.text.isascii() for p in parts)


def _qualifies(parts: tuple[Part, ...], ref: TableRef, relation: Relation) -> bool:
    """Whether `a.b.t` in front of a column may mean this table: its alias, or a tail of its full name."""
    if ref.alias is not None:
        return len(parts) == 1 and parts[0].matches(ref.alias.exact)
    tail = relation.path[-len(parts) :]
    return len(tail) == len(parts) and all(a.matches(b) for a, b in zip(parts, tail, strict=True))


def _known_as(ref: TableRef, relation: Relation) -> str:
    """What the table goes by in the planned text."""
    if relation.alias is not None:
        return quote(relation.alias)
    if ref.alias is not None:
        return quote(ref.alias.text if ref.alias.quoted else _folded(ref.alias.text))
    written = ref.name.called
    return relation.sql if written == relation.key[2] else quote(written)
