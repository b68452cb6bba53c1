"""ATTACH 'location' AS name (TYPE t, …): mount a catalog. No other catalog has to be reachable for it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath

from pinakes.core.errors import CatalogExists, InvalidArgument
from pinakes.core.names import Part
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.ownership import check_may_unmount
from pinakes.engine.mounting import make_mount, take_common, verify
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.parser.statements import Attach, Option, OptionValue


def attach(statement: Attach, execution: Execution) -> Result:
    options = given(statement.options)
    location, name = statement.location, statement.name.exact if statement.name else None
    if "LOCATION" in options:  # ATTACH 'name' (TYPE t, LOCATION 'location')
        location, name = str(options.pop("LOCATION")), name or statement.location
    mount(
        execution.session,
        name or _name_from(location),
        location,
        options,
        if_not_exists=statement.if_not_exists,
        or_replace=statement.or_replace,
    )
    return Result.done("ATTACH")


def mount(
    session: Session,
    name: str,
    location: str,
    options: dict[str, OptionValue],
    *,
    if_not_exists: bool = False,
    or_replace: bool = False,
) -> None:
    """Mount a catalog under a name, unless the name is taken."""
    catalogs, engine = session.catalogs, session.engine
    if if_not_exists and catalogs.find(Part(name, quoted=True)) is not None:
        return
    replace = partial(check_may_unmount, identity=session.identity) if or_replace else None
    catalogs.check_free(name, replace=replace)  # before anything is opened; it is asked again at the end
    common = take_common(name, options)
    audience = catalogs.audience(common.visibility)
    made = make_mount(engine, name, location, common, options, owner=session.identity, audience=audience)
    used = [engine.secrets.get(ref) for ref in made.secrets]
    if common.verify:
        verify(made, session.identity)
    try:
        with engine.secrets.lock:  # a secret that is dropped meanwhile is missed here, or sees the mount
            current = [engine.secrets.get(ref) for ref in made.secrets]
            catalogs.mount(made, replace=replace)
    except CatalogExists:
        if not if_not_exists:
            raise
    else:
        if any(new is not old for new, old in zip(current, used, strict=True)):
            made.renew()  # a secret was replaced before it could see the mount


def given(options: Iterable[Option]) -> dict[str, OptionValue]:
    """Options by key; the parser lets none be given twice."""
    return {option.key: option.value for option in options}


def _name_from(location: str) -> str:
    """As in DuckDB: the last part of the location without its ending."""
    name = PurePosixPath(location.rstrip("/")).stem
    if not name:
        raise InvalidArgument("ATTACH needs a name here: ATTACH '…' AS name")
    return name.lower()
