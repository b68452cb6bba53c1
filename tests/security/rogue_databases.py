"""Hostile PostgreSQL, MySQL and Hive servers: they speak just enough of the protocols, and send what a test chooses."""

from __future__ import annotations

import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Talk = Callable[["Peer"], None]


@dataclass
class Peer:
    """One connection of a client."""

    socket: socket.socket
    received: list[bytes]

    def read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise ConnectionError("the client hung up")
            found += part
        self.received.append(found)
        return found

    def send(self, *parts: bytes) -> None:
        self.socket.sendall(b"".join(parts))

    def send_all(self, parts: Iterable[bytes]) -> None:
        """Sends parts that may be endless, many at a time, until the client hangs up."""
        rest = iter(parts)
        while batch := b"".join(itertools.islice(rest, 512)):
            self.sent += len(batch)
            self.socket.sendall(batch)

    sent: int = 0


@dataclass
class RogueServer:
    """A server whose every connection is given to `talk`."""

    port: int
    received: list[bytes] = field(default_factory=list)
    peers: list[Peer] = field(default_factory=list)

    @property
    def sent(self) -> int:
        """Bytes of the answers that were sent by `send_all`."""
        return sum(peer.sent for peer in self.peers)


@contextmanager
def rogue_server(talk: Talk) -> Iterator[RogueServer]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = RogueServer(listening.getsockname()[1])

    def serve(client: socket.socket) -> None:
        peer = Peer(client, server.received)
        server.peers.append(peer)
        with client, suppress(OSError):  # the client hangs up when it has had enough
            talk(peer)

    def accept() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for peer in server.peers:
            with suppress(OSError):
                peer.socket.shutdown(socket.SHUT_RDWR)
        thread.join()


# --- PostgreSQL ---------------------------------------------------------------------------------------------------

OK, READY = b"R" + struct.pack("!ii", 8, 0), b"Z" + struct.pack("!ic", 5, b"I")
TEXT = 25


def pg(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def pg_columns(*names: str, type: int = TEXT) -> bytes:
    described = (name.encode() + b"\0" + struct.pack("!ihihih", 0, 0, type, -1, -1, 0) for name in names)
    return pg(b"T", struct.pack("!h", len(names)) + b"".join(described))


def pg_row(*values: bytes | None) -> bytes:
    cells = (struct.pack("!i", -1) if v is None else struct.pack("!i", len(v)) + v for v in values)
    return pg(b"D", struct.pack("!h", len(values)) + b"".join(cells))


def pg_done(tag: str = "SELECT 1") -> bytes:
    return pg(b"C", tag.encode() + b"\0")


def pg_start(peer: Peer) -> None:
    """The client's first message."""
    while True:
        (size,) = struct.unpack("!i", peer.read(4))
        body = peer.read(size - 4)
        if struct.unpack("!i", body[:4])[0] not in (80877103, 80877104):  # TLS, Kerberos
            return
        peer.send(b"N")


def pg_login(peer: Peer, after: bytes = b"") -> None:
    """Accepts any user; `after` is sent before it is ready."""
    pg_start(peer)
    peer.send(OK, after, pg(b"S", b"client_encoding\0UTF8\0"), pg(b"S", b"server_version\x0016.0\0"), READY)


def pg_statements(peer: Peer) -> Iterator[str]:
    """The statements that the client sends; the answer to each is to be sent before the next is asked for."""
    sql = ""
    while True:
        kind = peer.read(1)
        (size,) = struct.unpack("!i", peer.read(4))
        body = peer.read(size - 4)
        if kind == b"Q":
            yield body[:-1].decode()
        elif kind == b"P":
            sql = body.split(b"\0")[1].decode()
            peer.send(pg(b"1"))
        elif kind == b"B":
            peer.send(pg(b"2"))
        elif kind == b"S":
            yield sql
        elif kind == b"X":
            return


COLUMNS_OF_CATALOG = [
    ("iceberg_tables", name)
    for name in (
        "catalog_name table_namespace table_name metadata_location previous_metadata_location iceberg_type"
    ).split()
] + [("iceberg_namespace_properties", name) for name in "catalog_name namespace property_key property_value".split()]


def pg_talk(answer: Callable[[Peer, str], bool], after: bytes = b"") -> Talk:
    """A server that has the tables of a catalog. `answer` sends what it likes for a statement, or returns False."""

    def talk(peer: Peer) -> None:
        pg_login(peer, after)
        for sql in pg_statements(peer):
            if answer(peer, sql):
                continue
            if "information_schema" in sql:
                rows = [pg_row(table.encode(), column.encode()) for table, column in COLUMNS_OF_CATALOG]
                peer.send(pg_columns("table_name", "column_name"), *rows, pg_done(), READY)
            elif sql.lstrip().upper().startswith("SELECT"):
                peer.send(pg_columns("a"), pg_done("SELECT 0"), READY)
            else:
                peer.send(pg_done("SET"), READY)

    return talk


# --- MySQL --------------------------------------------------------------------------------------------------------


def my_packet(body: bytes, number: int) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number % 256]) + body


