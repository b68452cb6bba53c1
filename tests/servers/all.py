"""Every server there is, by name; the slowest to be had come first, so that they are begun first."""

from __future__ import annotations

from tests.servers.base import Server
from tests.servers.hive import Hive
from tests.servers.keycloak import Keycloak
from tests.servers.mariadb import MariaDB
from tests.servers.moto import Moto
from tests.servers.nessie import Nessie, NessieAuth
from tests.servers.postgres import Postgres
from tests.servers.rest import Rest
from tests.servers.s3 import S3
from tests.servers.spark import Spark
from tests.servers.spark_connect import SparkCluster, SparkConnect

SERVERS: dict[str, Server] = {
    server.name: server
    for server in (
        *(
            SparkConnect(),
            SparkCluster(),
            Spark(),
            S3(),
            Keycloak(),
            NessieAuth(),
            Nessie(),
            Hive(),
            Rest(),
            MariaDB(),
            Moto(),
        ),
        Postgres(),
    )
}


def with_needs(names: list[str]) -> list[str]:
    """These and all that they need, each after what it needs."""
    ordered: list[str] = []
    for name in names:
        for needed in [*with_needs(list(SERVERS[name].needs)), name]:
            if needed not in ordered:
                ordered.append(needed)
    return ordered
