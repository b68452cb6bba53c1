"""DROP SCHEMA [IF EXISTS] name [CASCADE]"""

from __future__ import annotations

from pinakes.caches.catalog import forget_catalog
from pinakes.core.catalog import SupportsNamespaceChanges, SupportsTableChanges, SupportsViews
from pinakes.core.errors import InvalidArgument, NamespaceNotEmpty, NamespaceNotFound
from pinakes.core.names import Namespace
from pinakes.engine.binding.capabilities import namespace_changes
from pinakes.engine.catalogs.temp_catalog import MAIN
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import DropNamespace


def drop_namespace(statement: DropNamespace, execution: Execution) -> Result:
    try:
        place = execution.resolver.namespace(statement.name)
        if not place.namespace:
            name = statement.name
            raise InvalidArgument(f"'{name}' names a catalog; say which namespace of it, as in {name}.sales, or DETACH")
        if place.mount.is_private and place.namespace == MAIN:
            raise InvalidArgument(f"{place} holds the session's temporary tables and stays; DROP what is in it")
        catalog = namespace_changes(place.mount)
        if statement.cascade:
            forget_catalog(catalog)
            _empty(catalog, place.namespace)
        catalog.drop_namespace(place.namespace)
    except NamespaceNotEmpty as error:
        raise NamespaceNotEmpty(f"{error.message}. DROP SCHEMA … CASCADE drops these too.") from error
    except NamespaceNotFound:
        if not statement.if_exists:
            raise
    return Result.done("DROP SCHEMA")


def _empty(catalog: SupportsNamespaceChanges, namespace: Namespace) -> None:
    """Everything within goes first, children before parents."""
    for child in catalog.list_namespaces(namespace):
        _empty(catalog, child)
        catalog.drop_namespace(child)
    if isinstance(catalog, SupportsViews):
        for name in catalog.list_views(namespace):
            catalog.drop_view(namespace, name)
    if isinstance(catalog, SupportsTableChanges):
        for name in catalog.list_tables(namespace):
            catalog.drop_table(namespace, name)
