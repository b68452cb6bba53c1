"""Cache limits that `SET GLOBAL cache.manifests.max_bytes = '1GB'` changes, for the lifetime of the process.

The names are those of the configuration, prefixed with `cache.`; the parsers and descriptions are also those of the
configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from pinakes.caches.registry import Caches
from pinakes.config.model import CachesConfig
from pinakes.config.settings import SettingRow, row_of
from pinakes.core.errors import InvalidArgument, SettingNotFound, listing

PREFIX = "cache."


@dataclass(slots=True)
class CacheLimits:
    """The limits. `configured` are those of the configuration, which RESET GLOBAL restores; `now` are those in
    force.
    """

    caches: Caches[Any]
    configured: CachesConfig
    now: CachesConfig = field(init=False)

    def __post_init__(self) -> None:
        self.now = self.configured

    def set(self, name: str, given: object) -> None:
        key, parse = _find_limit(name)
        try:
            value = parse(given)
        except ValueError as error:
            raise InvalidArgument(f"{PREFIX}{key} must be {error}, not {given!r}") from error
        self._apply(key, value)

    def reset(self, name: str | None) -> None:
        """Resets one limit, or all for None."""
        for key in [_find_limit(name)[0]] if name is not None else [key for key, _ in _all_limits()]:
            self._apply(key, _value(self.configured, key))

    def rows(self) -> list[SettingRow]:
        return [
            row_of(f"{PREFIX}{key}", _value(self.now, key), _value(self.configured, key), f.metadata["doc"])
            for key, f in _all_limits()
        ]

    def _apply(self, key: str, value: Any) -> None:
        name, _, limit = key.partition(".")
        if not limit:
            self.now = replace(self.now, **{name: value})
            self.caches.budget.limit = value
            self.caches.budget.settle()
            return
        self.now = replace(self.now, **{name: replace(getattr(self.now, name), **{limit: value})})
        changed = {"capacity" if limit in ("max_entries", "max_bytes") else limit: value}
        getattr(self.caches, name).cache.limit(**changed)


def is_cache_setting(name: str | None) -> bool:
    return name is not None and name.lower().startswith(PREFIX)


def _find_limit(name: str) -> tuple[str, Any]:
    """Returns the configuration key and its parser."""
    every = dict(_all_limits())
    key = name.lower().removeprefix(PREFIX)
    if not is_cache_setting(name) or key not in every:
        raise SettingNotFound(f"there is no global setting {name!r}; available: {listing(PREFIX + k for k in every)}")
    return key, every[key].metadata["parse"]


def _all_limits() -> Iterator[tuple[str, Field[Any]]]:
    """Yields every limit by its key: `memory_budget`, `manifests.ttl` and so on."""
    default = CachesConfig()
    for f in fields(default):
        if "doc" in f.metadata:
            yield f.name, f
        else:
            yield from ((f"{f.name}.{limit.name}", limit) for limit in fields(getattr(default, f.name)))


def _value(config: CachesConfig, key: str) -> Any:
    found: Any = config
    for name in key.split("."):
        found = getattr(found, name)
    return found
