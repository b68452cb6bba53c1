"""Mounting and unmounting catalogs: ATTACH, DETACH, CREATE and DROP CATALOG, SHOW CATALOGS."""

from __future__ import annotations

import re
from functools import partial

from pinakes.core.errors import CatalogExists, CatalogNotFound, InvalidArgument, PermissionDenied
from pinakes.core.identity import Identity
from pinakes.core.names import RESERVED_CATALOGS, Part
from pinakes.engine.catalogs.mounting import make_mount, take_common, verify
from pinakes.engine.catalogs.mounts import Mounted
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser.redaction import masked_address
from pinakes.parser.statements import Attach, CreateCatalog, Detach, DropCatalog, OptionValue, ShowCatalogs


def attach(statement: Attach, execution: Execution) -> Result:
    """ATTACH 'location' AS name (TYPE t, …): mounts a catalog. Other catalogs need not be reachable."""
    options = {option.key: option.value for option in statement.options}
    location, name = statement.location, statement.name.exact if statement.name else None
    if "LOCATION" in options:  # ATTACH 'name' (TYPE t, LOCATION 'location')
        location, name = str(options.pop("LOCATION")), name or statement.location
    _mount(
        execution,
        name or _default_name(location),
        location,
        options,
        if_not_exists=statement.if_not_exists,
        or_replace=statement.or_replace,
    )
    return Result.done("ATTACH")


def _mount(
    execution: Execution,
    name: str,
    location: str,
    options: dict[str, OptionValue],
    *,
    if_not_exists: bool = False,
    or_replace: bool = False,
) -> None:
    """Mount a catalog under a name, unless the name is taken."""
    session = execution.session
    catalogs, engine = session.catalogs, session.engine
    if if_not_exists and catalogs.find(Part(name, quoted=True)) is not None:
        return
    replace = partial(_check_may_unmount, identity=session.identity) if or_replace else None
    catalogs.check_free(name, replace=replace)  # before anything is opened, and checked again at the end
    common = take_common(name, options)
    audience = catalogs.audience(common.visibility)
    made = make_mount(engine, name, location, common, options, owner=session.identity, audience=audience)
    used = [engine.secrets.get(ref) for ref in made.secrets]
    if common.verify:
        verify(made, session.identity, execution.query.check)
    try:
        with engine.secrets.lock:  # a secret dropped meanwhile is either missing here, or in use by the mount
            current = [engine.secrets.get(ref) for ref in made.secrets]
            catalogs.mount(made, replace=replace)
    except CatalogExists:
        if not if_not_exists:
            raise
    else:
        if any(new is not old for new, old in zip(current, used, strict=True)):
            made.renew()  # a secret was replaced before the mount was known to use it


def _default_name(location: str) -> str:
    """As in DuckDB: the last part of the location up to its first dot. A login never becomes a name."""
    last = re.split(r"[?#]", location)[0].rstrip("/").rsplit("/", 1)[-1]
    name = last.lstrip(".").split(".")[0].lower()
    if not name or ":" in last or "@" in last or masked_address(last) != last:
        raise InvalidArgument("ATTACH needs a name here: ATTACH '…' AS name")
    return f"{name}_db" if name in RESERVED_CATALOGS else name


def detach(statement: Detach, execution: Execution) -> Result:
    """DETACH [DATABASE] [IF EXISTS] name: removes a mounted catalog. Running queries on the catalog finish."""
    _unmount(execution.session, statement.name, if_exists=statement.if_exists)
    return Result.done("DETACH")


def _unmount(session: Session, name: Part, *, if_exists: bool) -> None:
    try:
        mounted = session.catalogs.require(name)
        if mounted.is_private:
            raise InvalidArgument(
                f"catalog '{mounted.name}' belongs to the session and can't be dropped; drop its tables instead"
            )
        if mounted.is_system:
            raise InvalidArgument(f"catalog '{mounted.name}' is always there: it holds the system tables")
        _check_may_unmount(mounted, session.identity)
        session.catalogs.detach(mounted)
    except CatalogNotFound:  # also when another session was faster
        if not if_exists:
            raise


def create_catalog(statement: CreateCatalog, execution: Execution) -> Result:
    """CREATE CATALOG name USING type WITH (LOCATION '…', …): the same as ATTACH."""
    options = {option.key: option.value for option in statement.options}
    _mount(
        execution,
        statement.name.exact,
        str(options.pop("LOCATION", "")),
        options,
        if_not_exists=statement.if_not_exists,
        or_replace=statement.or_replace,
    )
    return Result.done("CREATE CATALOG")


def drop_catalog(statement: DropCatalog, execution: Execution) -> Result:
    """DROP CATALOG [IF EXISTS] name: the same as DETACH. The contents of the catalog are not changed."""
    _unmount(execution.session, statement.name, if_exists=statement.if_exists)
    return Result.done("DROP CATALOG")


def show_catalogs(statement: ShowCatalogs, execution: Execution) -> Result:
    """SHOW CATALOGS [LIKE p]: lists all mounted catalogs, whether or not they can be reached, as
    system.metadata.catalogs.
    """
    names = [mount.name for mount in execution.session.catalogs.visible()]
    return Result.names("Catalog", names, statement.like)


def _check_may_unmount(mounted: Mounted, identity: Identity) -> None:
    """The user who attached a catalog may detach it, and an administrator any."""
    mount = mounted.mount
    if identity.is_admin or (mount.origin == "attach" and mount.owner == identity.user):
        return
    whose = "comes from the configuration" if mount.origin == "config" else "was attached by another user"
    raise PermissionDenied(f"catalog '{mount.name}' {whose}: only an administrator may detach or replace it")
