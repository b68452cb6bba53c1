"""The catalog `temp` of one session: its temporary tables and views, in a directory of their own.

It is an ordinary catalog of type sqlite, so whatever can be done with a table can be done with a temporary one. The
first CREATE TEMP makes it, and it goes when the session closes. No other session has it among its mounts.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pinakes.core.catalog import Catalog, SupportsNamespaceChanges
from pinakes.core.errors import CatalogUnavailable, InvalidArgument
from pinakes.core.identity import Identity
from pinakes.core.names import TEMP, Namespace
from pinakes.engine.catalogs.opening import Opening
from pinakes.engine.catalogs.registry import Mount

if TYPE_CHECKING:
    from pinakes.engine.engine import Engine
    from pinakes.engine.files.scratch import Scratch
    from pinakes.parser.statements import OptionValue

MAIN: Namespace = ("main",)
"""The namespace of temporary tables and views, unless they name another."""


class TempCatalog:
    """It must not refer to the session: it is closed when the session is collected."""

    def __init__(self, engine: Engine, owner: str) -> None:
        self.mount = Mount(TEMP, "sqlite", "session", owner, self._open)
        self._engine = engine
        self._scratch: Scratch | None = None
        self._closed = False
        self._process = os.getpid()

    def close(self) -> None:
        """Remove everything in it. A forked process leaves it to its parent."""
        if os.getpid() != self._process:
            return
        self._closed = True
        self.mount.close()
        if self._scratch is not None:
            self._scratch.remove()

    def _open(self, identity: Identity) -> Catalog:
        if self._closed:
            raise InvalidArgument("this session is closed, and its temporary tables are dropped")
        scratch = _scratch(self._engine.config.engine.spill_dir)
        try:
            options: dict[str, OptionValue] = {"DEFAULT_NAMESPACE": MAIN[0]}
            place, mount_id = str(scratch.path), self._engine.next_mount_id()
            roots = (place,) if self._engine.policy.confines else None
            catalog, _ = self._engine.open_catalog(Opening("sqlite", TEMP, place, options, mount_id, roots=roots))
            assert isinstance(catalog, SupportsNamespaceChanges)
            catalog.create_namespace(MAIN, {})
        except BaseException:
            scratch.remove()
            raise
        self._scratch = scratch
        return catalog


def _scratch(base: str | None) -> Scratch:
    from pinakes.engine.files.scratch import Scratch

    try:
        return Scratch(base)
    except OSError as error:
        raise CatalogUnavailable(
            f"there is no place for temporary tables in {base or 'the directory for temporary files'}: {error}. "
            f"engine.spill_dir in the configuration names another."
        ) from error
