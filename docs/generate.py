"""Writes the reference pages that follow from the code: `make docs`. A test says when they are out of step."""

from __future__ import annotations

import re
import tomllib
from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from inspect import getdoc
from pathlib import Path
from textwrap import fill
from typing import Any

from pinakes.cli import main
from pinakes.cli.subcommands import pipeline, users
from pinakes.config import model as config
from pinakes.config import server as server_config
from pinakes.config import serving
from pinakes.config import spark as spark_config
from pinakes.config.server_limits import ServerLimits
from pinakes.config.settings import Settings
from pinakes.core import errors
from pinakes.core.access.privileges import PRIVILEGES
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.values import docs_of
from pinakes.engine.commands.registry import HANDLERS, UNSUPPORTED, handler_of
from pinakes.engine.datafusion.functions import Function, functions
from pinakes.parser import statements
from pinakes.providers.options import describe_options
from pinakes.providers.registry import TYPES, load_type
from pinakes.system_tables import registry as system
from pinakes.system_tables.base import Column

DOCS = Path(__file__).parent
DIFFERENCES = DOCS.parent / "tests/semantics/differences.toml"
NOTE = "<!-- Written by docs/generate.py (`make docs`); change the code instead. -->\n"


def settings() -> str:
    """Everything that SET changes, and every key of the configuration file."""
    return "\n".join(
        [
            "# Settings",
            NOTE,
            "## Session settings",
            "",
            "`SET name = value` changes a setting of the session, `RESET name` restores its default, and `SHOW "
            "SESSION` lists all settings. Defaults come from the configuration file.",
            "",
            *table(("setting", "default", "meaning"), docs_of(Settings)),
            "",
            "## Configuration file",
            "",
            "The configuration is a TOML file. Pinakes reads the first of these files that exists: the file of "
            "`--config`, the file of the environment variable `PINAKES_CONFIG`, `./pinakes.toml`, and `config.toml` in "
            "the user's configuration directory. Relative paths are relative to the file.",
            "",
            *sections(),
            "### [catalogs.NAME]",
            "",
            "A catalog that is mounted at start under this name.",
            "",
            *table(("key", "meaning"), CATALOG_KEYS),
            "",
            "### [secrets.NAME]",
            "",
            "A secret for catalogs of the configuration, for administrators, and for the listed `users` and `roles`. "
            "It has a `type` and the keys of CREATE SECRET. A value is a string, "
            '`{ env = "VARIABLE" }` or `{ file = "path" }`.',
            "",
            "### [server.users] and [server.tokens]",
            "",
            "Users of `pinakes serve`, with their passwords or tokens. Values are given like those of secrets and can "
            "be hashed. [How to secure a server](../how-to/secure-a-server.md) describes other login methods. Without "
            "any, there is no authentication, and the server listens on loopback only.",
            "",
        ]
    )


CATALOG_KEYS = (
    ("type", "Type of the catalog, as in ATTACH … (TYPE x)."),
    ("location", "Location, as in ATTACH 'location'."),
    ("…", "All other keys are options of the catalog type, as in ATTACH … (KEY value)."),
)


def sections() -> Iterable[str]:
    yield from section("engine", config.EngineConfig)
    yield from section("caches", config.CachesConfig)
    yield (
        "`SET GLOBAL cache.NAME.key = value` changes a key while the process runs ([caches](../explanation/caches.md))."
    )
    yield ""
    yield from section("caches.NAME", config.CacheConfig)
    yield from caches("max_entries", config.CacheConfig)
    yield "The cache `listings` has one more key:"
    yield ""
    yield from table(("key", "default", "meaning"), docs_of(config.ListingsConfig)[-1:])
    yield ""
    yield "Caches with a limit in bytes have these keys:"
    yield ""
    yield from table(("key", "default", "meaning"), docs_of(config.SizedCacheConfig))
    yield ""
    yield from caches("max_bytes", config.SizedCacheConfig)
    yield from section("spark", spark_config.SparkConfig)
    yield from section("log", config.LogConfig)
    yield from section("server", server_config.LoginConfig, ServerLimits)
    yield from section("server.statements", serving.StatementLimits)
    yield from section("server.metrics", serving.MetricsConfig)
    yield from section("server.oidc", server_config.OidcConfig)
    yield from section("server.tls", server_config.TlsConfig)
    yield from section("access", server_config.AccessConfig)
    yield from table(("privilege", "allows all users to"), PRIVILEGES.items())
    yield ""


def caches(limit: str, kind: type) -> Iterable[str]:
    every = config.CachesConfig()
    kept = ((f.name, getattr(every, f.name)) for f in fields(every))
    rows = ((name, str(getattr(c, limit)), f"{c.ttl:g}") for name, c in kept if isinstance(c, kind))
    return (*table(("cache", limit, "ttl"), rows), "")


def section(name: str, *kinds: type) -> Iterable[str]:
    rows = (row for kind in kinds for row in docs_of(kind))
    return (f"### [{name}]", "", *table(("key", "default", "meaning"), rows), "")


