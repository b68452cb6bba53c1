"""Hive Metastore 3.1.3 on Derby, without authentication. (4.x does not come up with what Maven offers.)"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.cache import once
from tests.servers.fetch import FILES, compiled, jars, java, run, unpacked
from tests.servers.running import listens

VERSION = "3.1.3"
_SITE = """<configuration>
  <property><name>javax.jdo.option.ConnectionURL</name><value>jdbc:derby:;databaseName={database};create=true</value></property>
  <property><name>javax.jdo.option.ConnectionDriverName</name><value>org.apache.derby.jdbc.EmbeddedDriver</value></property>
  <property><name>metastore.warehouse.dir</name><value>{warehouse}</value></property>
  <property><name>metastore.expression.proxy</name><value>org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy</value></property>
  <property><name>metastore.task.threads.always</name><value>org.apache.hadoop.hive.metastore.events.EventCleanerTask</value></property>
</configuration>
"""


class Hive(Server):
    name = "hive"

    def install(self) -> None:
        java()
        _app()

    def prepare(self, place: Place) -> None:
        """The schema was made when it was installed; a run begins with a copy."""
        shutil.copytree(_app() / "schema", place.data / "db")
        _configure(place.data, place.data / "db")

    def command(self, place: Place) -> Command:
        return Command([*_java(_app(), place.data), "ServeMetastore", str(place.port)], {"METASTORE_HOME": str(_app())})

    def ready(self, place: Place) -> bool:
        return listens(place.port)

    def facts(self, place: Place) -> dict[str, str]:
        return {"uri": f"thrift://127.0.0.1:{place.port}", "warehouse": str(place.data / "warehouse")}

    def attach(self, facts: Facts) -> str:
        return f"ATTACH '{facts['uri']}' AS hive (TYPE hms, WAREHOUSE '{facts['warehouse']}');"


def _configure(place: Path, database: Path) -> None:
    (place / "metastore-site.xml").write_text(_SITE.format(database=database, warehouse=place / "warehouse"))


def _java(app: Path, configuration: Path) -> list[str]:
    opened = [
        f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "net", "nio", "util", "util.concurrent")
    ]
    log = f"-Dderby.stream.error.file={configuration}/derby.log"  # else it is in whatever directory this runs in
    return [java(), "-Xmx512m", "-XX:TieredStopAtLevel=1", log, "-cp", f"{configuration}:{app}:{app}/lib/*", *opened]


def _app() -> Path:
    def make(place: Path) -> None:
        unpacked(f"org.apache.hive:hive-standalone-metastore:{VERSION}:tar.gz:bin", place)
        jars(FILES / "hive.xml", place / "lib")
        compiled("ServeMetastore.java", f"{place}/lib/*", place)
        _configure(place, place / "schema")
        tool = "org.apache.hadoop.hive.metastore.tools.MetastoreSchemaTool"
        run([*_java(place, place), tool, "-dbType", "derby", "-initSchema"], {"METASTORE_HOME": str(place)})
        (place / "metastore-site.xml").unlink()

    return once(f"hive-metastore-{VERSION}-1", make)
