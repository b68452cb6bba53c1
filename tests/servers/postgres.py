"""PostgreSQL, with passwords checked (SCRAM). Settings: `database`, another one to make."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.fetch import apt
from tests.servers.users import as_nobody, owned_by_nobody

USER = PASSWORD = DATABASE = "iceberg"


class Postgres(Server):
    name = "postgres"
    stop_signal = signal.SIGINT  # does not wait for its clients

    def install(self) -> None:
        apt("initdb", "postgresql")

    def prepare(self, place: Place) -> None:
        password = place.data / "password"
        password.write_text(PASSWORD)
        database = owned_by_nobody(place.data / "db")
        local = ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        as_nobody([_binary("initdb"), "-D", database, "-U", USER, f"--pwfile={password}", *local])
        as_nobody([_binary("postgres"), "--single", "-D", database, "postgres"], f"create database {DATABASE}\n")

    def command(self, place: Place) -> Command:
        quick = ["-c", "fsync=off", "-c", "max_connections=200"]
        arguments = [
            _binary("postgres"),
            "-D",
            place.data / "db",
            "-h",
            "127.0.0.1",
            "-p",
            str(place.port),
            "-k",
            "",
            *quick,
        ]
        return Command(arguments, unprivileged=True)

    def ready(self, place: Place) -> bool:
        asked = [_binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(place.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def facts(self, place: Place) -> dict[str, str]:
        address = f"127.0.0.1:{place.port}"
        return {
            "uri": f"postgresql://{USER}:{PASSWORD}@{address}/{DATABASE}",
            "host": "127.0.0.1",
            "port": str(place.port),
            "user": USER,
            "password": PASSWORD,
            "database": DATABASE,
        }

    def attach(self, facts: Facts) -> str:
        return f"ATTACH '{facts['uri']}' AS postgres (TYPE jdbc, WAREHOUSE '/tmp/warehouse');"


def _binary(command: str) -> Path:
    return Path(apt(command, "postgresql"))
