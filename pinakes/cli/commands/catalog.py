"""What there is to query: \\d, \\dt, \\dv, \\dn, \\df, \\l, \\c."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pinakes.cli.commands.base import Call
from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Name, Part, dotted, text_literal
from pinakes.parser.lexemes import lexemes

if TYPE_CHECKING:
    from pinakes.engine.places import Kind, Place
    from pinakes.engine.result import Result


def describe(call: Call) -> None:
    """\\d [name]"""
    if call.argument:
        call.runner.run(f"DESCRIBE {call.argument}")
    else:
        _show(call, None)


def tables(call: Call) -> None:
    _show(call, "TABLE")


def views(call: Call) -> None:
    _show(call, "VIEW")


def namespaces(call: Call) -> None:
    call.runner.run(f"SHOW SCHEMAS IN {call.argument}" if call.argument else "SHOW SCHEMAS")


def catalogs(call: Call) -> None:
    pattern = f" LIKE {text_literal(_like(call.argument))}" if call.argument else ""
    call.runner.run("SHOW CATALOGS" + pattern)


def use(call: Call) -> None:
    if not call.argument:
        raise InvalidArgument("\\c needs a catalog or namespace, as in \\c lake.default; \\l lists the catalogs")
    call.runner.run(f"USE {call.argument}")


def functions(call: Call) -> None:
    call.runner.show(lambda: _function_rows(call.argument))


def _function_rows(pattern: str) -> Result:
    import pyarrow as pa

    from pinakes.engine.functions import functions
    from pinakes.engine.result import Result

    schema = pa.schema([(title, pa.string()) for title in ("Name", "Kind", "Syntax", "Description")])
    found = [f for f in functions() if _fits(f.name, pattern)]
    return Result.rows(schema, [(*f[:3], " ".join(f.description.split())) for f in found])


def _show(call: Call, kind: Kind | None) -> None:
    place, pattern = _place_and_pattern(call.argument)
    call.runner.show(lambda: _object_rows(call, place, pattern, kind))


def _object_rows(call: Call, name: Name | None, pattern: str, kind: Kind | None) -> Result:
    """The tables and views of a namespace; of the current one, and those that only the session has."""
    import pyarrow as pa

    from pinakes.engine.places import Place, objects
    from pinakes.engine.result import Result

    resolver = call.session.resolver
    place = resolver.namespace(name)
    if name is not None and not place.namespace:
        place = Place(place.mount, resolver.home(place.mount))
    own = resolver.temporary_place() if name is None else None
    rows = sorted(
        (_label(each), found, which.lower())
        for each in (place, *([own] if own else []))
        for found, which in objects(each.mount.catalog, each).items()
        if kind in (None, which) and _fits(found, pattern)
    )
    schema = pa.schema([(title, pa.string()) for title in ("Namespace", "Name", "Type")])
    return Result.rows(schema, rows)


def _label(place: Place) -> str:
    return dotted((place.mount.name, *place.namespace))


def _place_and_pattern(text: str) -> tuple[Name | None, str]:
    """`lake.sales.o*` → the namespace lake.sales and the pattern o*."""
    before, _, pattern = text.rpartition(".")
    if not before:
        return None, pattern
    parts = [lexeme for lexeme in lexemes(before) if lexeme.kind in ("word", "quoted")]
    if not parts:
        raise InvalidArgument(f"{before!r} is no namespace; write a pattern like o*, or lake.sales.o*")
    return Name(tuple(Part(lexeme.text, quoted=lexeme.kind == "quoted") for lexeme in parts)), pattern


def _fits(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name.casefold(), pattern.casefold())


def _like(pattern: str) -> str:
    """`*` and `?` as LIKE spells them."""
    return pattern.replace("%", "\\%").replace("_", "\\_").replace("*", "%").replace("?", "_")
