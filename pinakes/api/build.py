"""Builds an engine from the configuration. This is the only module that joins the layers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.caches.cache import Clock
from pinakes.caches.caching_catalog import cache_catalog
from pinakes.caches.counting_catalog import count_calls
from pinakes.caches.registry import make_caches
from pinakes.config.model import MEMORY, CatalogConfig, Config, SecretConfig, secret_keys
from pinakes.core.catalog import Catalog, SupportsNamespaceChanges
from pinakes.core.errors import CatalogUnavailable, ConfigError, InvalidArgument, NamespaceExists, PinakesError
from pinakes.core.identity import Identity
from pinakes.core.names import Namespace
from pinakes.core.secrets import Access, Secret, parse_secret
from pinakes.engine.binding.namespaces import Scope
from pinakes.engine.catalogs.authorization.policy import EMBEDDED, Policy
from pinakes.engine.catalogs.mounting import make_mount, take_common
from pinakes.engine.catalogs.opening import Opening
from pinakes.engine.catalogs.registry import Mount, MountId
from pinakes.engine.engine import Engine
from pinakes.engine.remote.interface import RemoteEngine
from pinakes.parser import classify
from pinakes.parser.statements import OptionValue
from pinakes.providers.registry import open_catalog

if TYPE_CHECKING:
    from pinakes.core.secret_file import SecretFile

LAKE = "lake"
DEFAULT: Namespace = ("default",)
"""The embedded catalog, which always exists, and the namespace that is created in it at the first start."""

DEPLOYMENT = Identity("", roles=frozenset({"admin"}))
"""The owner of the secrets and catalogs of the configuration: no user has this name."""


def open_engine(config: Config, policy: Policy = EMBEDDED, clock: Clock = time.monotonic) -> Engine:
    """Opens an engine with the embedded catalog and those of the configuration. Each catalog is opened on first use.

    `policy` are the privileges of users who are not administrators; `clock` determines the age of cache entries.
    """
    directory, remove = _data_directory(config)
    caches, home = make_caches(config.caches, classify, clock), Scope(LAKE, DEFAULT)
    persistent = _secret_file(config, directory)
    engine = Engine(config, caches, home, _opener, on_close=remove, policy=policy, secret_file=persistent)
    for secret in config.secrets.values():
        with naming_section(f"secrets.{secret.name}"):
            engine.secrets.put(secret_of(secret), DEPLOYMENT)
    engine.secrets.load()
    base = None if config.source is None else config.source.parent
    for catalog in config.catalogs.values():
        with naming_section(f"catalogs.{catalog.name}"):
            engine.registry.mount(mount_of(engine, catalog, base))
    if LAKE not in config.catalogs:
        engine.registry.mount(_lake(engine, directory))
    engine.make_remote = partial(_spark, config)
    return engine


def secret_of(secret: SecretConfig) -> Secret:
    """Returns a secret of the configuration: for its catalogs, and for the users and roles that it names."""
    return parse_secret(
        secret.name, DEPLOYMENT.user, secret.values, shared=True, users=secret.users, roles=secret.roles
    )


def _spark(config: Config) -> RemoteEngine:
    from pinakes.spark.remote import SparkEngine

    return SparkEngine(config.spark, config.engine.spill_dir)


def _lake(engine: Engine, directory: Path) -> Mount:
    engine.own_directories = (str((directory / "warehouse").resolve()),)
    mount_id = MountId(engine.next_mount_id())
    opener = partial(_open_lake, engine, directory, str(mount_id))
    return Mount(LAKE, "sqlite", "config", DEPLOYMENT.user, opener, caches=engine.caches, id=mount_id)


def mount_of(engine: Engine, catalog: CatalogConfig, base: Path | None) -> Mount:
    """Mounts a catalog of the configuration like ATTACH, visible to all users. It is not contacted before it is
    used."""
    options = {"TYPE": catalog.type, "VISIBILITY": "all", **_typed(catalog.options)}
    common = take_common(catalog.name, options)
    if common.visibility != "all":
        raise InvalidArgument("a configured catalog is visible to all users: leave out visibility, or ATTACH it")
    name, location = catalog.name, catalog.location or ""
    return make_mount(engine, name, location, common, options, owner=DEPLOYMENT, origin="config", base=base)


@contextmanager
def naming_section(section: str) -> Iterator[None]:
    """Adds the section of the configuration to errors within the block."""
    try:
        yield
    except PinakesError as error:
        raise ConfigError(f"[{section}]: {error.message}") from error


def _open_lake(engine: Engine, directory: Path, mount_id: str, identity: Identity) -> Catalog:
    options: dict[str, OptionValue] = {"DEFAULT_NAMESPACE": DEFAULT[0]}
    roots = engine.confined_to(engine.files, [directory / "warehouse"])
    policy = engine.policy  # a table with a LOCATION in an object store must not use the server's credentials
    access = Access(ambient=policy.destinations is None or "server_credentials" in policy.everybody_may)
    catalog, _ = engine.open_catalog(Opening("sqlite", LAKE, str(directory), options, mount_id, access, roots))
    assert isinstance(catalog, SupportsNamespaceChanges)
    if not catalog.namespace_exists(DEFAULT):
        with suppress(NamespaceExists):  # created concurrently by another process
            catalog.create_namespace(DEFAULT, {})
    return catalog


def _opener(engine: Engine, opening: Opening) -> tuple[Catalog, Callable[[], None]]:
    """Opens a catalog of any type with call counting and caching, separate for each user's token. Returns it with the
    function that closes it."""
    inner = open_catalog(opening.type, opening.alias, opening.location, opening.options, opening.access)
    if opening.roots is not None:
        from pinakes.providers.iceberg.adapter import IcebergReader

        if isinstance(inner, IcebergReader):
            # Object stores are read with the credentials of the limited user who attached it.
            reader = opening.mount_id if opening.access.outbound is not None else ""
            inner.confine(opening.roots, opening.access.stores, reader)
    user = Identity("", opening.access.token).fingerprint
    counted = count_calls(inner, opening.alias, engine.calls)
    found = cache_catalog(counted, engine.caches, mount=opening.mount_id, user=user, origin=opening.origin)
    return found, inner.close


def _typed(options: Mapping[str, object]) -> dict[str, OptionValue]:
    return {
        k.upper(): v if isinstance(v, str | int | float | bool) or v is None else str(v) for k, v in options.items()
    }


def _secret_file(config: Config, directory: Path) -> SecretFile | None:
    """Returns the file of persistent secrets; None for temporary data."""
    if config.engine.data == MEMORY:
        return None
    from pinakes.core.secret_file import SecretFile

    key_file = config.engine.secret_key_file
    return SecretFile(directory, secret_keys(), None if key_file is None else Path(key_file))


def _data_directory(config: Config) -> tuple[Path, Callable[[], None]]:
    """Returns the directory of the embedded catalog, and the function that removes it: a temporary directory for
    `:memory:`."""
    if config.engine.data != MEMORY:
        return Path(config.engine.data), lambda: None
    from pinakes.engine.files.scratch import Scratch

    try:
        scratch = Scratch(prefix="pinakes-memory-")
    except OSError as error:
        raise CatalogUnavailable(
            f"there is no place for the data of {MEMORY} in the directory for temporary files: {error}. Set TMPDIR to "
            f"another, or name a data directory."
        ) from error
    return scratch.path, scratch.remove
