"""The columns of a view of which the catalog keeps the text alone: they are those that its query has now."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from pinakes.core.names import quote
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.parser import classify
from pinakes.parser.statements import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.core.names import Name
    from pinakes.engine.statement_context import Execution


def view_columns(execution: Execution, name: Name) -> pa.Schema:
    """Plans the view separately from the statement; nothing is run."""
    written = ".".join(quote(part.text) if part.quoted else part.text for part in name.parts)
    statement = classify(f"SELECT * FROM {written}")
    assert isinstance(statement, Query)
    with ExitStack() as scope:
        return schema_of(replace(execution, scope=scope).planner().query(statement).frame)
