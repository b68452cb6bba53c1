"""moto: S3, Glue and the control plane of S3 Tables, in memory. It takes any credentials."""

from __future__ import annotations

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.fetch import virtualenv
from tests.servers.running import answers

VERSION = "5.2.5"
KEY_ID, SECRET, REGION, BUCKET = "testing", "testing12", "us-east-1", "warehouse"


class Moto(Server):
    name = "moto"

    def install(self) -> None:
        virtualenv(f"moto-{VERSION}", f"moto[server]=={VERSION}")

    def command(self, place: Place) -> Command:
        python = virtualenv(f"moto-{VERSION}") / "bin" / "python"
        return Command([python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(place.port)])

    def ready(self, place: Place) -> bool:
        """Ready with its bucket in it; making that again is fine."""
        return answers(f"{place.http}/{BUCKET}", "PUT", (200, 409))

    def facts(self, place: Place) -> dict[str, str]:
        return {"uri": place.http, "key_id": KEY_ID, "secret": SECRET, "region": REGION, "bucket": BUCKET}

    def attach(self, facts: Facts) -> str:
        return (
            f"CREATE SECRET moto (TYPE aws, KEY_ID '{facts['key_id']}', SECRET '{facts['secret']}', "
            f"REGION '{facts['region']}');\n"
            f"ATTACH '{facts['uri']}' AS moto (TYPE glue, WAREHOUSE 's3://{facts['bucket']}/glue', SECRET moto);"
        )