def error_codes() -> str:
    """Every error with its code, and what it is a kind of."""
    rows = ((f"`{e.code}`", f"`{e.__name__}`", kind_of(e)) for e in every_error())
    return "\n".join(
        [
            "# Errors",
            NOTE,
            "An error consists of a code and a message, `CODE: message`, and the position in the statement if known. "
            "Codes are stable; messages can change. In Python, each code is a class of `pinakes.core.errors`.",
            "",
            *table(("code", "class", "base class"), rows),
            "",
        ]
    )


def catalog_types() -> str:
    """Every option of every catalog type of ours, from the dataclasses that read them."""
    return "\n".join(
        [
            "# Catalog options",
            NOTE,
            "Options of each catalog type in `ATTACH '…' AS name (TYPE t, …)`. "
            "[How to mount catalogs](../how-to/mount-catalogs.md#options-of-every-type) lists options of all types.",
            "",
            *(line for name in sorted(TYPES) for line in options_of(name)),
        ]
    )


def system_tables() -> str:
    """Every system table with its columns, from their declarations."""
    return "\n".join(
        [
            "# System tables",
            NOTE,
            "[How to explore metadata](../how-to/explore-metadata.md) describes their cost. Predicates on columns "
            "marked `*` are pushed down to the catalogs; reading a column marked `+` loads tables.",
            "",
            *(line for schema in system.SCHEMAS for line in schema_tables(schema)),
        ]
    )


FAMILIES = {
    "queries": "Queries",
    "shows": "Metadata",
    "mounts": "Catalogs and secrets",
    "definitions": "Schemas, tables and views",
    "alter": "Altering tables",
    "changes": "Changing rows",
    "session": "The session",
}
"""The families of `parser/statements`, in the order of the page."""


def statement_kinds() -> str:
    """Every statement, from the docstring of its handler."""
    return "\n".join(
        [
            "# Statements",
            NOTE,
            "In the syntax, `[…]` is optional, `|` separates alternatives, and `…` means repetition. A name can have "
            "any number of parts: the last part is the object, the first part is the catalog if a catalog of that name "
            "is mounted, and the parts between are the namespace.",
            "",
            *(line for family, title in FAMILIES.items() for line in (f"## {title}", "", *family_statements(family))),
            "## Unsupported statements",
            "",
            *(f"- {text}" for text in sorted(UNSUPPORTED.values())),
            "",
        ]
    )


def family_statements(family: str) -> Iterable[str]:
    for name in statements.FAMILIES[family].split():
        kind = getattr(statements, name)
        if isinstance(kind, type) and issubclass(kind, statements.Statement) and name in HANDLERS:
            snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
            yield from statement(snake.replace("_", " ").upper(), getdoc(handler_of(name)) or "")


def statement(title: str, doc: str) -> Iterable[str]:
    """The docstring's form, up to the first colon, as code; what it says after that as text."""
    first, *rest = re.split(r"\n\n", doc)
    form, _, meaning = " ".join(first.split()).partition(": ")
    yield from (f"### {title}", "", "```text", form.rstrip("."), "```", "")
    paragraphs = (meaning, *(fill(" ".join(p.split()), 120, break_on_hyphens=False) for p in rest))
    for paragraph in filter(None, paragraphs):
        yield from (paragraph[0].upper() + paragraph[1:], "")


def command() -> str:
    """Every option of `pinakes`, `pinakes user` and `pinakes pipeline`, from their parsers."""
    parsers = (main.make_parser(), *subparsers(users.make_parser()), *subparsers(pipeline.make_parser()))
    texts = [line for parser in parsers for line in usage(parser)]
    return "\n".join(
        [
            "# The command",
            NOTE,
            "[How to use the shell](../how-to/use-the-shell.md) lists the commands of the shell.",
            "",
            *texts,
        ]
    )


def subparsers(parser: ArgumentParser) -> Iterable[ArgumentParser]:
    return (p for action in parser._actions if isinstance(action.choices, dict) for p in action.choices.values())


def usage(parser: ArgumentParser) -> Iterable[str]:
    shown = [action for action in parser._actions if action.help is not SUPPRESS]
    rows = ((words_of(action), (action.help or "") % (vars(action) | {"prog": parser.prog})) for action in shown)
    yield from (f"## {parser.prog}", "", *([parser.description, ""] if parser.description else []))
    yield from (*table(("argument", "meaning"), rows), "")


def words_of(action: Action) -> str:
    """The words of an option and what follows them, as one types them."""
    choices = ",".join(map(str, action.choices)) if action.choices else ""
    value = action.metavar or (f"{{{choices}}}" if choices else action.dest.upper())
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    return f"`{', '.join(action.option_strings)}{'' if action.nargs == 0 else f' {value}'}`"


