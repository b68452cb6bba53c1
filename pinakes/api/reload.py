"""Reloads the configuration of a running engine: added, removed and changed catalogs and secrets.

Errors are raised before the registry changes. A statement that uses a removed or changed catalog continues with the old
one. Changes that require a restart are reported and not applied.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NamedTuple

from pinakes.api.build import DEPLOYMENT, LAKE, mount_of, naming_section, secret_of
from pinakes.config.model import Config
from pinakes.core.errors import SecretInUse
from pinakes.core.secrets import Secret
from pinakes.engine.catalogs.registry import EVERYBODY, Mount
from pinakes.engine.catalogs.secrets import SHARED, SecretRef
from pinakes.engine.engine import Engine


class Reloaded(NamedTuple):
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """Changed sections that require a restart."""

    def __str__(self) -> str:
        said = [f"{what} {', '.join(names)}" for what, names in zip(_WORDS, self, strict=True) if names]
        return "; ".join(said) or "nothing has changed"


_WORDS = ("catalogs added:", "catalogs removed:", "catalogs changed:", "secrets changed:", "needs a restart:")


def reload_config(engine: Engine, new: Config) -> Reloaded:
    """Applies a configuration to the engine; returns the changes."""
    old = engine.config
    secrets = _changed_secrets(old, new)
    names = {name for name in {*old.catalogs, *new.catalogs} if old.catalogs.get(name) != new.catalogs.get(name)}
    names -= {LAKE}  # replacing the embedded catalog requires a restart
    _put(engine, secrets)
    mounts = [_mounted(engine, new, name) for name in sorted(names & new.catalogs.keys())]
    removed = sorted(names - new.catalogs.keys())
    with engine.registry.changing():
        known = dict(engine.registry.of(EVERYBODY))
        gone = [known[name] for name in removed if name in known and known[name].origin == "config"]
        for mount in gone:
            engine.registry.detach(mount)
        for mount in mounts:
            engine.registry.mount(mount, in_place_of=known.get(mount.name))
            gone += [known[mount.name]] if mount.name in known else []
    for mount in gone:
        mount.forget()
    _drop(engine, old, new)
    engine.config = replace(new, engine=old.engine, caches=old.caches, source=old.source)
    if engine.admission is not None:
        engine.admission.limits = new.server.statements
    added = tuple(m.name for m in mounts if m.name not in old.catalogs)
    changed = tuple(m.name for m in mounts if m.name in old.catalogs)
    return Reloaded(added, tuple(removed), changed, tuple(s.name for s in secrets), _needs_start(old, new))


def _changed_secrets(old: Config, new: Config) -> list[Secret]:
    found = []
    for name, secret in new.secrets.items():
        if old.secrets.get(name) != secret:
            with naming_section(f"secrets.{name}"):
                found.append(secret_of(secret))
    return found


def _put(engine: Engine, secrets: list[Secret]) -> None:
    for secret in secrets:
        engine.secrets.put(secret, DEPLOYMENT, replace=True)
        for mount in engine.users_of(SecretRef(SHARED, secret.name)):
            mount.renew()  # reopens the catalog with the new value


def _drop(engine: Engine, old: Config, new: Config) -> None:
    """Drops removed secrets. One that an attached catalog uses stays until the restart."""
    for name in old.secrets.keys() - new.secrets.keys():
        ref = SecretRef(SHARED, name)
        try:
            engine.secrets.drop(ref, DEPLOYMENT, [mount.name for mount in engine.users_of(ref)])
        except SecretInUse:
            continue


def _mounted(engine: Engine, new: Config, name: str) -> Mount:
    with naming_section(f"catalogs.{name}"):
        return mount_of(engine, new.catalogs[name], None if new.source is None else new.source.parent)


def _needs_start(old: Config, new: Config) -> tuple[str, ...]:
    lake = ["catalogs.lake"] if old.catalogs.get(LAKE) != new.catalogs.get(LAKE) else []
    metrics = ["server.metrics"] if old.server.metrics != new.server.metrics else []
    return (
        *_differing("engine", old.engine, new.engine),
        *_differing("caches", old.caches, new.caches),
        *(key for key in _differing("server", old.server.limits, new.server.limits) if key != "server.drain_time"),
        *lake,
        *metrics,
        *(["log"] if old.log != new.log else []),
    )


def _differing(section: str, old: Any, new: Any) -> list[str]:
    return [f"{section}.{f.name}" for f in fields(old) if getattr(old, f.name) != getattr(new, f.name)]
