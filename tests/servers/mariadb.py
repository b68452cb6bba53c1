"""MariaDB, with passwords checked."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.fetch import apt
from tests.servers.users import as_nobody, owned_by_nobody

USER = PASSWORD = DATABASE = "iceberg"
_PACKAGE = "mariadb-server-core"
_INIT = f"""create database if not exists {DATABASE};
create user if not exists {USER}@'%' identified by '{PASSWORD}';
grant all on *.* to {USER}@'%' with grant option;
"""
_NO_SYNC = [
    "--debug-no-sync",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--skip-innodb-doublewrite",
]


class MariaDB(Server):
    name = "mariadb"

    def install(self) -> None:
        apt("my_print_defaults", "mariadb-client-core")  # what makes a data directory asks it
        apt("mariadbd", _PACKAGE)

    def prepare(self, place: Place) -> None:
        (place.data / "init.sql").write_text(_INIT)
        database = owned_by_nobody(place.data / "db")
        install = [_binary("mariadb-install-db"), "--no-defaults", f"--datadir={database}", "--skip-test-db"]
        as_nobody([*install, f"--tmpdir={database}"])

    def command(self, place: Place) -> Command:
        files = [f"--datadir={place.data / 'db'}", "--socket=mariadb.sock", "--pid-file=mariadb.pid"]
        address = ["--bind-address=127.0.0.1", f"--port={place.port}"]
        quick = [*_NO_SYNC, f"--init-file={place.data / 'init.sql'}"]
        return Command([_binary("mariadbd"), "--no-defaults", *files, *address, *quick], unprivileged=True)

    def ready(self, place: Place) -> bool:
        """It greets whoever connects, once it is up."""
        try:
            with socket.create_connection(("127.0.0.1", place.port), timeout=2) as greeting:
                return len(greeting.recv(4)) > 0
        except OSError:
            return False

    def facts(self, place: Place) -> dict[str, str]:
        return {
            "uri": f"mysql://{USER}:{PASSWORD}@127.0.0.1:{place.port}/{DATABASE}",
            "host": "127.0.0.1",
            "port": str(place.port),
            "user": USER,
            "password": PASSWORD,
            "database": DATABASE,
        }

    def attach(self, facts: Facts) -> str:
        return f"ATTACH '{facts['uri']}' AS mariadb (TYPE jdbc, WAREHOUSE '/tmp/warehouse');"


def _binary(command: str) -> Path:
    return Path(apt(command, _PACKAGE))
