"""A catalog as one of its groups of methods, with a clear error before anything is called when it has not got it."""

from __future__ import annotations

from pinakes.core.catalog import (
    ExplainsReading,
    SupportsNamespaceChanges,
    SupportsNamespaces,
    SupportsTableChanges,
    SupportsViews,
)
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import INFORMATION_SCHEMA, RESERVED_CATALOGS, display
from pinakes.engine.catalogs.mounts import Mounted


def namespaces(mount: Mounted) -> SupportsNamespaces:
    catalog = mount.catalog
    if not isinstance(catalog, SupportsNamespaces):
        raise lacking(mount, "namespaces")
    return catalog


def namespace_changes(mount: Mounted) -> SupportsNamespaceChanges:
    """For callers that create, change or drop a namespace."""
    mount.check_writable()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsNamespaceChanges):
        raise lacking(mount, "changes of namespaces")
    return catalog


def table_changes(mount: Mounted) -> SupportsTableChanges:
    mount.check_writable()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsTableChanges):
        raise lacking(mount, "changes of tables")
    return catalog


def views(mount: Mounted, *, change: bool = False) -> SupportsViews:
    """`change` is true for callers that create, change or drop a view."""
    if change:
        mount.check_writable()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsViews):
        raise lacking(mount, "views")
    return catalog


def lacking(mount: Mounted, what: str) -> NotSupportedError:
    catalog = mount.catalog
    why = f". It can only be read: {catalog.why_read_only}" if isinstance(catalog, ExplainsReading) else ""
    return NotSupportedError(f"{_named(mount)} does not support {what}{why}")


def _named(mount: Mounted) -> str:
    """The `information_schema` of a catalog is found under the catalog's name, and is not the catalog."""
    if mount.is_system and mount.name not in RESERVED_CATALOGS:
        return display(mount.name, (), INFORMATION_SCHEMA)
    return f"catalog '{mount.name}' (type {mount.type})"
