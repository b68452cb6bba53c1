"""Checks the catalogs and secrets of a configuration without opening them. For `pinakes config check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pinakes.api.build import open_engine
from pinakes.config.model import MEMORY, Config
from pinakes.core.errors import PinakesError
from pinakes.engine.catalogs.mounting import take_common
from pinakes.parser.statements import OptionValue
from pinakes.providers.registry import check_options

Section = tuple[str, ...]


def faults(config: Config) -> Iterator[tuple[Section, str]]:
    """Yields each section with a problem, and the problem."""
    alone = replace(config, catalogs={}, secrets={}, engine=replace(config.engine, data=MEMORY, spill_dir=None))
    good = []
    for name, secret in config.secrets.items():
        message = _message(replace(alone, secrets={name: secret}))
        if message is None:
            good.append(name)
        else:
            yield ("secrets", name), message
    with_secrets = replace(alone, secrets={name: config.secrets[name] for name in good})
    for name, catalog in config.catalogs.items():
        message = _message(replace(with_secrets, catalogs={name: catalog})) or _options(config, name)
        if message is not None:
            yield ("catalogs", name), message


def _message(config: Config) -> str | None:
    try:
        open_engine(config).close()
    except PinakesError as error:
        return error.message
    return None


def _options(config: Config, name: str) -> str | None:
    """Checks for unknown options, which the engine itself reports when the catalog is first used."""
    catalog = config.catalogs[name]
    given: dict[str, OptionValue] = {"TYPE": catalog.type, **{k.upper(): str(v) for k, v in catalog.options.items()}}
    try:
        common = take_common(name, given)
        check_options(common.type, given)
    except PinakesError as error:
        return f"[catalogs.{name}]: {error.message}"
    return None
