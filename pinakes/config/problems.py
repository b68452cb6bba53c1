"""Reports all errors of a configuration file at once, each with its line where that can be found.

Loading stops at the first error. Here each key is loaded separately, as if it were the only one of the file, so that no
error hides another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pinakes.config.model import Config, config_of, read_toml
from pinakes.core.errors import ConfigError

Key = tuple[str, ...]
_WHOLE = ("catalogs", "secrets")
"""Sections whose keys are only valid together."""
_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_ASSIGNED = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")
_LINE = re.compile(r"\(at line (\d+)")


class Problem(NamedTuple):
    line: int | None
    message: str


class Checked(NamedTuple):
    config: Config | None
    """The configuration, if it has no errors."""
    problems: list[Problem]


def check_config(toml: str, base: Path, environ: Mapping[str, str]) -> Checked:
    try:
        document = read_toml(toml)
    except ConfigError as error:
        found = _LINE.search(error.message)
        return Checked(None, [Problem(int(found[1]) if found else None, error.message)])
    lines = lines_of(toml)
    problems: dict[str, Problem] = {}
    for key, alone in _alone(document):
        try:
            config_of(alone, base, environ)
        except ConfigError as error:
            problems.setdefault(error.message, Problem(line_of(key, lines), error.message))
    if problems:
        return Checked(None, sorted(problems.values(), key=lambda p: p.line or 0))
    return Checked(config_of(document, base, environ), [])


def _alone(document: Mapping[str, Any]) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Returns each key of the document with a document that has only this key."""
    for key, value in _leaves(document, ()):
        alone: Any = value
        for part in reversed(key):
            alone = {part: alone}
        yield key, alone


def _leaves(table: Mapping[str, Any], above: Key) -> Iterator[tuple[Key, Any]]:
    for name, value in table.items():
        key = (*above, name)
        if isinstance(value, dict) and value and not _is_whole(key):
            yield from _leaves(value, key)
        else:
            yield key, value


def _is_whole(key: Key) -> bool:
    """Returns whether a key is loaded with all its values: a catalog, a secret, the issuer of tokens, or a password,
    which may be a table: { env = … }.
    """
    return (key[0] in _WHOLE and len(key) == 2) or key == ("server", "oidc") or (key[0] == "server" and len(key) == 3)


def lines_of(toml: str) -> dict[Key, int]:
    """Returns the line of each section header and each assignment."""
    found: dict[Key, int] = {}
    section: Key = ()
    for number, line in enumerate(toml.splitlines(), 1):
        if header := _HEADER.match(line):
            section = _parts(header[1])
            found.setdefault(section, number)
        elif assigned := _ASSIGNED.match(line):
            found.setdefault((*section, *_parts(assigned[1])), number)
    return found


def line_of(key: Key, lines: Mapping[Key, int]) -> int | None:
    """Returns the line of a key, or of the innermost section that contains it."""
    while key:
        if key in lines:
            return lines[key]
        key = key[:-1]
    return None


def _parts(dotted: str) -> Key:
    return tuple(next(part for part in found if part) for found in _PART.findall(dotted) if any(found))
