"""`pinakes doctor` as a user meets it: on a sound machine, and with what is broken."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from pinakes import __version__
from pinakes.config.model import CatalogConfig, Config
from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow


def checks(document: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(document)["checks"]}


def test_everything_is_fine(cli: Cli, tmp_path: Path) -> None:
    done = cli("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  ✓ engine: runs a query" in done.stdout
    assert " catalog lake: type sqlite: answers, 1 namespace (" in done.stdout  # with ✓, or slow on a busy machine
    assert list(tmp_path.iterdir()) == []


def test_json_is_for_tickets(cli: Cli) -> None:
    done = cli("doctor", "--format", "json")
    document = json.loads(done.stdout)
    assert document["pinakes"] == __version__
    assert document["status"] in ("ok", "warning")  # a busy machine is slow
    found = checks(done.stdout)
    assert found["catalog lake"]["seconds"] > 0
    assert {"Python", "pinakes", "datafusion", "extra spark", "Java", "memory", "time zones", "clock"} <= set(found)


def test_nothing_is_made(cli: Cli, tmp_path: Path) -> None:
    done = cli("--data", "lake", "doctor")
    assert done.returncode == 0
    assert "is made at first use" in done.stdout
    (tmp_path / "lake").mkdir()
    assert cli("--data", "lake", "doctor").returncode == 0
    assert list((tmp_path / "lake").iterdir()) == []


def test_a_catalog_that_is_there(cli: Cli, tmp_path: Path) -> None:
    assert cli("--data", "lake", "-c", "CREATE SCHEMA other").returncode == 0
    assert "catalog lake: type sqlite: answers, 2 namespaces" in cli("--data", "lake", "doctor").stdout


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"[engine\n", "the configuration is not valid TOML"),
        (b"[engine]\nmemory = 1\n", "[engine] has no key 'memory'; available:"),
        (b"[engine]\nmemory_limit = 'much'\n", "engine.memory_limit must be"),
        (b"[motor]\n", "the configuration has no section 'motor'"),
        (b"[catalogs.x]\n", "[catalogs.x] needs a type"),
        (b"[engine]\ndata = '\xff'\n", "can not be read"),
    ],
)
def test_a_broken_configuration(cli: Cli, tmp_path: Path, content: bytes, detail: str) -> None:
    (tmp_path / "broken.toml").write_bytes(content)
    done = cli("doctor", "--config", "broken.toml", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    found = checks(done.stdout)
    assert detail in found["configuration"]["detail"]
    assert found["configuration"]["advice"]
    assert found["catalogs"]["status"] == "warning"
    assert found["engine"]["status"] == "ok"


def test_a_configuration_that_is_not_there(cli: Cli) -> None:
    done = cli("doctor", "--config", "missing.toml")
    assert done.returncode == 1
    assert "✗ configuration: there is no configuration file" in done.stdout


def test_a_data_directory_that_is_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = cli("--data", "file/below", "doctor")
    assert (done.returncode, done.stderr) == (1, "")
    assert "is a file, not a directory" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="a place where not even root can write")
def test_a_data_directory_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    place = Path("/proc/self")
    if os.getuid() != 0:
        place = tmp_path / "closed"
        place.mkdir(mode=0o500)
    done = cli("--data", str(place), "doctor", "--format", "json")
    found = checks(done.stdout)
    assert (done.returncode, found["data directory"]["status"]) == (1, "problem")
    assert "can't be written" in found["data directory"]["detail"]
    assert "engine.data" in found["data directory"]["advice"]
    assert found["SQLite locks"]["status"] == "problem"


def test_wrong_settings_of_the_machine(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "big.toml").write_text("[engine]\nmemory_limit = '900TB'\ntarget_partitions = 500\n")
    done = cli("doctor", "--config", "big.toml", "--format", "json")
    found = checks(done.stdout)
    assert (found["memory"]["status"], found["processors"]["status"]) == ("warning", "warning")
    assert done.returncode == 0


def test_catalogs_that_fail(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "garbage.db").write_bytes(b"this is no database" * 100)
    (tmp_path / "my.toml").write_text(
        "[catalogs.garbage]\ntype = 'sqlite'\nlocation = 'garbage.db'\nwarehouse = 'w'\n"
        "[catalogs.unknown]\ntype = 'carrier_pigeon'\npassword = 'hunter2'\n"
        f"[catalogs.mistyped]\ntype = 'sqlite'\nlocation = '{tmp_path / 'nowhere'}'\n"
    )
    (tmp_path / "my.toml").chmod(0o644)
    done = cli("doctor", "--config", "my.toml", "--format", "json")
    found = checks(done.stdout)
    assert done.returncode == 1
    assert (found["catalog garbage"]["status"], found["catalog unknown"]["status"]) == ("problem", "problem")
    assert "catalog type 'carrier_pigeon' is not known" in found["catalog unknown"]["detail"]
    assert found["catalog mistyped"]["status"] == "warning"
    assert not (tmp_path / "nowhere").exists()
    assert found["its rights"]["status"] == "warning"
    assert "hunter2" not in done.stdout


SILENT = '''
"""A catalog type of another package, which waits for a server to say something."""
import socket
from dataclasses import dataclass

@dataclass
class Options:
    password: str = ""

class Silent:
    Options = Options
    type = "silent"

    @classmethod
    def open(cls, alias, location, options, access):
        host, port = location.split(":")
        if port == "1":
            raise RuntimeError(f"postgresql://ada:{options['PASSWORD']}@host/ refused {options['PASSWORD']}")
        connection = socket.create_connection((host, int(port)))
        connection.sendall(b"hello?")
        connection.recv(1)
        raise AssertionError("it spoke")
'''


def test_a_catalog_that_never_answers_keeps_nobody_waiting(cli: Cli, tmp_path: Path, env: dict[str, str]) -> None:
    library = tmp_path / "library"
    (library / "silent-1.0.dist-info").mkdir(parents=True)
    (library / "silent.py").write_text(SILENT)
    (library / "silent-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: silent\nVersion: 1.0\n")
    (library / "silent-1.0.dist-info" / "entry_points.txt").write_text("[pinakes.catalogs]\nsilent = silent:Silent\n")
    env["PYTHONPATH"] = str(library)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (tmp_path / "my.toml").write_text(
            f"[catalogs.mute]\ntype = 'silent'\nlocation = '127.0.0.1:{port}'\n"
            "[catalogs.leaky]\ntype = 'silent'\nlocation = '127.0.0.1:1'\npassword = 'hunter2'\n"
        )
        done = cli("doctor", "--config", "my.toml", "--format", "json")
    found = checks(done.stdout)
    assert (done.returncode, done.stderr) == (1, "")
    assert found["catalog mute"]["detail"] == "type silent: no answer within 5 s"
    assert "RuntimeError" in found["catalog leaky"]["detail"]
    assert "hunter2" not in done.stdout
    assert "answers" in found["catalog lake"]["detail"]


@pytest.mark.parametrize("wrong", [("-c", "SELECT 1"), ("--format", "csv"), ("again",)])
def test_wrong_usage(cli: Cli, wrong: tuple[str, ...]) -> None:
    done = cli("doctor", *wrong)
    assert (done.returncode, done.stdout) == (2, "")


def test_masks_know_the_options() -> None:
    from pinakes.cli.subcommands.doctor.finding import problem
    from pinakes.cli.subcommands.doctor.report import masked

    catalog = CatalogConfig("c", "jdbc", "x", {"password": "hunter2", "region": "eu-west"})
    config = Config(catalogs={"c": catalog})
    found = masked(problem("c", "eu-west said hunter2 and jdbc://u:pw@h", "not hunter2"), config)
    assert (found.detail, found.advice) == ("eu-west said *** and jdbc://u:***@h", "not ***")
