"""SEARCH 'words' [IN catalog | namespace]: what has these words in its name or comment, the best first."""

from __future__ import annotations

from pinakes.core.names import dotted
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.reading import read
from pinakes.parser.statements import Search
from pinakes.system_tables.conditions import ANYTHING, OneOf
from pinakes.system_tables.search import search_table


def search(statement: Search, execution: Execution) -> Result:
    table = search_table(statement.words)
    if statement.within is None:
        rows = read(table, execution)
    else:
        place = execution.resolver.namespace(statement.within)
        schema = OneOf("schema", frozenset({dotted(place.namespace)})) if place.namespace else ANYTHING
        rows = read(table, execution, place.mount.name, wanted=schema)
    return Result(rows.schema, rows.to_batches())
