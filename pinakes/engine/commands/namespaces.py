"""Namespaces: CREATE, ALTER and DROP SCHEMA, SHOW NAMESPACES, and the session's current one."""

from __future__ import annotations

import pyarrow as pa

from pinakes.caches.caching_catalog import forget_catalog
from pinakes.core.catalog import SupportsNamespaceChanges, SupportsNamespaces, SupportsTableChanges, SupportsViews
from pinakes.core.errors import (
    CatalogUnavailable,
    InvalidArgument,
    NamespaceExists,
    NamespaceNotEmpty,
    NamespaceNotFound,
    NotSupportedError,
    listing,
)
from pinakes.core.names import INFORMATION_SCHEMA, Namespace, dotted
from pinakes.engine.binding.capabilities import namespace_changes, namespaces
from pinakes.engine.binding.namespaces import ResolvedNamespace, Scope, no_namespace
from pinakes.engine.binding.sql_functions import stored_in
from pinakes.engine.catalogs.temp_catalog import MAIN
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import AlterNamespace, CreateNamespace, DropNamespace, ShowCurrent, ShowNamespaces, Use


def create_namespace(statement: CreateNamespace, execution: Execution) -> Result:
    """CREATE SCHEMA [IF NOT EXISTS] name [WITH (…)]"""
    place = execution.resolver.new_namespace(statement.name)
    if place.namespace[-1].lower() == INFORMATION_SCHEMA:
        raise InvalidArgument(f"namespace name '{INFORMATION_SCHEMA}' is reserved; choose another")
    catalog = namespace_changes(place.mount)
    execution.session.guard.places(place.mount.mount, None, statement.properties)
    try:
        catalog.create_namespace(place.namespace, dict(statement.properties))
    except NamespaceExists:
        if not statement.if_not_exists:
            raise
    return Result.done("CREATE SCHEMA")


def alter_namespace(statement: AlterNamespace, execution: Execution) -> Result:
    """ALTER SCHEMA name SET PROPERTIES (…) | UNSET PROPERTIES (…)"""
    place = execution.resolver.namespace(statement.name)
    if statement.rename_to is not None:
        raise NotSupportedError("a namespace cannot be renamed: make a new one and ALTER TABLE … RENAME TO its tables")
    catalog = namespace_changes(place.mount)
    execution.session.guard.places(place.mount.mount, None, statement.updates)
    catalog.alter_namespace(place.namespace, dict(statement.updates), statement.removals)
    return Result.done("ALTER SCHEMA")


def drop_namespace(statement: DropNamespace, execution: Execution) -> Result:
    """DROP SCHEMA [IF EXISTS] name [CASCADE]"""
    try:
        place = execution.resolver.namespace(statement.name)
        if not place.namespace:
            name = statement.name
            raise InvalidArgument(f"'{name}' names a catalog; say which namespace of it, as in {name}.sales, or DETACH")
        if place.mount.is_private and place.namespace == MAIN:
            raise InvalidArgument(
                f"{place} holds the session's temporary tables and can't be dropped; drop its tables instead"
            )
        catalog = namespace_changes(place.mount)
        functions = [] if statement.cascade else stored_in(place)
        if functions:
            raise NamespaceNotEmpty(f"namespace {place} is not empty: it holds functions {listing(functions)}")
        if statement.cascade:
            forget_catalog(catalog)
            _drop_contents(catalog, place.namespace)
        catalog.drop_namespace(place.namespace)
    except NamespaceNotEmpty as error:
        raise NamespaceNotEmpty(f"{error.message}. DROP SCHEMA … CASCADE drops these too.") from error
    except NamespaceNotFound:
        if not statement.if_exists:
            raise
    return Result.done("DROP SCHEMA")


def _drop_contents(catalog: SupportsNamespaceChanges, namespace: Namespace) -> None:
    """Drops everything in a namespace, children before parents."""
    for child in catalog.list_namespaces(namespace):
        _drop_contents(catalog, child)
        catalog.drop_namespace(child)
    if isinstance(catalog, SupportsViews):
        for name in catalog.list_views(namespace):
            catalog.drop_view(namespace, name)
    if isinstance(catalog, SupportsTableChanges):
        for name in catalog.list_tables(namespace):
            catalog.drop_table(namespace, name)


def show_namespaces(statement: ShowNamespaces, execution: Execution) -> Result:
    """SHOW NAMESPACES | SCHEMAS | DATABASES [IN x] [LIKE p]: lists one level of namespaces with one listing call."""
    session = execution.session
    if statement.within is None:
        place = ResolvedNamespace(session.catalogs.current(session.scope.catalog), ())
    else:
        place = session.resolver.namespace(statement.within, check=False)
    return Result.names("Schema", _child_names(place), statement.like)


def _child_names(place: ResolvedNamespace) -> set[str]:
    """The child namespaces as in information_schema.schemata: each catalog also has an `information_schema`."""
    try:
        found = namespaces(place.mount).list_namespaces(place.namespace)
    except NamespaceNotFound:
        raise no_namespace(place.mount, place.namespace) from None
    own = set() if place.namespace or place.mount.is_system else {INFORMATION_SCHEMA}
    return own | {dotted(namespace) for namespace in found}


_DEFAULT: Namespace = ("default",)


def use(statement: Use, execution: Execution) -> Result:
    """USE [CATALOG | NAMESPACE] name, USE namespace IN catalog."""
    session = execution.session
    if statement.catalog is not None:
        mount = session.catalogs.require(statement.catalog)
        session.remembered[mount.mount] = session.resolver.namespace_in(mount, statement.name).namespace
        return Result.done("USE")
    place = _used_namespace(statement, session)
    namespace = place.namespace or session.resolver.home(place.mount) or _default_namespace(place)
    session.scope = Scope(place.mount.name, namespace)
    return Result.done("USE")


def _default_namespace(place: ResolvedNamespace) -> Namespace:
    """The namespace `default` of a catalog that declares no other, if it exists. Most catalogs have one, and few of
    these can hold tables outside of a namespace."""
    catalog = place.mount.catalog
    try:
        has_default = isinstance(catalog, SupportsNamespaces) and catalog.namespace_exists(_DEFAULT)
    except CatalogUnavailable:  # reported when a table of it is read
        return ()
    return _DEFAULT if has_default else ()


def _used_namespace(statement: Use, session: Session) -> ResolvedNamespace:
    if statement.what == "CATALOG":
        if len(statement.name.parts) > 1:
            raise InvalidArgument(f"USE CATALOG takes the name of a catalog, not {statement.name}")
        return ResolvedNamespace(session.catalogs.require(statement.name.last), ())
    if statement.what == "NAMESPACE":
        return session.resolver.namespace_in(session.catalogs.current(session.scope.catalog), statement.name)
    return session.resolver.namespace(statement.name)


_CURRENT = pa.schema([("Catalog", pa.string()), ("Namespace", pa.string())])


def show_current(statement: ShowCurrent, execution: Execution) -> Result:
    """SHOW CURRENT NAMESPACE: shows the current catalog and namespace."""
    scope = execution.session.scope
    return Result.rows(_CURRENT, [(scope.catalog, dotted(scope.namespace))])
