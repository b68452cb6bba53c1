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

from pinakes.cli import main, pipeline, users
from pinakes.core import config, errors, server_config, serving, spark_config
from pinakes.core import privileges as powers
from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM
from pinakes.core.server_limits import ServerLimits
from pinakes.core.settings import Settings
from pinakes.core.values import docs_of
from pinakes.engine.commands.registry import UNSUPPORTED, handler_of
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
            "## Of a session",
            "",
            "`SET name = value` changes one for the session, `RESET name` takes it back, `SHOW SESSION` lists them. "
            "Their defaults come from the configuration.",
            "",
            *table(("setting", "default", "meaning"), docs_of(Settings)),
            "",
            "## Of the configuration file",
            "",
            "TOML. The first of these that exists is read: the file given with `--config`, the one that "
            "`PINAKES_CONFIG` names, `./pinakes.toml`, `config.toml` in the user's configuration directory. Paths in "
            "it are relative to it.",
            "",
            *sections(),
            "### [catalogs.NAME]",
            "",
            "A catalog that is mounted at start, under that name.",
            "",
            *table(("key", "meaning"), CATALOG_KEYS),
            "",
            "### [secrets.NAME]",
            "",
            "A secret that every user may attach catalogs with: its `type` and its keys, as in CREATE SECRET. A value "
            'is a text, `{ env = "VARIABLE" }` or `{ file = "path" }`.',
            "",
            "### [server.users] and [server.tokens]",
            "",
            "Who may call `pinakes serve`: a name and its password, a name and its token. Values are given as those of "
            "secrets, and may be hashed. Other ways to log in are below [server]; without any there is no "
            "authentication, and the server listens on this machine only.",
            "",
        ]
    )


CATALOG_KEYS = (
    ("type", "The catalog type, as in ATTACH … (TYPE x)."),
    ("location", "Where it is, as in ATTACH 'location'."),
    ("…", "Every other key is an option of the catalog type, as in ATTACH … (KEY value)."),
)


def sections() -> Iterable[str]:
    yield from section("engine", config.EngineConfig)
    yield from section("caches", config.CachesConfig)
    yield "`SET GLOBAL cache.NAME.key = value` changes each of these while the process runs ([caches](../caches.md))."
    yield ""
    yield from section("caches.NAME", config.CacheConfig)
    yield from caches("max_entries", config.CacheConfig)
    yield "`listings` have one key more:"
    yield ""
    yield from table(("key", "default", "meaning"), docs_of(config.ListingsConfig)[-1:])
    yield ""
    yield "Those that are bounded by the memory they take:"
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
    yield from table(("privilege", "lets everybody …"), powers.PRIVILEGES.items())
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
            "A failing statement says `CODE: message`, with the place in the text where there is one. The codes are "
            "stable; the messages are for people. In Python each is a class of `pinakes.core.errors`.",
            "",
            *table(("code", "class", "is a kind of"), rows),
            "",
        ]
    )


def catalog_types() -> str:
    """Every option of every catalog type of ours, from the dataclasses that read them."""
    return "\n".join(
        [
            "# Options of catalog types",
            NOTE,
            "What stands in the parentheses of `ATTACH '…' AS name (TYPE t, …)`, beside the options that every type "
            "has ([catalogs](../catalogs.md)).",
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
            "What they cost and how they are asked is in [system tables](../system-tables.md). Conditions on columns "
            "that are marked `*` reach the catalogs; reading a column that is marked `+` loads tables.",
            "",
            *(line for schema in system.SCHEMAS for line in schema_tables(schema)),
        ]
    )


FAMILIES = {
    "queries": "Queries",
    "shows": "What there is",
    "mounts": "Catalogs and secrets",
    "definitions": "Schemas, tables and views",
    "alter": "Changing a table's form",
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
            "`[…]` may be left out, `|` separates choices, `…` goes on in the same way. A name has as many parts as it "
            "needs: the last is the object, a first part that is a mounted catalog is the catalog, what is between is "
            "the namespace.",
            "",
            *(line for family, title in FAMILIES.items() for line in (f"## {title}", "", *family_statements(family))),
            "## Refused",
            "",
            *(f"- {text}" for text in sorted(UNSUPPORTED.values())),
            "",
        ]
    )


def family_statements(family: str) -> Iterable[str]:
    for name in statements.FAMILIES[family].split():
        kind = getattr(statements, name)
        if isinstance(kind, type) and issubclass(kind, statements.Statement) and name not in UNSUPPORTED:
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
    return "\n".join(["# The command", NOTE, "[The shell](../shell.md) has commands of its own.", "", *texts])


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
            "Expressions give what PostgreSQL gives, or an error, or differ in one of these ways. The tests compare "
            "every comparison, operator, cast and common function, for every pair of types, with a PostgreSQL server, "
            "and run these examples.",
            "",
            *(line for entry in entries for line in difference(entry)),
        ]
    )


def difference(entry: dict[str, str]) -> Iterable[str]:
    yield from (f"## {entry['title']}", "", entry["reason"], "")
    yield from ("```sql", f"SELECT {entry['example']};", "```", "")
    yield from (*table(("Pinakes", "PostgreSQL"), [(f"`{entry['pinakes']}`", f"`{entry['postgresql']}`")]), "")


def decisions() -> str:
    """The ADRs, by their titles."""
    pages = sorted(path for path in (DOCS / "adr").glob("[0-9]*.md"))
    titles = [(path, path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")) for path in pages]
    return "\n".join(["# Decisions", NOTE, *(f"- [{title}]({path.name})" for path, title in titles), ""])


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
        return "must be given"
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
    "adr/index.md": decisions,
}


def write_pages() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
