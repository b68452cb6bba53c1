"""From options to a mount, for ATTACH and for the configuration: what every catalog type has in common.

The common options are taken out here; the rest is the type's own and is checked when it is opened.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pinakes.core.errors import (
    CatalogUnavailable,
    InvalidArgument,
    OptionNotFound,
    PermissionDenied,
    SecretNotFound,
)
from pinakes.core.identity import Identity
from pinakes.core.location import STORES, Location
from pinakes.core.names import Part
from pinakes.core.secrets import STORAGE, Access, Secret, covers
from pinakes.core.values import one_of, text, truth
from pinakes.core.waiting import BREAKS, Breaks
from pinakes.engine.catalogs.opening import Opening
from pinakes.engine.catalogs.registry import EVERYBODY, Audience, Mount, MountId, Origin
from pinakes.providers.registry import check_options, destinations, local_paths, passes_token, paths_from

if TYPE_CHECKING:
    from pathlib import Path

    from pinakes.core.access.outbound import Outbound
    from pinakes.core.catalog import Catalog
    from pinakes.engine.catalogs.authorization.guard import Guard
    from pinakes.engine.catalogs.secrets import SecretRef
    from pinakes.engine.engine import Engine
    from pinakes.parser.statements import OptionValue

T = TypeVar("T")

VERIFY_SECONDS = 20.0
"""How long ATTACH waits for a catalog's answer."""

_GLANCE = 0.1
"""Seconds after which it is looked whether the statement was stopped meanwhile."""


@dataclass(frozen=True, slots=True)
class Common:
    """The options that every type of catalog has."""

    type: str
    secret: str | None = None
    storage_secret: str | None = None
    verify: bool = True
    read_only: bool = False
    pass_token: bool = False
    visibility: str = "user"


_PARSERS: dict[str, Callable[[object], object]] = {
    "TYPE": text,
    "SECRET": text,
    "STORAGE_SECRET": text,
    "VERIFY": truth,
    "READ_ONLY": truth,
    "PASS_TOKEN": truth,
    "VISIBILITY": one_of("session", "user", "all"),
}


def take_common(name: str, options: dict[str, OptionValue]) -> Common:
    """The common options, taken out of those given."""
    values = {}
    for key, parse in _PARSERS.items():
        if key in options:
            try:
                values[key.lower()] = parse(options.pop(key))
            except ValueError as error:
                raise InvalidArgument(f"option {key} must be {error}") from error
    if "type" not in values:
        raise InvalidArgument(_no_type(name))
    common = Common(**{**values, "type": str(values["type"]).lower()})  # type: ignore[arg-type]
    if common.pass_token and common.secret is not None:
        raise InvalidArgument("PASS_TOKEN sends the session's own token: leave out SECRET, or PASS_TOKEN")
    return common


def make_mount(
    engine: Engine,
    name: str,
    location: str,
    common: Common,
    options: Mapping[str, OptionValue],
    *,
    owner: Identity,
    origin: Origin = "attach",
    audience: Audience = EVERYBODY,
    base: Path | None = None,
) -> Mount:
    """A mount, not opened yet. Its secrets must be there for the owner; their values are read at each opening.

    Its relative paths are counted from `base`, or from where the process runs.
    """
    refs = {
        key: _secret(engine, name, owner)
        for key, name in (("secret", common.secret), ("storage", common.storage_secret))
        if name is not None
    }
    if common.pass_token and not passes_token(common.type):
        raise InvalidArgument(f"catalog type {common.type} sends no token: leave out PASS_TOKEN")
    files = engine.files
    if origin == "attach":
        _check_options(common.type, options)
        guard = engine.guard(owner)
        used = {key: engine.secrets.get(ref) for key, ref in refs.items()}
        _outbound(guard, common.type, location, options, used.values())
        _check_bound(owner, used.get("secret"))
        guard.mount(location, common, options, local_paths(common.type, location, options))
        files = guard.files
    mount_id = MountId(engine.next_mount_id())

    def opened(identity: Identity) -> tuple[Catalog, Callable[[], None]]:
        while True:
            number = str(mount_id)  # before the secrets are read: what an old one opens never has the new number
            access = _access(engine, refs, identity, name if common.pass_token else None)
            try:
                if origin == "attach":  # a secret may have been replaced, and the policy may have changed
                    access = _limited(engine.guard(owner), common.type, location, options, access)
                place, given = paths_from(base, common.type, location, options)
                roots = engine.confined_to(files, local_paths(common.type, place, given))
                return engine.open_catalog(Opening(common.type, name, place, given, number, access, roots))
            except SecretNotFound:
                if all(engine.secrets.get(ref) is getattr(access, key) for key, ref in refs.items()):
                    raise  # else it was replaced, and wiped, in this very moment

    def opener(identity: Identity) -> Catalog:
        catalog, close = opened(identity)
        weakref.finalize(catalog, close).atexit = False  # a detached one is closed after its last use
        return catalog

    return Mount(
        name,
        common.type,
        origin,
        owner.user,
        opener,
        audience,
        read_only=common.read_only,
        pass_token=common.pass_token,
        secrets=tuple(refs.values()),
        places=_places(engine, location, options, refs),
        caches=engine.caches,
        id=mount_id,
    )


