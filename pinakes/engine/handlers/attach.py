"""ATTACH 'location' AS name (TYPE t, …): mount a catalog. No other catalog has to be reachable for it."""

from __future__ import annotations

from pathlib import PurePosixPath

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Part
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.ownership import check_may_unmount
from pinakes.engine.registry import Mount
from pinakes.engine.result import Result
from pinakes.parser.statements import Attach, OptionValue


def attach(statement: Attach, execution: Execution) -> Result:
    session = execution.session
    registry = session.engine.registry
    name = statement.name.exact if statement.name else _name_from(statement.location)
    if statement.if_not_exists and any(m.name == name for m in registry.mounts()):
        return Result.done("ATTACH")
    registry.check_free(name, replace=statement.or_replace)
    if statement.or_replace and registry.find(Part(name, quoted=True)) is not None:
        check_may_unmount(registry.get(name), session.identity)
    options = _options(statement)
    kind = options.pop("TYPE", None)
    if not isinstance(kind, str):
        raise InvalidArgument(_no_type(name))
    verify = options.pop("VERIFY", True)
    opened = session.engine.open_catalog(kind.lower(), name, statement.location, options)
    if verify:
        opened.check()
    mount = Mount(name, kind.lower(), "attach", session.identity.user, lambda: opened, _catalog=opened)
    try:
        registry.mount(mount, replace=statement.or_replace)
    except BaseException:
        opened.close()
        raise
    return Result.done("ATTACH")


def _options(statement: Attach) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {}
    for option in statement.options:
        if option.key in options:
            raise InvalidArgument(f"option {option.key} is given twice")
        options[option.key] = option.value
    return options


def _no_type(name: str) -> str:
    from pinakes.providers.registry import known_types

    known = ", ".join(known_types())
    return f"ATTACH … AS {name} needs a TYPE; known types: {known}. For example (TYPE sqlite)."


def _name_from(location: str) -> str:
    """As in DuckDB: the last part of the location without its ending."""
    name = PurePosixPath(location.rstrip("/")).stem
    if not name:
        raise InvalidArgument("ATTACH needs a name here: ATTACH '…' AS name")
    return name.lower()
