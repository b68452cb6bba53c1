"""A catalog as one of its groups of methods, with a clear error before anything is called when it has not got it."""

from __future__ import annotations

from pinakes.core.catalog import SupportsNamespaces, SupportsTableChanges, SupportsViews
from pinakes.core.errors import NotSupportedError
from pinakes.engine.mounts import Mounted


def namespaces(mount: Mounted, *, change: bool = False) -> SupportsNamespaces:
    """`change` is true for whoever will change one."""
    if change:
        mount.check_writable()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsNamespaces):
        raise _lacking(mount, "namespaces")
    return catalog


def table_changes(mount: Mounted) -> SupportsTableChanges:
    mount.check_writable()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsTableChanges):
        raise _lacking(mount, "changes of tables")
    return catalog


def views(mount: Mounted, *, change: bool = False) -> SupportsViews:
    """`change` is true for whoever will make, change or drop one."""
    if change:
        mount.check_writable()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsViews):
        raise _lacking(mount, "views")
    return catalog


def _lacking(mount: Mounted, what: str) -> NotSupportedError:
    return NotSupportedError(f"catalog '{mount.name}' (type {mount.type}) does not support {what}")
