"""Spark with Iceberg's runtime, as one session that takes SQL over HTTP (files/serve_spark.py).

It mounts no catalog by itself: a test says which, over the same door.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pinakes.spark.local_server import spark_home
from tests.servers.base import Command, Place, Server
from tests.servers.cache import once
from tests.servers.fetch import FILES, artifact, java
from tests.servers.running import answers

VERSION = "4.1.4"
"""Iceberg has no runtime for Spark 4.2 and later yet."""
_JARS = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0:jar",
    # Iceberg's JdbcCatalog on the database of a sqlite catalog of ours.
    "org.xerial:sqlite-jdbc:3.50.3.0:jar",
)
_APP = f"spark-{VERSION}-iceberg-1.12.0-1"


class Spark(Server):
    name = "spark"
    patience = 240

    def install(self) -> None:
        java()
        _jars()

    def command(self, place: Place) -> Command:
        jars = ",".join(str(file) for file in sorted(_jars().glob("*.jar")))
        python = sys.executable
        environment = {
            "JAVA_HOME": str(Path(java()).resolve().parents[1]),
            # Spark must not take another Spark of the machine.
            "SPARK_HOME": str(spark_home()),
            "PYSPARK_PYTHON": python,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        return Command([python, FILES / "serve_spark.py", str(place.port), jars, place.data], environment)

    def ready(self, place: Place) -> bool:
        return answers(place.http)

    def facts(self, place: Place) -> dict[str, str]:
        return {"uri": place.http}


def _jars() -> Path:
    def make(place: Path) -> None:
        for coordinates in _JARS:
            artifact(coordinates, place)

    return once(_APP, make)
