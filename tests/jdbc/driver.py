"""The JDBC driver that DBeaver uses, in a JVM inside this process: one for all its tests, jpype can start only one.

The jar is fetched by its coordinates, once, and must be the one that we know.
"""

from __future__ import annotations

import faulthandler
import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import jpype

from tests.servers.base import Unavailable
from tests.servers.cache import once
from tests.servers.fetch import artifact, java

VERSION = "18.3.0"
CLASS = "org.apache.arrow.driver.jdbc.ArrowFlightJdbcDriver"
_SHA256 = "3f418b46c880e263558c5de669bdbede2c5d4375527ced116fb29f795b03704c"
FLAG = "--add-opens=java.base/java.nio=ALL-UNNAMED"
"""Without it Arrow can't get at the addresses of its buffers."""


def jar() -> Path:
    def fetched(place: Path) -> None:
        file = artifact(f"org.apache.arrow:flight-sql-jdbc-driver:{VERSION}:jar", place)
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        if found != _SHA256:
            raise Unavailable(f"{file.name} is not the file that we know: its SHA-256 is {found}")

    return next(once(f"flight-sql-jdbc-driver-{VERSION}", fetched).glob("*.jar"))


def start() -> None:
    """The JVM, as it disturbs pytest least."""
    if jpype.isJVMStarted():
        return
    library = Path(java()).resolve().parents[1] / "lib" / "server" / "libjvm.so"
    # The JVM means no harm by SIGSEGV, and pytest would take its handler away from it at the end.
    faulthandler.disable()
    jpype.startJVM(
        str(library),
        FLAG,
        "-Xss7m",  # else it guards the stack of the main thread at 1 MB, and deep plans of later tests crash
        "-Xmx256m",
        "-Xrs",  # with `interrupt` below: signals stay Python's, neither the JVM nor jpype handles them
        "-Duser.timezone=UTC",  # in other zones the driver moves times (test_results.py tells how)
        f"-XX:ErrorFile={tempfile.gettempdir()}/pinakes-jdbc-%p.log",
        classpath=[str(jar())],
        convertStrings=True,
        interrupt=True,
    )
    JAVA("java.util.logging.LogManager").getLogManager().reset()


def JAVA(name: str) -> Any:
    return jpype.JClass(name)


def properties(given: Mapping[str, str]) -> Any:
    made = JAVA("java.util.Properties")()
    for name, value in given.items():
        made.setProperty(name, value)
    return made


def connect(port: int, host: str = "127.0.0.1", **options: str) -> Any:
    """A java.sql.Connection; without TLS unless the options say otherwise."""
    url = f"jdbc:arrow-flight-sql://{host}:{port}"
    opened.append(JAVA(CLASS)().connect(url, properties({"useEncryption": "false", **options})))
    return opened[-1]


opened: list[Any] = []


def close_all() -> None:
    """The JVM waits at its end for the threads of connections that a failed test left open."""
    for connection in opened:
        with suppress(jpype.JException):
            connection.close()
    opened.clear()


def texts(result: Any) -> list[tuple[str | None, ...]]:
    """All rows as the driver prints them; the result is closed."""
    with closing(result):
        width = range(1, result.getMetaData().getColumnCount() + 1)
        return [tuple(result.getString(column) for column in width) for _ in _rows(result)]


def labels(result: Any) -> list[str]:
    about = result.getMetaData()
    return [about.getColumnLabel(at) for at in range(1, about.getColumnCount() + 1)]


def ask(connection: Any, sql: str) -> list[tuple[str | None, ...]]:
    with closing(connection.createStatement()) as statement:
        return texts(statement.executeQuery(sql))


def do(connection: Any, *statements: str) -> None:
    with closing(connection.createStatement()) as statement:
        for sql in statements:
            statement.execute(sql)


def _rows(result: Any) -> Iterator[None]:
    while result.next():
        yield
