"""A standalone cluster on loopback: one master, two workers of one core each, and a Spark Connect server on it.

    python serve_spark_cluster.py CACHE FACTS MASTER_PORT UI_PORT

All of them go with this process. It writes how to connect, and the process ids of the workers, into the file FACTS.
"""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from pinakes.config.spark import SparkConfig
from pinakes.spark.jars import ALWAYS
from pinakes.spark.java import FLAGS, java
from pinakes.spark.local_server import Starting, spark_home, start

PR_SET_PDEATHSIG = 1
WORKERS = 2


def run(main_class: str, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    home, command = spark_home(), java()
    environment = {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",  # else a worker looks for directories of a build
        "JAVA_HOME": str(Path(command).resolve().parents[1]),
        "PATH": "/usr/bin:/bin",
    }
    classes = [
        command,
        "-Xmx256m",
        *FLAGS,
        "-cp",
        f"{home}/jars/*",
        f"org.apache.spark.deploy.{main_class}",
        *arguments,
    ]
    return subprocess.Popen(
        classes,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log.open("ab"),
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
    )


def alive_workers(ui_port: str) -> int:
    try:
        with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{ui_port}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])
    except OSError:
        return 0


def main(cache: str, facts: str, port: str, ui_port: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    place, address = Path(facts).parent, f"spark://127.0.0.1:{port}"
    common = ("--host", "127.0.0.1")
    processes = [run("master.Master", place / "master.log", *common, "--port", port, "--webui-port", ui_port)]
    for number in range(WORKERS):
        given = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(place / f"work{number}"))
        processes.append(run("worker.Worker", place / f"worker{number}.log", *common, *given, address))
    config = SparkConfig(
        cache=cache, driver_memory=1 << 30, executor_memory=768 << 20, master=address, start_timeout=400
    )
    while alive_workers(ui_port) < WORKERS:
        time.sleep(0.2)
    server = start(config, ALWAYS, str(place), Starting(lambda _: None, lambda: None))
    try:
        told = {"remote": server.url, "ui": server.ui, "spool": str(server.spool)}
        half = Path(f"{facts}.half")
        half.write_text(json.dumps({**told, "workers": ",".join(str(p.pid) for p in processes[1:])}))
        half.rename(facts)
        signal.pause()
    finally:
        server.stop()
        for process in reversed(processes):
            process.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
