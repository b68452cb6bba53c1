"""CREATE [OR REPLACE] [TEMP] VIEW [IF NOT EXISTS] name [(columns)] AS query: it runs whenever the view is read.

The query is kept as text, and planned once to learn its columns.
"""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.schema import Schema

from pinakes.core.catalog import SupportsViewTexts, ViewDefinition
from pinakes.core.errors import InvalidArgument
from pinakes.core.iceberg_arrow import iceberg_schema_of
from pinakes.core.names import TEMP, quote
from pinakes.engine.binding.capabilities import views
from pinakes.engine.binding.namespaces import Found, Scope
from pinakes.engine.binding.new_objects import check_free
from pinakes.engine.commands.temporary import check_readable
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.planning.planner import COLUMNS_GIVEN, Planner
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateView, Planned, Span


def create_view(statement: CreateView, execution: Execution) -> Result:
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = views(place.mount, change=True)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return Result.done("CREATE VIEW")
    check_free(existing, "VIEW", replace=statement.or_replace)
    names = [part.exact for part, _ in statement.columns]
    comments = {part.exact: comment for part, comment in statement.columns if comment}
    properties = dict(statement.properties)
    if names:
        properties[COLUMNS_GIVEN] = "true"
    made = existing or Found(place, name, "VIEW")
    view = view_of(made, statement, statement.body, execution, names, properties, statement.comment, comments)
    catalog.create_view(place.namespace, made.name, view, replace=statement.or_replace)
    return Result.done("CREATE VIEW")


def view_of(
    made: Found,
    statement: Planned,
    body: Span,
    execution: Execution,
    names: list[str],
    properties: dict[str, str],
    comment: str | None,
    comments: dict[str, str] | None = None,
) -> ViewDefinition:
    """The view that a query makes, within the session's current place."""
    if statement.placeholders:
        raise InvalidArgument("a view cannot have parameters")
    session, private = execution.session, made.place.mount.is_private
    scope = session.scope
    keeps_text = isinstance(made.place.mount.catalog, SupportsViewTexts)
    if keeps_text:  # where its names are looked up when it is read
        scope = Scope(made.place.mount.name, made.place.namespace)
    within = private or keeps_text
    planner = Planner(execution, session.resolver.within(scope, made)) if within else execution.planner()
    arrow = schema_of(planner.query(statement, body))
    check_readable(planner, made, session)
    if scope.catalog == TEMP and not private:  # nothing it reads is there, and other sessions have no such catalog
        scope = Scope(made.place.mount.name, made.place.namespace)
    sql = body.of(statement.text).strip()
    if keeps_text and names:
        sql = f"SELECT * FROM ({sql}\n) AS v({', '.join(map(quote, names))})"
    return ViewDefinition(
        sql=sql,
        default_catalog=scope.catalog,
        default_namespace=scope.namespace,
        schema=_schema(arrow, names, comments or {}),
        comment=comment,
        properties=properties,
    )


def _schema(arrow: pa.Schema, names: list[str], comments: dict[str, str]) -> Schema:
    if names and len(names) != len(arrow):
        raise InvalidArgument(f"{len(names)} column names are given and the query has {len(arrow)} columns")
    fields = [f.with_name(n).with_nullable(True) for f, n in zip(arrow, names or arrow.names, strict=True)]
    twice = next((f.name for i, f in enumerate(fields) if f.name in [g.name for g in fields[:i]]), None)
    if twice is not None:
        raise InvalidArgument(f"the view would have two columns {twice}: give one an alias")
    schema = iceberg_schema_of(pa.schema(fields))
    return Schema(*(f.model_copy(update={"doc": comments.get(f.name)}) for f in schema.fields))
