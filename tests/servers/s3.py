"""versitygw: S3 with real signatures, on disk. Wrong keys are refused, unlike with moto."""

from __future__ import annotations

from tests.servers.base import Command, Facts, Place, Server
from tests.servers.cache import once
from tests.servers.fetch import go
from tests.servers.running import listens

VERSION = "v1.8.0"
KEY_ID, SECRET, REGION, BUCKET = "testing", "testing12", "us-east-1", "warehouse"


class S3(Server):
    name = "s3"

    def install(self) -> None:
        _program()

    def prepare(self, place: Place) -> None:
        """A bucket is a directory."""
        (place.data / "buckets" / BUCKET).mkdir(parents=True)

    def command(self, place: Place) -> Command:
        address = ["--port", f"127.0.0.1:{place.port}", "--region", REGION]
        keys = {"ROOT_ACCESS_KEY": KEY_ID, "ROOT_SECRET_KEY": SECRET}
        return Command([_program(), *address, "posix", place.data / "buckets"], keys)

    def ready(self, place: Place) -> bool:
        return listens(place.port)

    def facts(self, place: Place) -> dict[str, str]:
        return {"uri": place.http, "key_id": KEY_ID, "secret": SECRET, "region": REGION, "bucket": BUCKET}

    def attach(self, facts: Facts) -> str:
        return (
            f"CREATE SECRET s3 (TYPE s3, KEY_ID '{facts['key_id']}', SECRET '{facts['secret']}', "
            f"REGION '{facts['region']}', ENDPOINT '{facts['uri']}', URL_STYLE 'path');\n"
            f"ATTACH '/tmp/s3.db' AS s3 (TYPE sqlite, WAREHOUSE 's3://{facts['bucket']}/sql', STORAGE_SECRET s3);"
        )


def _program() -> str:
    make = f"github.com/versity/versitygw/cmd/versitygw@{VERSION}"
    return str(once(f"versitygw-{VERSION}", lambda place: go(make, place)) / "versitygw")
