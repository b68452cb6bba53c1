"""Passwords must not cross a network in clear by default: a server off loopback needs TLS, and clients refuse."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pinakes.cli.subcommands.serve import Listening
from pinakes.cli.subcommands.tls import Tls
from pinakes.config.server import TlsConfig
from pinakes.core.errors import ConfigError

PLAIN, ALLOWED = TlsConfig(), TlsConfig(allow_plaintext=True)
DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "db.example.com", "2001:db8::1", ""])
def test_off_loopback_tls_is_required(host: str) -> None:
    listening = Listening(host, 31337, None)
    with pytest.raises(ConfigError, match=r"there is no TLS.*allow_plaintext = true in \[server\.tls\]"):
        listening.check_encrypted(PLAIN)
    listening.check_encrypted(ALLOWED)
    Listening(host, 31337, Tls((b"", b""))).check_encrypted(PLAIN)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "localhost", "::1", "[::1]"])
def test_on_loopback_it_is_not(host: str) -> None:
    Listening(host, 31337, None).check_encrypted(PLAIN)


@pytest.mark.slow
def test_a_server_off_loopback_without_tls_does_not_start(tmp_path: Path) -> None:
    config = tmp_path / "pinakes.toml"
    config.write_text('[server.users]\nann = "secret-ann"\n')
    command = [sys.executable, "-m", "pinakes", "serve", "--host", "0.0.0.0", "--port", "0", "--data", ":memory:"]
    done = subprocess.run([*command, "--config", str(config)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "CONFIG_ERROR: 0.0.0.0 is reachable from other machines, and there is no TLS" in done.stderr
    assert "Listening" not in done.stderr


def test_the_shell_sends_no_password_in_clear() -> None:
    command = [sys.executable, "-m", "pinakes", "--uri", "grpc://192.0.2.1:31337", "--user", "ann", "-c", "SELECT 1"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env={"PINAKES_PASSWORD": "hunter2"}
    )
    assert done.returncode == 2
    assert "has no TLS: a password or token could be read on its way" in done.stderr
    assert "hunter2" not in done.stderr


def test_what_is_deployed_starts_under_this_rule() -> None:
    """The image listens on all addresses: its documentation brings a certificate, and nothing allows plaintext."""
    image, unit = (DEPLOY / "Containerfile").read_text(), (DEPLOY / "pinakes.service").read_text()
    assert "--host" in image
    assert "allow_plaintext = true" not in "\n".join(
        line for line in (image + unit).splitlines() if not line.startswith("#")
    )
    assert "[server.tls]" in image
    assert "[server.tls]" in unit
