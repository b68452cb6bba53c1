"""A Spark Connect server as the product starts one, for a whole test session: what tests/servers/spark_connect.py runs.

    python serve_spark_connect.py CACHE FACTS

It writes how to connect into the file FACTS once it answers, and runs until it is told to end.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from pinakes.config.spark import SparkConfig
from pinakes.spark.jars import ALL
from pinakes.spark.local_server import Starting, start


def main(cache: str, facts: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    config = SparkConfig(cache=cache, driver_memory=2 << 30, cores=2, start_timeout=400)
    server = start(config, ALL, str(Path(facts).parent), Starting(lambda _: None, lambda: None))
    try:
        half = Path(f"{facts}.half")
        half.write_text(json.dumps({"remote": server.url, "ui": server.ui, "spool": str(server.spool)}))
        half.rename(facts)
        signal.pause()
    finally:
        server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
