"""Iceberg's REST fixture: Java's JdbcCatalog behind Iceberg's REST interface, anonymous. It takes any token.

Settings are catalog properties beside or instead of the usual ones: `uri` may be another database, `warehouse`
another place, `jdbc.schema-version` V0, `catalog-name` another name in the rows.
"""

from __future__ import annotations

from pathlib import Path

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.cache import once
from tests.servers.fetch import FILES, compiled, jars, java
from tests.servers.running import answers

_APP = "iceberg-rest-1.11.0-2"
"""The version of Iceberg, and of the list of jars beside it: files/iceberg-rest.xml."""


class Rest(Server):
    name = "rest"

    def install(self) -> None:
        java()
        _app()

    def command(self, place: Place) -> Command:
        properties = {
            "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
            "catalog-name": "rest",
            "jdbc.schema-version": "V1",
            "uri": f"jdbc:sqlite:{place.data / 'catalog.db'}",
            "warehouse": f"file://{place.data / 'warehouse'}",
            "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
            **place.settings,
        }
        pairs = [f"{key}={value}" for key, value in properties.items()]
        classpath = f"{_app()}:{_app()}/lib/*"
        return Command(
            [java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", classpath, "ServeCatalog", str(place.port), *pairs]
        )

    def ready(self, place: Place) -> bool:
        return answers(f"{place.http}/v1/config")

    def facts(self, place: Place) -> dict[str, str]:
        return {
            "uri": place.http,
            "warehouse": str(place.data / "warehouse"),
            "database": str(place.data / "catalog.db"),
        }

    def attach(self, facts: Facts) -> str:
        return f"ATTACH '{facts['uri']}' AS rest (TYPE iceberg_rest);"


def _app() -> Path:
    def make(place: Path) -> None:
        jars(FILES / "iceberg-rest.xml", place / "lib")
        compiled("ServeCatalog.java", f"{place}/lib/*", place)

    return once(_APP, make)
