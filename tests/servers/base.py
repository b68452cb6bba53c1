"""What a server is: how to install it, how to run it, when it is ready, and what a client must know of it."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

Facts = Mapping[str, str]
"""What a client must know: `uri`, `user`, `password`, …"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one run of a server lives: an empty directory of its own at first, two free ports, those it needs."""

    data: Path
    port: int
    second_port: int
    needs: Mapping[str, Facts] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """What a test asks for beyond the usual; a server says which keys it knows."""

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Command:
    """A process: its arguments, what is added to the environment, and the user it runs as when we are root."""

    arguments: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    unprivileged: bool = False


class Unavailable(Exception):
    """The server can't be had here: no network, no package, or it did not start. The text says what was tried."""


class Server:
    """One kind of server. Subclasses are the modules of this package."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    """Servers that must run before it; their facts are in `Place.needs`."""
    stop_signal: ClassVar[int] = signal.SIGTERM
    patience: ClassVar[float] = 120
    """Seconds until it must be ready; a machine under load is slow."""

    def install(self) -> None:
        """Fetch what it needs; nothing happens when that is there."""
        raise NotImplementedError

    def prepare(self, place: Place) -> None:
        """Make what must be there before the first start, such as a data directory."""

    def command(self, place: Place) -> Command:
        raise NotImplementedError

    def ready(self, place: Place) -> bool:
        """Whether it answers; called until it does."""
        raise NotImplementedError

    def facts(self, place: Place) -> dict[str, str]:
        raise NotImplementedError

    def attach(self, facts: Facts) -> str:
        """Statements that mount it, for people who try it by hand; empty when it is no catalog."""
        return ""
