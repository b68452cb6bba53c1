"""The application put together: configuration in, engine out. Here, and only here, the layers are joined."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from pinakes.caches.catalog import remembering
from pinakes.caches.registry import make_caches
from pinakes.core.catalog import Catalog, SupportsNamespaces
from pinakes.core.config import MEMORY, Config
from pinakes.core.errors import NamespaceExists
from pinakes.core.names import Namespace
from pinakes.engine.engine import Engine
from pinakes.engine.registry import Mount
from pinakes.engine.resolver import Scope
from pinakes.parser import classify
from pinakes.parser.statements import OptionValue
from pinakes.providers.registry import open_catalog

LAKE = "lake"
DEFAULT: Namespace = ("default",)
"""The embedded catalog, which is always there, and the namespace that is made in it at its first start."""


def open_engine(config: Config) -> Engine:
    """An engine with the embedded catalog and those of the configuration. None of them is opened before it is used."""
    directory, remove = _data_directory(config)
    engine = Engine(config, make_caches(config.caches, classify), Scope(LAKE, DEFAULT), _opener, on_close=remove)
    for catalog in config.catalogs.values():
        opener = partial(
            engine.open_catalog, catalog.type, catalog.name, catalog.location or "", _typed(catalog.options)
        )
        engine.registry.mount(Mount(catalog.name, catalog.type, "config", "", opener))
    if LAKE not in config.catalogs:
        opener = partial(_open_lake, engine, directory)
        engine.registry.mount(Mount(LAKE, "sqlite", "config", "", opener))
    return engine


def _open_lake(engine: Engine, directory: Path) -> Catalog:
    catalog = engine.open_catalog("sqlite", LAKE, str(directory), {"DEFAULT_NAMESPACE": DEFAULT[0]})
    assert isinstance(catalog, SupportsNamespaces)
    if not catalog.namespace_exists(DEFAULT):
        with suppress(NamespaceExists):  # another process was faster: it is there, which is all we want
            catalog.create_namespace(DEFAULT, {})
    return catalog


def _opener(engine: Engine, type: str, alias: str, location: str, options: Mapping[str, OptionValue]) -> Catalog:
    """A catalog of any type, remembering what it was asked."""
    return remembering(open_catalog(type, alias, location, options), engine.caches, mount=engine.next_mount_id())


def _typed(options: Mapping[str, object]) -> dict[str, OptionValue]:
    return {
        k.upper(): v if isinstance(v, str | int | float | bool) or v is None else str(v) for k, v in options.items()
    }


def _data_directory(config: Config) -> tuple[Path, Callable[[], None]]:
    """Where the embedded catalog lives; a temporary directory for `:memory:`, with what removes it again."""
    if config.engine.data != MEMORY:
        return Path(config.engine.data), lambda: None
    directory, process = Path(tempfile.mkdtemp(prefix="pinakes-")), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # a process that was forked leaves it to its parent
            shutil.rmtree(directory, ignore_errors=True)

    return directory, remove
