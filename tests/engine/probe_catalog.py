"""A catalog type for tests: it tells with which secret it was opened, and waits where a test wants it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pinakes.core.secrets import Access


@dataclass(frozen=True)
class ProbeOptions:
    """None."""


class Probe:
    """`opening` and `checking` are called with the alias; what each opening read of its secret is in `tokens`."""

    type = "probe"
    Options: ClassVar[type[ProbeOptions]] = ProbeOptions
    opening: ClassVar[Callable[[str], None]]
    checking: ClassVar[Callable[[str], None]]
    tokens: ClassVar[list[str | None]]
    closed: ClassVar[list[str]]

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @classmethod
    def reset(cls) -> None:
        cls.opening = cls.checking = staticmethod(lambda alias: None)
        cls.tokens, cls.closed = [], []

    @classmethod
    def open(cls, alias: str, location: str, options: Mapping[str, Any], access: Access) -> Probe:
        secret = access.secret
        cls.opening(alias)
        cls.tokens.append(secret["TOKEN"] if secret is not None else None)
        return cls(alias)

    def check(self) -> None:
        type(self).checking(self.alias)

    def close(self) -> None:
        self.closed.append(self.alias)

    def list_tables(self, namespace: tuple[str, ...]) -> list[str]:
        return []

    def load_table(self, namespace: tuple[str, ...], name: str) -> Any:
        raise NotImplementedError


class AuthMiddleware:
    """The first who passes waits until it is opened."""

    def __init__(self) -> None:
        self.reached, self._open, self._used = threading.Event(), threading.Event(), threading.Lock()

    def __call__(self, alias: str) -> None:
        if self._used.acquire(blocking=False):
            self.reached.set()
            assert self._open.wait(60), "nobody opened the gate"

    def open(self) -> None:
        self._open.set()
