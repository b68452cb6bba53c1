"""One Spark session with Iceberg, over HTTP: what tests/servers/spark.py runs, in an environment of its own.

    python serve_spark.py PORT JARS DIRECTORY

POST /sql carries a statement and gives its rows as an Arrow stream. The header `X-Files` of the answer tells how many
data files the scans read after pruning, and how many they left out. POST /conf carries a JSON object of settings, such
as a catalog. An error is status 400 and its text.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    # A plan that changes while it runs would not tell its metrics in one place.
    "spark.sql.adaptive.enabled": "false",
}


def session(jars: str, directory: str) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("pinakes-tests")
    given = {"spark.jars": jars, "spark.sql.warehouse.dir": directory, "spark.local.dir": directory, **SETTINGS}
    for key, value in given.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def files_of(frame: Any) -> dict[str, int]:
    """Data files that all Iceberg scans of a plan that ran did read, and did skip."""
    found = {"read": 0, "skipped": 0}
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    for i in range(leaves.size()):
        metrics = leaves.apply(i).metrics()
        for name, key in (("resultDataFiles", "read"), ("skippedDataFiles", "skipped")):
            if metrics.contains(name):
                found[key] += metrics.apply(name).value()
    return found


class Handler(BaseHTTPRequestHandler):
    spark: SparkSession

    def do_GET(self) -> None:
        self.answer(200, b"ready")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            self.run(body)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is told
            self.answer(400, str(error).encode())

    def run(self, body: str) -> None:
        if self.path == "/conf":
            for key, value in json.loads(body).items():
                self.spark.conf.set(key, value)
            self.answer(200, b"")
            return
        frame = self.spark.sql(body)
        table = frame.toArrow()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        self.answer(200, sink.getvalue().to_pybytes(), {"X-Files": json.dumps(files_of(frame))})

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not worth a line each."""


if __name__ == "__main__":
    port, jars, directory = sys.argv[1:]
    Handler.spark = session(jars, directory)
    Handler.spark.sql("SELECT 1").collect()
    HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
