"""A Spark Connect server on this machine for this process only: started on demand, ended with the process.

It listens on 127.0.0.1 only and accepts only clients with its token. The token is random and is passed in a file of
mode 0600 that is removed once the server runs: statements and catalogs (`env:…` in Iceberg's properties) can read the
environment, and other users of the machine can read the command line. Secrets of catalogs are in neither, nor in a
file: they are settings of a session.
"""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pinakes.config.spark import SparkConfig
from pinakes.core.errors import ServerUnavailable
from pinakes.engine.files.scratch import Scratch
from pinakes.spark import supervisor
from pinakes.spark.jars import JarCache, Jars
from pinakes.spark.java import FLAGS, java

_TOKEN = "spark.connect.authenticate.token"
_REDACTED = r"(?i)secret|password|token|access[.]?key|credential|spark\.sql\.catalog\."
_GLANCE = 0.05
_LOGGING = """
rootLogger.level = error
rootLogger.appenderRef.stdout.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{short}
"""


@dataclass(slots=True)
class LocalServer:
    """A running server. `ui` is the address of its web interface, `spool` a directory that both processes can
    access."""

    address: str
    ui: str
    token: str
    spool: Path
    _supervisor: subprocess.Popen[bytes]
    _scratch: Scratch
    _stopped: bool = False

    @property
    def url(self) -> str:
        return f"{self.address}/;token={self.token}"

    @property
    def is_running(self) -> bool:
        return self._supervisor.poll() is None

    def stop(self) -> None:
        """Stops the server once; the supervisor ends Spark when its pipe is closed."""
        if self._stopped:
            return
        self._stopped = True
        if self._supervisor.stdin is not None:
            self._supervisor.stdin.close()
        self._supervisor.wait()
        self._scratch.remove()


class Starting:
    """Callbacks during the start: `say` gets progress messages, `check` raises when the statement is canceled."""

    def __init__(self, say: Callable[[str], None], check: Callable[[], None]) -> None:
        self.say = say
        self.check = check


def start(config: SparkConfig, jars: Jars, base: str | None, starting: Starting) -> LocalServer:
    """Starts a server and waits until it accepts connections; `base` is the directory for temporary files."""
    command = java()
    starting.say("getting what Spark needs")
    home = spark_home()
    ivy = next((home / "jars").glob("ivy-*.jar"))
    paths = JarCache(cache_directory(config), command, ivy, offline=config.offline).paths(jars)
    starting.say("starting Spark")
    scratch = Scratch(base)
    try:
        return _started(config, command, home, paths, scratch, starting)
    except BaseException:
        scratch.remove()
        raise


def _started(
    config: SparkConfig, command: str, home: Path, jars: list[Path], scratch: Scratch, starting: Starting
) -> LocalServer:
    connect, ui = _free_ports()
    token, spool, log = secrets.token_urlsafe(32), scratch.path / "spool", scratch.path / "spark.log"
    spool.mkdir()
    (scratch.path / "log4j2.properties").write_text(_LOGGING)
    private = scratch.path / "private.properties"
    private.touch(0o600)
    private.write_text(f"{_TOKEN}={token}\n")
    settings = {**_settings(config, jars, scratch.path), **_ports(connect, ui)}
    arguments = [
        command,
        f"-Xmx{config.driver_memory >> 20}m",
        *FLAGS,
        f"-Dlog4j2.configurationFile={scratch.path / 'log4j2.properties'}",
        f"-Djava.io.tmpdir={scratch.path}",
        *("-cp", f"{home}/jars/*", "org.apache.spark.deploy.SparkSubmit", "--name", "pinakes"),
        *("--properties-file", str(private)),
        *(part for key, value in settings.items() for part in ("--conf", f"{key}={value}")),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-I", str(Path(supervisor.__file__)), str(log), *arguments],
        env=_environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = LocalServer(
        f"sc://localhost:{connect}", f"http://127.0.0.1:{ui}", token, spool, _supervisor=process, _scratch=scratch
    )
    try:
        _await(server, connect, log, config.start_timeout, starting)
    except BaseException:
        server.stop()
        raise
    private.unlink()
    return server


def _await(server: LocalServer, port: int, log: Path, seconds: float, starting: Starting) -> None:
    until = time.monotonic() + seconds
    while not answers(port):
        starting.check()
        if not server.is_running:
            raise ServerUnavailable(f"Spark did not start: {_last_words(log)}")
        if time.monotonic() > until:
            raise ServerUnavailable(
                f"Spark did not start within {seconds:g} seconds: {_last_words(log)} Set start_timeout in [spark] to "
                f"more, or give it more memory."
            )
        threading.Event().wait(_GLANCE)


def _last_words(log: Path) -> str:
    """Returns the last lines of the log without Java stack traces."""
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    reasons = [line.strip() for line in lines if line.strip() and not line.startswith(("\tat ", "\t..."))]
    return " / ".join(reasons[-3:]) or "it said nothing."


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _settings(config: SparkConfig, jars: list[Path], place: Path) -> dict[str, str]:
    return {
        "spark.master": config.master or f"local[{config.cores}]",
        "spark.jars": ",".join(map(str, jars)),
        "spark.local.dir": str(place / "local"),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": f"{config.executor_memory >> 20}m",
        "spark.connect.grpc.arrow.maxBatchSize": "2m",
        "spark.connect.progress.reportInterval": "500ms",
        "spark.connect.execute.reattachable.senderMaxStreamDuration": "10m",
        "spark.redaction.regex": _REDACTED,
        "spark.sql.redaction.options.regex": _REDACTED,
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.killEnabled": "false",
        "spark.eventLog.enabled": "false",
        **COMMON,
    }


COMMON: Mapping[str, str] = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.variable.substitute": "false",
}
"""Settings that a Spark needs from its start; the others are sent to each session (`connect.py`)."""


def _ports(connect: int, ui: int) -> dict[str, str]:
    return {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(connect),
        "spark.connect.grpc.port.maxRetries": "0",
        "spark.ui.port": str(ui),
        "spark.port.maxRetries": "16",
    }


def _free_ports() -> tuple[int, int]:
    """Returns two free ports. Both sockets stay open until both ports are known, so that they differ."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])


def _environment(home: Path) -> dict[str, str]:
    """Returns the environment of the server. Nothing is inherited, so that another Spark installation has no effect."""
    return {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PATH": "/usr/bin:/bin"}


def spark_home() -> Path:
    """Returns the directory of the Spark in the package pyspark."""
    from importlib.util import find_spec

    found = find_spec("pyspark")
    if found is None or found.origin is None:
        from pinakes.core.errors import NotSupportedError

        raise NotSupportedError("running statements on Spark needs pyspark: pip install 'pinakes[spark]'")
    return Path(found.origin).parent


def cache_directory(config: SparkConfig) -> Path:
    if config.cache is not None:
        return Path(config.cache)
    import platformdirs

    return Path(platformdirs.user_cache_dir("pinakes", appauthor=False))
