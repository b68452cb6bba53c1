"""Views: CREATE, ALTER and DROP VIEW."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyiceberg.schema import Schema

from pinakes.core.catalog import SupportsViewTexts, ViewDefinition
from pinakes.core.errors import InvalidArgument, ViewNotFound
from pinakes.core.names import TEMP, Part, quote
from pinakes.core.types.iceberg_arrow import iceberg_schema_of
from pinakes.engine.binding.capabilities import views
from pinakes.engine.binding.namespaces import ResolvedTable, Scope
from pinakes.engine.binding.new_objects import check_free, rename_target
from pinakes.engine.binding.sql_functions import expand, find_function, positions_before
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.planning.planner import COLUMNS_GIVEN, Planner
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import AlterView, CreateView, DropView, Planned, Span


def create_view(statement: CreateView, execution: Execution) -> Result:
    """CREATE [OR REPLACE] [TEMP] VIEW [IF NOT EXISTS] name [(columns)] AS query: creates a view. Its query runs
    whenever the view is read.

    The query is stored as text, and planned once to determine its columns.

    Predicates of the view do not protect expressions around it: `SELECT * FROM v WHERE 10 / f > 2` may report a
    division by zero although `v` has `WHERE f <> 0`. Write `10 / NULLIF(f, 0)`, or a subquery instead of the view.
    """
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
    made = existing or ResolvedTable(place, name, "VIEW")
    view = _view_of(made, statement, statement.body, execution, names, properties, statement.comment, comments)
    catalog.create_view(place.namespace, made.name, view, replace=statement.or_replace)
    return Result.done("CREATE VIEW")


def _view_of(
    made: ResolvedTable,
    statement: Planned,
    body: Span,
    execution: Execution,
    names: list[str],
    properties: dict[str, str],
    comment: str | None,
    comments: dict[str, str] | None = None,
) -> ViewDefinition:
    """The definition of a view by its query, whose names are looked up in the session's current namespace."""
    if statement.placeholders:
        raise InvalidArgument("a view cannot have parameters")
    session, private = execution.session, made.place.mount.is_private
    scope = session.scope
    keeps_text = isinstance(made.place.mount.catalog, SupportsViewTexts)
    if keeps_text:  # such a catalog looks names up in the view's own namespace
        scope = Scope(made.place.mount.name, made.place.namespace)
    within = private or keeps_text
    planner = Planner(execution, session.resolver.within(scope, made)) if within else execution.planner()
    expanded = expand(statement, session, lambda name: find_function(name, planner.resolver))
    if expanded is None:
        arrow = schema_of(planner.query(statement, body).frame)
    else:
        temporary = next((f for f in expanded.functions if f.place.mount.is_private), None)
        if temporary is not None and not private:
            raise InvalidArgument(
                f"{temporary} is a function of this session: a view, which outlives the session, cannot call it. Use "
                f"CREATE FUNCTION without TEMP, or CREATE TEMP VIEW."
            )
        with positions_before(expanded.text):
            arrow = schema_of(planner.query(expanded.statement, expanded.body).frame)
    _check_readable(planner, made, session)
    if scope.catalog == TEMP and not private:  # it reads nothing there, and other sessions lack that catalog
        scope = Scope(made.place.mount.name, made.place.namespace)
    sql = body.of(statement.text).strip()
    if keeps_text and names:
        sql = f"SELECT * FROM ({sql}\n) AS v({', '.join(map(quote, names))})"
    return ViewDefinition(
        sql=sql,
        default_catalog=scope.catalog,
        default_namespace=scope.namespace,
        schema=_view_schema(arrow, names, comments or {}),
        comment=comment,
        properties=properties,
    )


def _view_schema(arrow: pa.Schema, names: list[str], comments: dict[str, str]) -> Schema:
    if names and len(names) != len(arrow):
        raise InvalidArgument(f"{len(names)} column names are given and the query has {len(arrow)} columns")
    fields = [f.with_name(n).with_nullable(True) for f, n in zip(arrow, names or arrow.names, strict=True)]
    duplicates = next((f.name for i, f in enumerate(fields) if f.name in [g.name for g in fields[:i]]), None)
    if duplicates is not None:
        raise InvalidArgument(f"the view would have two columns {duplicates}: give one an alias")
    schema = iceberg_schema_of(pa.schema(fields))
    return Schema(*(f.model_copy(update={"doc": comments.get(f.name)}) for f in schema.fields))


def alter_view(statement: AlterView, execution: Execution) -> Result:
    """ALTER VIEW [IF EXISTS] name RENAME TO name | AS query | SET PROPERTIES (…) | UNSET PROPERTIES (…)"""
    resolver = execution.resolver
    if statement.if_exists and resolver.maybe(statement.name, kind="VIEW") is None:
        return Result.done("ALTER VIEW")
    found = resolver.find(statement.name, kind="VIEW")
    catalog = views(found.place.mount, change=True)
    place = (found.place.namespace, found.name)
    if statement.rename_to is not None:
        catalog.rename_view(place, rename_target(found, statement.rename_to, resolver))
        return Result.done("ALTER VIEW")
    view = catalog.load_view(*place)
    properties = {
        k: v for k, v in {**view.properties, **dict(statement.updates)}.items() if k not in statement.removals
    }
    if statement.body is not None:
        properties.pop(COLUMNS_GIVEN, None)
        changed = _view_of(found, statement, statement.body, execution, [], properties, view.comment)
    else:
        changed = replace(view, properties=properties)
    catalog.create_view(*place, changed, replace=True)
    return Result.done("ALTER VIEW")


def drop_view(statement: DropView, execution: Execution) -> Result:
    """DROP [TEMP] VIEW [IF EXISTS] name"""
    resolver = execution.resolver
    name = resolver.as_temporary(statement.name) if statement.temporary else statement.name
    if statement.if_exists and resolver.maybe(name, kind="VIEW") is None:
        return Result.done("DROP VIEW")
    found = resolver.find(name, kind="VIEW")
    try:
        views(found.place.mount, change=True).drop_view(found.place.namespace, found.name)
    except ViewNotFound:  # dropped by another session meanwhile
        if not statement.if_exists:
            raise
    return Result.done("DROP VIEW")


def _check_readable(planner: Planner, view: ResolvedTable, session: Session) -> None:
    """Raises if the view reads a relation that does not live as long as the view."""
    if view.place.mount.is_private:
        variables = [n for n in planner.relations.temporaries if session.temporary.find(Part(n, quoted=True)) is None]
        if variables:
            raise InvalidArgument(
                f"{variables[0]} is a Python variable: a view, which outlives it, cannot read it. Register it first."
            )
    elif planner.relations.temporaries or planner.relations.private:
        name = [*planner.relations.temporaries, *planner.relations.private][0]
        raise InvalidArgument(
            f"{name} is a temporary relation of this session: a view, which outlives the session, "
            f"cannot read it. Keep its rows in a table first: CREATE TABLE … AS SELECT …, or CREATE TEMP VIEW."
        )
