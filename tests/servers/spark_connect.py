"""Spark Connect, as the product itself starts it: one for all tests of `[spark] remote`, and of what runs on Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.servers.base import Command, Place, Server, Unavailable
from tests.servers.cache import cache
from tests.servers.fetch import FILES


class SparkConnect(Server):
    name = "spark-connect"
    patience = 420

    def install(self) -> None:
        """Jars, fetched as the product does it. The rest comes with the package pyspark."""
        from pinakes.core.errors import PinakesError
        from pinakes.spark.jars import ALL, JarCache
        from pinakes.spark.java import java
        from pinakes.spark.local_server import spark_home

        try:
            JarCache(cache(), java(), next((spark_home() / "jars").glob("ivy-*.jar"))).paths(ALL)
        except PinakesError as error:
            raise Unavailable(error.message) from error

    def command(self, place: Place) -> Command:
        script = FILES / "serve_spark_connect.py"
        return Command([sys.executable, script, cache(), _facts(place)])

    def ready(self, place: Place) -> bool:
        return _facts(place).is_file()

    def facts(self, place: Place) -> dict[str, str]:
        found: dict[str, str] = json.loads(_facts(place).read_text())
        return found


class SparkCluster(SparkConnect):
    """The same on a standalone cluster of a master and two workers; `workers` are their process ids."""

    name = "spark-cluster"

    def command(self, place: Place) -> Command:
        script = FILES / "serve_spark_cluster.py"
        return Command([sys.executable, script, cache(), _facts(place), str(place.port), str(place.second_port)])


def _facts(place: Place) -> Path:
    return place.data / "facts.json"