def differences() -> str:
    """What differs from PostgreSQL, from the list that the tests of semantics go by."""
    entries = tomllib.loads(DIFFERENCES.read_text(encoding="utf-8"))["difference"]
    return "\n".join(
        [
            "# Differences from PostgreSQL",
            NOTE.replace("change the code", "change tests/semantics/differences.toml"),
            "Expressions return the same values as in PostgreSQL, or an error, except for the differences below. The "
            "tests compare every comparison, operator, cast and common function, for every pair of types, with a "
            "PostgreSQL server, and run these examples.",
            "",
            *(line for entry in entries for line in difference(entry)),
        ]
    )


def function_list() -> str:
    """Every function, and the examples of those that DataFusion does not have."""
    listed = functions()
    return "\n".join(
        [
            "# Functions",
            NOTE,
            "`SHOW FUNCTIONS LIKE 'date%'` and `system.metadata.functions` list the functions with their types. Those "
            "in the first section have the names and results of PostgreSQL, or of DuckDB or Trino for those that "
            "PostgreSQL does not have. The rest are functions of DataFusion.",
            "",
            "Formats of dates are constants: those of PostgreSQL (`DD.MM.YYYY HH24:MI`) for `to_char`, `to_date` and "
            "`to_timestamp`, and those of DuckDB and Python (`%d.%m.%Y %H:%M`) for these and `strftime`, "
            "`date_format`, `strptime` and `date_parse`. A pattern that is not known is an error.",
            "",
            "## Functions of PostgreSQL, DuckDB and Trino",
            "",
            *(line for function in listed if function.example for line in function_entry(function)),
            "## Other functions",
            "",
            *table(
                ("function", "kind", "description"),
                [
                    (f"`{' '.join((f.syntax or f.name).split())}`", f.kind, " ".join(f.description.split()))
                    for f in listed
                    if not f.example
                ],
            ),
            "",
        ]
    )


def function_entry(function: Function) -> Iterable[str]:
    """A function with its syntax, types, description and example."""
    takes = f"takes {function.arguments[0]}; " if function.arguments else ""
    yield from (f"### {function.name}", "", f"`{function.syntax}` ({function.kind}): {function.description}", "")
    yield from (f"Types: {takes}returns {function.returns[0]}.", "", "```sql", f"{function.example};", "```", "")


def difference(entry: dict[str, str]) -> Iterable[str]:
    yield from (f"## {entry['title']}", "", entry["reason"], "")
    yield from ("```sql", f"SELECT {entry['example']};", "```", "")
    yield from (*table(("Pinakes", "PostgreSQL"), [(f"`{entry['pinakes']}`", f"`{entry['postgresql']}`")]), "")


def decisions() -> str:
    """The ADRs, by their titles."""
    pages = sorted(path for path in (DOCS / "adr").glob("[0-9]*.md"))
    titles = [(path, path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")) for path in pages]
    return "\n".join(["# Design decisions", NOTE, *(f"- [{title}]({path.name})" for path, title in titles), ""])


def schema_tables(schema: str) -> Iterable[str]:
    full = schema if schema == INFORMATION_SCHEMA else f"{SYSTEM}.{schema}"
    for name in system.names(schema):
        declared = system.table(schema, name)
        rows = ((f"`{c.name}`{mark_of(c)}", sql_name_of_arrow(c.type), c.doc) for c in declared.columns)
        yield from (f"## {full}.{name}", "", declared.doc, "", *table(("column", "type", "meaning"), rows), "")


def mark_of(column: Column[Any]) -> str:
    return " \\*" if column.level is not None else " +" if column.loads else ""


def options_of(name: str) -> Iterable[str]:
    kind = load_type(name)
    rows = ((key, default_of(field), doc) for field, (key, doc) in options(kind.Options))
    yield from (f"## {name}", "", *table(("option", "default", "meaning"), rows), "")


def options(kind: type) -> Iterable[tuple[Field[object], tuple[str, str]]]:
    return zip(fields(kind), describe_options(kind), strict=True)


def default_of(field: Field[object]) -> str:
    if field.default is MISSING:
        return "required"
    if isinstance(field.default, bool):
        return str(field.default).lower()
    return (
        ""
        if field.default is None
        else f"{field.default:g}"
        if isinstance(field.default, float)
        else str(field.default)
    )


def every_error() -> list[type[errors.PinakesError]]:
    """The classes in the order in which they are defined, without the base."""
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.PinakesError)]
    return [e for e in found if e is not errors.PinakesError]


def kind_of(error: type[errors.PinakesError]) -> str:
    parent = error.__mro__[1]
    return "" if parent is errors.PinakesError else f"`{parent.__name__}`"


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A Markdown table."""
    return [_row(header), "|" + "---|" * len(header), *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


PAGES = {
    "reference/settings.md": settings,
    "reference/errors.md": error_codes,
    "reference/catalogs.md": catalog_types,
    "reference/system-tables.md": system_tables,
    "reference/statements.md": statement_kinds,
    "reference/command.md": command,
    "reference/differences.md": differences,
    "reference/functions.md": function_list,
    "adr/index.md": decisions,
}


def write_pages() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
