"""A proxy in front of a database that cuts the connection at a word, before or after the server hears it."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress


class CuttingProxy:
    """Passes everything on, until it is told at which word of the client to cut (once)."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cuts = 0
        self._word: bytes | None = None
        self._heard = False
        self._sockets: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut_at(self, word: str, *, heard: bool) -> None:
        """`heard`: whether the server gets the word; the client never hears the answer."""
        self._word, self._heard = word.encode(), heard

    def close(self) -> None:
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for it, which closes it
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._sockets += (client, server)
            thread = threading.Thread(target=self._pass_on, args=(client, server))
            self._threads.append(thread)
            thread.start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with client, server, selectors.DefaultSelector() as ready, suppress(OSError, ValueError):
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    data = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    if not data:
                        return
                    if key.fileobj is client and self._word is not None and self._word in data:
                        self._cut(server, data)
                        return
                    key.data.sendall(data)

    def _cut(self, server: socket.socket, data: bytes) -> None:
        self._word = None
        self.cuts += 1
        if self._heard:
            server.sendall(data)
            server.recv(65536)  # it has answered, so it has done it