def my_text(value: bytes) -> bytes:
    if len(value) < 251:
        return bytes([len(value)]) + value
    return b"\xfe" + struct.pack("<Q", len(value)) + value


MY_OK = b"\0\0\0\2\0\0\0"
MY_EOF = b"\xfe\0\0\2\0"


def my_greeting(plugin: bytes = b"mysql_native_password") -> bytes:
    # CLIENT_PROTOCOL_41, PLUGIN_AUTH, SECURE_CONNECTION, TRANSACTIONS, CONNECT_WITH_DB, LOCAL_FILES
    flags = 0x0200 | 0x8000 | 0x2000 | 0x0008 | 0x0080 | (1 << 19)
    return (
        b"\x0a8.0.36\0" + struct.pack("<I", 1) + b"12345678\0" + struct.pack("<H", flags & 0xFFFF)
        + b"\x2d" + struct.pack("<H", 2) + struct.pack("<H", flags >> 16) + bytes([21]) + b"\0" * 10
        + b"123456789012\0" + plugin + b"\0"
    )  # fmt: skip


def my_read(peer: Peer) -> tuple[int, bytes]:
    head = peer.read(4)
    return head[3], peer.read(int.from_bytes(head[:3], "little"))


def my_column(name: str, type: int = 0xFD, charset: int = 0x2D) -> bytes:
    parts = (b"def", b"", b"t", b"t", name.encode(), name.encode())
    fixed = struct.pack("<HIBHB", charset, 1024, type, 0, 0) + b"\0\0"
    return b"".join(map(my_text, parts)) + b"\x0c" + fixed


def my_rows(names: Iterable[str], rows: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """The packets of a result."""
    names = list(names)
    number = itertools.count(1)
    yield my_packet(bytes([len(names)]), next(number))
    for name in names:
        yield my_packet(my_column(name), next(number))
    yield my_packet(MY_EOF, next(number))
    for row in rows:
        yield my_packet(b"".join(map(my_text, row)), next(number))
    yield my_packet(MY_EOF, next(number))


def my_talk(answer: Callable[[Peer, str], bool], login: Talk | None = None) -> Talk:
    def talk(peer: Peer) -> None:
        peer.send(my_packet(my_greeting(), 0))
        my_read(peer)
        if login is not None:
            login(peer)
        peer.send(my_packet(MY_OK, 2))
        while True:
            _, body = my_read(peer)
            if body[:1] == b"\x01":
                return
            sql = body[1:].decode(errors="replace")
            if answer(peer, sql):
                continue
            if "COLLATION" in sql and sql.startswith("SHOW"):
                peer.send(*my_rows(["Collation"], [[b"utf8mb4_bin"]]))
            elif "information_schema" in sql:
                columns = [[table.encode(), column.encode()] for table, column in COLUMNS_OF_CATALOG]
                peer.send(*my_rows(["table_name", "column_name"], columns))
            elif sql.lstrip().upper().startswith("SELECT"):
                peer.send(*my_rows(["a"], []))
            else:
                peer.send(my_packet(MY_OK, 1))

    return talk


# --- Hive ---------------------------------------------------------------------------------------------------------


def hive_talk(answer: Callable[[str], Iterable[bytes]]) -> Talk:
    """A metastore; `answer` returns the result of a call, after the head of the message."""

    def talk(peer: Peer) -> None:
        while True:
            name, number = _hive_call(peer)
            peer.send(struct.pack("!Ii", 0x80010002, len(name)), name, struct.pack("!i", number))
            peer.send_all(answer(name.decode()))

    return talk


def _hive_call(peer: Peer) -> tuple[bytes, int]:
    """The name and the number of a call; its arguments, which are less than a packet, are dropped."""
    (_, size) = struct.unpack("!Ii", peer.read(8))
    name, (number,) = peer.read(size), struct.unpack("!i", peer.read(4))
    peer.socket.recv(1 << 16)
    return name, number


def hive_list(type: int, size: int) -> bytes:
    """The head of a result that is a list."""
    return b"\x0f\0\0" + struct.pack("!bi", type, size)


HIVE_TEXT, HIVE_STRUCT = 11, 12
HIVE_STOP = b"\0"


def hive_texts(*texts: str) -> bytes:
    found = (struct.pack("!i", len(text.encode())) + text.encode() for text in texts)
    return hive_list(HIVE_TEXT, len(texts)) + b"".join(found) + HIVE_STOP
