"""A real server process for tests: `pinakes serve`, its address, what it says, and what it uses."""

from __future__ import annotations

import datetime
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl

from tests.commands import Command

PATIENCE = 180.0
"""Seconds that something may take on a machine that is busy with other things; nothing here should."""
TICK = os.sysconf("SC_CLK_TCK")


class Serving:
    def __init__(self, process: Command | subprocess.Popen[bytes], output: TextIO) -> None:
        self.process = process
        self.said: list[str] = []
        self._listening = threading.Event()
        self.uri = ""
        threading.Thread(target=self._listen, args=(output,), daemon=True).start()
        assert self._listening.wait(PATIENCE), self.output
        assert self.uri, self.output

    @property
    def output(self) -> str:
        return "".join(self.said)

    @property
    def metrics(self) -> str:
        """Where it tells health and figures."""
        assert eventually(lambda: "Health and metrics: " in self.output), self.output
        return re.search(r"Health and metrics: (\S+)/health", self.output)[1]  # type: ignore[index]

    @property
    def port(self) -> int:
        return int(self.uri.rpartition(":")[2])

    def connect(self, **options: object) -> adbc.Connection:
        return adbc.connect(self.uri, **{"autocommit": True, **options})  # type: ignore[arg-type]

    def cpu(self) -> float:
        """Seconds of processor time used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def resident(self) -> int:
        """Bytes of memory in use."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))  # noqa: PTH208 - only their number

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def _listen(self, output: TextIO) -> None:
        for line in output:
            self.said.append(line)
            found = re.match(r"Listening on (\S+)", line)
            if found:
                self.uri = found[1]
                self._listening.set()
        self._listening.set()


@contextmanager
def serving(*arguments: str, data: str = ":memory:", port: int = 0) -> Iterator[Serving]:
    command = ["serve", "--port", str(port), "--data", data, *arguments]
    reading, writing = os.pipe()
    process: Command | subprocess.Popen[bytes]
    with Path(os.devnull).open("r+b") as nothing, os.fdopen(reading, encoding="utf-8") as output:
        if "PYTEST_VERSION" in os.environ:
            null = nothing.fileno()
            process = Command(*command, stdin=null, stdout=null, stderr=writing, env=os.environ)
        else:
            process = subprocess.Popen([sys.executable, "-m", "pinakes", *command], stderr=writing)
        os.close(writing)
        try:
            yield Serving(process, output)
        finally:
            process.kill()
            process.wait()


def apart(server: Serving) -> fl.FlightClient:
    """A client on a TCP connection of its own: gRPC shares one between the clients of a process."""
    return fl.connect(server.uri, generic_options=[("grpc.use_local_subchannel_pool", 1)])


def eventually(check: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether it becomes true; how long that takes is no matter."""
    until = time.monotonic() + seconds
    while not check():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def certificate(directory: Path) -> tuple[Path, Path]:
    """A certificate for localhost that is its own authority, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = directory / "server.crt", directory / "server.key"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return cert_file, key_file
