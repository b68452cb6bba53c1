"""Whose a mounted catalog is: who attached it may take it away, and an administrator may do so with any."""

from __future__ import annotations

from pinakes.core.errors import PermissionDenied
from pinakes.core.identity import Identity
from pinakes.engine.catalogs.mounts import Mounted


def check_may_unmount(mounted: Mounted, identity: Identity) -> None:
    mount = mounted.mount
    if identity.is_admin or (mount.origin == "attach" and mount.owner == identity.user):
        return
    whose = "comes from the configuration" if mount.origin == "config" else "was attached by another user"
    raise PermissionDenied(f"catalog '{mount.name}' {whose}: only an administrator may detach or replace it")
