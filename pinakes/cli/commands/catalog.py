"""Commands that list catalog objects: \\d, \\dt, \\dv, \\dn, \\df, \\l, \\c."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pinakes.cli.commands.base import Call
from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Name, Part, text_literal
from pinakes.parser.lexemes import lexemes

if TYPE_CHECKING:
    from pinakes.engine.binding.namespaces import Kind
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
    call.runner.show(lambda: _function_rows(call))


def _function_rows(call: Call) -> Result:
    found = [row for row in call.backend.functions() if _fits(row[0], call.argument)]
    return _rows(("Name", "Kind", "Syntax", "Description"), found)


def _show(call: Call, kind: Kind | None) -> None:
    place, pattern = _place_and_pattern(call.argument)
    call.runner.show(lambda: _object_rows(call, place, pattern, kind))


def _object_rows(call: Call, place: Name | None, pattern: str, kind: Kind | None) -> Result:
    """Returns the tables and views of a namespace; for the current one also those of the session."""
    found = [row for row in call.backend.objects(place, kind) if _fits(row[1], pattern)]
    return _rows(("Namespace", "Name", "Type"), found)


def _rows(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Result:
    import pyarrow as pa

    from pinakes.engine.result import Result

    return Result.rows(pa.schema([(title, pa.string()) for title in titles]), rows)


def _place_and_pattern(text: str) -> tuple[Name | None, str]:
    """Splits `lake.sales.o*` into the namespace lake.sales and the pattern o*."""
    before, _, pattern = text.rpartition(".")
    if not before:
        return None, pattern
    parts = [lexeme for lexeme in lexemes(before) if lexeme.kind in ("word", "quoted")]
    if not parts:
        raise InvalidArgument(f"{before!r} is not a namespace; write a pattern such as o*, or lake.sales.o*")
    return Name(tuple(Part(lexeme.text, quoted=lexeme.kind == "quoted") for lexeme in parts)), pattern


def _fits(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name.casefold(), pattern.casefold())


def _like(pattern: str) -> str:
    """Converts `*` and `?` to the wildcards of LIKE."""
    return pattern.replace("%", "\\%").replace("_", "\\_").replace("*", "%").replace("?", "_")
