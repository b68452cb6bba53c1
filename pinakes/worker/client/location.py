"""The location of a worker: the value of LOCATION."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pinakes.worker.client.connection import Connection

Connect = Callable[..., socket.socket]


@dataclass(frozen=True, slots=True)
class Location:
    """A command, a local socket (`unix:///path`), or an address (`http://…`, `https://…`)."""

    text: str

    @property
    def kind(self) -> str:
        scheme = self.text.split(":", 1)[0].lower()
        return scheme if scheme in ("http", "https", "unix") and ":" in self.text else "command"

    @property
    def command(self) -> list[str]:
        try:
            found = shlex.split(self.text.removeprefix("launch:"))
        except ValueError as error:
            raise ValueError(f"the command of a worker can't be read: {error}") from None
        if not found:
            raise ValueError("a worker needs a location: a command, unix:///path or http://host:port")
        return found

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.text).path)

    def connector(
        self,
        *,
        name: str = "",
        cwd: str | None = None,
        token: str | None = None,
        connect_timeout: float = 20.0,
        connect: Connect | None = None,
    ) -> Callable[[], Connection]:
        """Returns a function that opens connections. `connect` opens the socket of an address, instead of
        `socket.create_connection`.
        """
        if self.kind == "command":
            from pinakes.worker.client.process import start

            command = self.command
            return lambda: start(command, name=name or command[0], cwd=cwd)
        if self.kind == "unix":
            from pinakes.worker.client.unix import connect as connect_unix

            return lambda: connect_unix(self.path, connect_timeout)
        from pinakes.worker.client.http import HttpConnection

        return lambda: HttpConnection(self.text, token=token, connect_timeout=connect_timeout, connect=connect)