def _places(
    engine: Engine, location: str, options: Mapping[str, OptionValue], refs: Mapping[str, SecretRef]
) -> tuple[str, ...]:
    """The parts of object stores that are a catalog's own."""
    given = (location, str(options.get("WAREHOUSE") or ""))
    own = [Location.parse(text).identity for text in given if text.partition("://")[0] in STORES]
    secret, storage = (engine.secrets.get(refs[key]) if key in refs else None for key in ("secret", "storage"))
    scope = Access(secret, storage).stores
    return (*own, scope) if scope else tuple(own)


def verify(mount: Mount, identity: Identity, check: Callable[[], None]) -> None:
    """Open a mount and ask it something; an error when it does not answer in time, or when `check` raises one."""
    in_time(lambda: mount.catalog_for(identity).check(), VERIFY_SECONDS, mount.name, check)


def in_time(work: Callable[[], T], seconds: float, name: str, check: Callable[[], None] = lambda: None) -> T:
    """What `work` gives, unless it takes too long or `check` raises: then it is broken off, on its own thread."""
    outcome: list[T] = []
    failure: list[BaseException] = []
    breaks = Breaks()

    def run() -> None:
        BREAKS.set(breaks)  # of this thread only
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            failure.append(error)

    thread = threading.Thread(target=run, name=f"open-{name}", daemon=True)
    thread.start()
    until = time.monotonic() + seconds
    try:
        while thread.is_alive() and (left := until - time.monotonic()) > 0:
            thread.join(min(left, _GLANCE))
            check()
    except BaseException:
        breaks.leave()
        raise
    if failure:
        raise failure[0]
    if not outcome:
        breaks.leave()
        raise CatalogUnavailable(
            f"catalog '{name}' did not answer within {seconds:g} seconds. "
            f"Check that its server is running, or attach it with VERIFY false."
        )
    return outcome[0]


def _check_options(type: str, options: Mapping[str, OptionValue]) -> None:
    """Checked before the catalog is opened, too: an unknown option is an error."""
    try:
        check_options(type, options)
    except OptionNotFound as error:
        raise OptionNotFound(f"{error.message}. Every type has: {', '.join(_PARSERS)}") from error


def _secret(engine: Engine, name: str, owner: Identity) -> SecretRef:
    """The secret of exactly this name, else the one that is written so: an option does not tell names from texts."""
    return engine.secrets.find(Part(name, quoted=True), owner) or engine.secrets.require(Part(name), owner)


def _access(engine: Engine, refs: Mapping[str, SecretRef], identity: Identity, passing: str | None) -> Access:
    if passing is not None and identity.token is None:
        raise PermissionDenied(
            f"catalog '{passing}' is reached with the session's own token, and this session has none: connect with one"
        )
    used = {key: engine.secrets.get(ref) for key, ref in refs.items()}
    return Access(used.get("secret"), used.get("storage"), identity.token if passing is not None else None)


def _outbound(
    guard: Guard, type: str, location: str, options: Mapping[str, OptionValue], secrets: Iterable[Secret]
) -> Outbound | None:
    """The hosts that a catalog may connect to; PermissionDenied if its location, options or secrets name another.

    The hosts in a shared secret were chosen by an administrator.
    """
    outbound = guard.outbound
    if outbound is None:
        return None
    from pinakes.core.access.outbound import destination_of

    for secret in secrets:
        ends = [(uri, key == "ENDPOINT") for key in ("ENDPOINT", "TOKEN_URI") if (uri := secret.get(key))]
        led = [destination_of(uri, library=library) for uri, library in ends]
        if secret.shared:
            outbound = outbound.including(led)
        for destination in led:
            outbound.check(destination)
    for destination in destinations(type, location, options):
        outbound.check(destination)
    return outbound


def _limited(guard: Guard, type: str, location: str, options: Mapping[str, OptionValue], access: Access) -> Access:
    """With what a catalog that a user has attached is opened now."""
    owner, used = guard.identity, [secret for secret in (access.secret, access.storage) if secret is not None]
    for secret in used:
        if not secret.serves(owner):  # a reload has taken it from the user
            raise PermissionDenied(f"secret '{secret.name}' is not for {owner.user} any more. Ask an administrator.")
    _check_bound(owner, access.secret)
    outbound = _outbound(guard, type, location, options, used)
    access = replace(access, outbound=outbound, ambient=guard.policy.may(owner, "server_credentials"))
    for place in (location, str(options.get("WAREHOUSE") or "")):
        if place.partition("://")[0].lower() in STORES and access.stores and not covers(access.stores, place):
            raise PermissionDenied(
                f"this catalog would be at '{place}', and its credentials are for {access.stores}… only. Use a place "
                f"within the SCOPE of the STORAGE_SECRET, or another secret."
            )
    return access


def _check_bound(owner: Identity, secret: Secret | None) -> None:
    """A password or token that an administrator shares must say where it may be sent to."""
    if secret is None or not secret.shared or owner.is_admin or secret.scope or secret.type in STORAGE:
        return
    raise PermissionDenied(
        f"secret '{secret.name}' is shared and has no SCOPE, so that only administrators may attach catalogs with it. "
        f"Ask one to give it the address that it may be sent to: SCOPE 'https://host/path'"
    )


def _no_type(name: str) -> str:
    from pinakes.providers.registry import known_types

    known = ", ".join(known_types())
    return f"ATTACH … AS {name} needs a TYPE; known types: {known}. For example (TYPE sqlite)."
