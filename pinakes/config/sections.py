"""Helpers that read sections of the configuration: they reject unknown keys, check values with the parser of the
field, and read secrets from a variable or a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pinakes.core.errors import ConfigError, listing

T = TypeVar("T")


def path_from(base: Path, text: str) -> str:
    """Resolves a path of the configuration: relative paths start at the directory of the file."""
    return str(base / Path(text).expanduser())


def section(default: T, given: object, where: str) -> T:
    """Returns `default` with the given values, each checked by its field's parser."""
    table = table_of(given, where)
    parsers = {f.name: f.metadata["parse"] for f in fields(default) if "parse" in f.metadata}  # type: ignore[arg-type]
    known_only(table, parsers, f"[{where}]", "key")
    values: dict[str, Any] = {}
    for key, value in table.items():
        try:
            values[key] = parsers[key](value)
        except ValueError as error:
            raise ConfigError(f"{where}.{key} must be {error}, not {value!r}") from error
    return replace(default, **values)  # type: ignore[type-var]


def table_of(given: object, where: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise ConfigError(f"{where} must be a section, [{where}], not a value")
    return given


def known_only(given: Mapping[str, Any], known: Any, where: str, what: str) -> None:
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ConfigError(f"{where} has no {what} {unknown[0]!r}; available: {listing(known)}")


def secret_value(where: str, given: object, base: Path, environ: Mapping[str, str]) -> str:
    """Returns the value, or the content of the environment variable or file that it names. Errors do not show the
    value.
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, dict) or len(given) != 1 or not isinstance(next(iter(given.values())), str):
        raise ConfigError(f'{where} must be a text, {{ env = "VARIABLE" }} or {{ file = "path" }}')
    ((whence, name),) = given.items()
    known_only(given, ("env", "file"), where, "source")
    if whence == "env":
        if name not in environ:
            raise ConfigError(f"{where} comes from the environment variable {name}, which is not set")
        return environ[name]
    try:
        return (base / Path(name).expanduser()).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where} comes from the file {name}, which can't be read") from error
