"""Promise: the local Spark is started in at most 1.3 times the time that Spark's own script takes.

Both until the server takes connections, with the same jars, memory and extensions; in turns.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from _harness import promise

from pinakes.config.spark import SparkConfig
from pinakes.spark import local_server
from pinakes.spark.jars import ALWAYS, JarCache
from pinakes.spark.java import java

ROUNDS = 5
CONFIG = SparkConfig(driver_memory=1 << 30, start_timeout=600.0)


def ours() -> float:
    starting = local_server.Starting(lambda line: None, lambda: None)
    began = time.perf_counter()
    server = local_server.start(CONFIG, ALWAYS, None, starting)
    taken = time.perf_counter() - began
    server.stop()
    return taken


def script(jars: list[Path]) -> float:
    """Spark's own way: spark-submit of the Connect server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    home = local_server.spark_home()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.jars": ",".join(map(str, jars)),
        **local_server.COMMON,
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    command = [str(home / "bin" / "spark-submit"), *conf]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(Path(java()).resolve().parents[1]),
    }
    with tempfile.TemporaryFile() as log:
        began = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            while not local_server.answers(port):
                if process.poll() is not None:
                    log.seek(0)
                    raise SystemExit(f"Spark's script ended: {log.read().decode(errors='replace')[-1000:]}")
                time.sleep(0.05)
            return time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    home = local_server.spark_home()
    ivy = next((home / "jars").glob("ivy-*.jar"))
    jars = JarCache(local_server.cache_directory(CONFIG), java(), ivy).paths(ALWAYS)
    ours()  # files are in the memory of the machine for both
    mine, theirs = zip(*((ours(), script(jars)) for _ in range(ROUNDS)), strict=True)
    print(f"start of a local Spark: {median(mine):.1f} s; Spark's own script: {median(theirs):.1f} s")
    promise("start: times that of Spark's own script", median(mine) / median(theirs), 1.3, " x")


if __name__ == "__main__":
    main()
