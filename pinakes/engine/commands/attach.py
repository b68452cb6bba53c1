"""ATTACH 'location' AS name (TYPE t, …): mount a catalog. No other catalog has to be reachable for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from pinakes.core.errors import CatalogExists, InvalidArgument
from pinakes.core.names import RESERVED_CATALOGS, Part
from pinakes.engine.catalogs.mounting import make_mount, take_common, verify
from pinakes.engine.commands.ownership import check_may_unmount
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.redaction import masked_address
from pinakes.parser.statements import Attach, Option, OptionValue


def attach(statement: Attach, execution: Execution) -> Result:
    options = given(statement.options)
    location, name = statement.location, statement.name.exact if statement.name else None
    if "LOCATION" in options:  # ATTACH 'name' (TYPE t, LOCATION 'location')
        location, name = str(options.pop("LOCATION")), name or statement.location
    mount(
        execution,
        name or _name_from(location),
        location,
        options,
        if_not_exists=statement.if_not_exists,
        or_replace=statement.or_replace,
    )
    return Result.done("ATTACH")


def mount(
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
    replace = partial(check_may_unmount, identity=session.identity) if or_replace else None
    catalogs.check_free(name, replace=replace)  # before anything is opened; it is asked again at the end
    common = take_common(name, options)
    audience = catalogs.audience(common.visibility)
    made = make_mount(engine, name, location, common, options, owner=session.identity, audience=audience)
    used = [engine.secrets.get(ref) for ref in made.secrets]
    if common.verify:
        verify(made, session.identity, execution.query.check)
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
    """As in DuckDB: the last part of the location up to its first dot. A login never becomes a name."""
    last = re.split(r"[?#]", location)[0].rstrip("/").rsplit("/", 1)[-1]
    name = last.lstrip(".").split(".")[0].lower()
    if not name or ":" in last or "@" in last or masked_address(last) != last:
        raise InvalidArgument("ATTACH needs a name here: ATTACH '…' AS name")
    return f"{name}_db" if name in RESERVED_CATALOGS else name
