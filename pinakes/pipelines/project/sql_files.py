"""Definitions in a project's SQL files."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from pinakes.core.errors import ParseError
from pinakes.parser.spark.pipeline_files import SqlDefinition, definitions
from pinakes.parser.spark.references import not_row_by_row, predicate_fault, references
from pinakes.pipelines.project.model import Dataset, Flow, Read
from pinakes.pipelines.project.problem import Where

if TYPE_CHECKING:
    from pinakes.pipelines.project.collected import Collected


def read_sql(text: str, file: str, into: Collected) -> None:
    """Reads the definitions. Errors become problems."""
    try:
        found = definitions(text)
    except ParseError as error:
        into.fault(Where(file, error.position.line if error.position else None), error.message)
        return
    for definition in found:
        where = Where(file, definition.line)
        if definition.kind == "flow":
            into.add_flow(into.spec.key_of(definition.target), _flow(definition, where, into))
        else:
            _add(definition, where, into)


def _add(definition: SqlDefinition, where: Where, into: Collected) -> None:
    assert definition.kind != "flow"
    is_view = definition.kind == "temporary_view"
    key = definition.name if is_view else into.spec.key_of(definition.name)
    dataset = Dataset(
        key,
        definition.kind,
        where,
        columns=definition.columns,
        comment=definition.comment,
        partitions=definition.partitions,
        properties=definition.properties,
        expectations=list(definition.constraints),
    )
    for constraint in definition.constraints:
        if (fault := predicate_fault(constraint.predicate)) is not None:
            into.fault(where, f"the expectation {constraint.name!r} is not a valid condition: {fault}")
    if into.add(dataset) and definition.query is not None:
        into.add_flow(key, _flow(definition, where, into))


def _flow(definition: SqlDefinition, where: Where, into: Collected) -> Flow:
    query = definition.query or ""
    reads = tuple(Read(r.parts, r.is_stream) for r in references(query))
    if any(read.is_stream for read in reads) and (what := not_row_by_row(query)) is not None:
        into.fault(
            where, f"{what} needs all rows of a table, and STREAM gives the new ones only: make it a materialized view"
        )
    fingerprint = sha256(query.encode()).hexdigest()[:16]
    return Flow(".".join(definition.name), where, sql=query, reads=reads, fingerprint=fingerprint)
