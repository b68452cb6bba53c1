"""Writes the reference pages that follow from the code: `make docs`. A test says when they are out of step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from pinakes.core import config, errors, powers, server_config, serving, spark_config
from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM
from pinakes.core.server_limits import ServerLimits
from pinakes.core.settings import Settings
from pinakes.core.values import docs_of
from pinakes.providers.options import describe_options
from pinakes.providers.registry import TYPES, load_type
from pinakes.system_tables import registry as system
from pinakes.system_tables.base import Column

REFERENCE = Path(__file__).parent / "reference"
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
    yield from table(("power", "lets everybody …"), powers.POWERS.items())
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
    "settings.md": settings,
    "errors.md": error_codes,
    "catalogs.md": catalog_types,
    "system-tables.md": system_tables,
}


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
