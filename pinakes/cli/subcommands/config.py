"""`pinakes config check [FILE]` reports all problems of a configuration. `pinakes config show` prints the effective
configuration as a usable file with a description of each key; the values of secrets are redacted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinakes.config.model import CatalogConfig, Config, find_config, load_config, read_source
from pinakes.config.problems import Key, Problem, check_config, line_of, lines_of
from pinakes.core.errors import ConfigError, PinakesError

if TYPE_CHECKING:
    from pinakes.config.server import ServerConfig

HIDDEN = '"***"'


def check(path: Path | None) -> bool:
    """Reports the problems of a file, or of the default one; returns whether there are none."""
    source = find_config(path, os.environ, Path.cwd())
    if source is None:
        _say("No configuration file was found: all values are defaults.")
        return True
    problems = [*find_problems(source)]
    for problem in problems:
        _say(f"{source}:{problem.line or '?'}: {problem.message}")
    _say(f"{source}: {len(problems)} problems." if len(problems) > 1 else f"{source}: one problem." if problems
         else f"{source} is right.")  # fmt: skip
    return not problems


def find_problems(source: Path) -> Iterator[Problem]:
    toml = read_source(source)
    config, problems = check_config(toml, source.parent, os.environ)
    yield from problems
    if config is not None:
        lines = lines_of(toml)
        yield from _check_server(config.server, lines)
        yield from _check_catalogs(replace(config, source=source), lines)


def _check_server(config: ServerConfig, lines: Mapping[Key, int]) -> Iterator[Problem]:
    """Yields problems of the files that a server reads at its start."""
    from pinakes.cli.subcommands.tls import Tls
    from pinakes.server.logins.users_file import read_users

    try:
        Tls.of(config.tls, None, None)
    except ValueError as error:
        yield Problem(line_of(("server", "tls"), lines), str(error))
    if config.logins.users_file is not None:
        try:
            read_users(Path(config.logins.users_file))
        except ConfigError as error:
            yield Problem(line_of(("server", "users_file"), lines), error.message)


def _check_catalogs(config: Config, lines: Mapping[Key, int]) -> Iterator[Problem]:
    """Yields problems of secrets and catalogs; no catalog is opened."""
    from pinakes.api.check import faults

    for section, message in faults(config):
        yield Problem(line_of(section, lines), message)


def show(path: Path | None, data: str | None) -> None:
    config = load_config(path, data=data)
    print(f"# {config.source or 'there is no configuration file: everything has its default'}")  # noqa: T201
    for line in render(config):
        print(line)  # noqa: T201


def render(config: Config) -> Iterator[str]:
    yield from _section("engine", config.engine)
    yield from _section("caches", config.caches)
    for f in fields(config.caches):
        if "doc" not in f.metadata:
            yield from _section(f"caches.{f.name}", getattr(config.caches, f.name))
    yield from _server(config.server)
    yield from _section("access", config.access)
    yield from _section("log", config.log)
    for secret in config.secrets.values():
        kept = ((key, value if key.lower() in ("type", "scope") else None) for key, value in secret.values.items())
        named = {"users": secret.users, "roles": secret.roles}
        lists = (f"{key} = {_toml(names)}" for key, names in named.items() if names)
        yield from ("", f"[secrets.{_key(secret.name)}]", *(_assignment(k, v) for k, v in kept), *lists)
    for catalog in config.catalogs.values():
        yield from _catalog(catalog)


def _server(config: ServerConfig) -> Iterator[str]:
    yield from _section("server", config.logins, config.limits)
    yield from _section("server.statements", config.statements)
    yield from _section("server.metrics", config.metrics)
    yield from _section("server.tls", config.tls)
    if config.oidc is not None:
        yield from _section("server.oidc", config.oidc)
        if config.oidc.client_secret is not None:
            yield f"client_secret = {HIDDEN}"
    for kind, names in (("users", config.users), ("tokens", config.tokens)):
        if names:
            yield from ("", f"[server.{kind}]", *(f"{_key(name)} = {HIDDEN}" for name in names))


def _section(name: str, *parts: Any) -> Iterable[str]:
    """Yields each documented key with its description, its default and its value."""
    yield from ("", f"[{name}]")
    for values in parts:
        for f in fields(values):
            if "doc" in f.metadata:
                value = getattr(values, f.name)
                default = f.metadata["shown"] or (None if f.default is None else _toml(f.default))
                yield f"# {f.metadata['doc']}" + (f" (default: {default})" if default else "")
                yield f"# {f.name} is not set" if value is None else f"{f.name} = {_toml(value)}"


def _catalog(catalog: CatalogConfig) -> Iterator[str]:
    from pinakes.parser.redaction import harmless, masked_address

    yield from ("", f"[catalogs.{_key(catalog.name)}]", f"type = {_toml(catalog.type)}")
    if catalog.location is not None:
        yield f"location = {_toml(masked_address(catalog.location))}"
    for key, value in catalog.options.items():
        safe = masked_address(value) if isinstance(value, str) else value
        yield _assignment(key, safe if harmless(key.upper()) else None)


def _assignment(key: str, value: object) -> str:
    return f"{_key(key)} = {HIDDEN if value is None else _toml(value)}"


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name) else _toml(name)


def _toml(value: object) -> str:
    import json

    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return (
        f"{value:g}"
        if isinstance(value, float)
        else str(value)
        if isinstance(value, int)
        else json.dumps(str(value), ensure_ascii=False)
    )


def run(words: list[str], config: Path | None, data: str | None) -> bool | None:
    """Runs `check [FILE]` or `show`; returns None for other words."""
    try:
        match words:
            case ["check"]:
                return check(config)
            case ["check", file]:
                return check(Path(file))
            case ["show"] | ["show", _]:
                show(Path(words[1]) if len(words) > 1 else config, data)
                return True
    except (ConfigError, PinakesError) as error:
        _say(f"pinakes: {error.render()}")
        return False
    return None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
