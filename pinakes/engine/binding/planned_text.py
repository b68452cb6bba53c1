"""The text of a statement as DataFusion is to read it: full names, exact columns, session values in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pinakes.core.names import quote, text_literal
from pinakes.engine.binding.columns import column_edits
from pinakes.engine.binding.relation import Relation
from pinakes.parser.splice import Edit, Spliced, splice
from pinakes.parser.statements import Placeholder, Planned, Span, TableRef


def planned_text(
    statement: Planned,
    relations: Mapping[int, Relation],
    value: Callable[[str], str],
    span: Span | None = None,
    *,
    target: tuple[TableRef, Relation] | None = None,
    also: Sequence[Edit] = (),
    instead: Sequence[Edit] = (),
) -> Spliced:
    """The statement's text, or a piece of it. `relations` are those of its tables, by number; `value` returns the value
    of current_user and similar words. Pieces that are replaced by `instead` are not edited."""
    edits = list[Edit]()
    for index, relation in relations.items():
        ref = statement.tables[index]
        edits.append(_table_edit(ref, relation))
        if ref.as_of is not None:
            edits.append(Edit(ref.as_of.span.start, ref.as_of.span.end, ""))
    edits += also
    edits += column_edits(statement, relations, target)
    for placeholder in planned_placeholders(statement):
        edits.append(Edit(placeholder.span.start, placeholder.span.end, f"${placeholder.name}"))
    # Names for what would lose its own: unnamed items of the outer SELECT list, current_user and its kin anywhere.
    aliases = dict[int, str]()
    for word in statement.values:
        edits.append(Edit(word.span.start, word.span.end, text_literal(value(word.name))))
        if word.alone:
            aliases[word.span.end] = word.name
    for projection in statement.projections:
        aliases[projection.end] = projection.name
    for end, name in aliases.items():
        edits.append(Edit(end, end, f" AS {quote(name)}"))
    if statement.repairs:
        edits += _repairs(statement, edits)
    if instead:
        edits = [*(edit for edit in edits if not _within(edit, instead)), *instead]
    return splice(statement.text, edits, span)


def _repairs(statement: Planned, edits: Sequence[Edit]) -> list[Edit]:
    """Those of the parser, but in names that are replaced as a whole."""
    found = [Edit(r.span.start, r.span.end, r.text) for r in statement.repairs]
    whole = [edit for edit in edits if edit.start < edit.end]
    return [edit for edit in found if edit.start == edit.end or not _within(edit, whole)]


def covers(outer: Span, inner: Span) -> bool:
    """Whether one piece of a text lies within another."""
    return outer.start <= inner.start and inner.end <= outer.end


def _within(edit: Edit, pieces: Sequence[Edit]) -> bool:
    return any(piece.start <= edit.start and edit.end <= piece.end for piece in pieces)


def _table_edit(ref: TableRef, relation: Relation) -> Edit:
    """The full name in place of the written one; it keeps going by the name it was written with."""
    written = ref.name.called
    alias = f" AS {quote(written)}" if ref.alias is None and written != relation.key[2] else ""
    return Edit(ref.span.start, ref.span.end, relation.sql + alias)


def planned_placeholders(statement: Planned) -> list[Placeholder]:
    """Those that DataFusion binds: not those within a call of a function that reads files, or within AS OF."""
    if not statement.placeholders:
        return []
    calls = [ref.call.span for ref in statement.tables if ref.call is not None]
    calls += [ref.as_of.span for ref in statement.tables if ref.as_of is not None]
    return [p for p in statement.placeholders if not any(covers(call, p.span) for call in calls)]
