"""`pinakes --uri`: who may come and how, what it says when there is no server, and that it answers as the embedded one.

What holds at any seat is tested at both in test_commands, test_main, test_screen, test_shell and others.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinakes.cli.formats import FORMATS
from tests.cli.conftest import EMBEDDED, Cli
from tests.flight.serving import Serving, certificate, serving

Remote = Callable[..., "subprocess.CompletedProcess[str]"]
ROOT = Path(__file__).parent.parent.parent
WHO = ("--format", "csv", "-c", "select current_user as u")


@pytest.fixture
def remote(tmp_path: Path, env: dict[str, str]) -> Remote:
    """Runs `pinakes` with these arguments and nobody at a terminal."""

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pinakes", *arguments], capture_output=True, text=True, encoding="utf-8",
            cwd=tmp_path, env=env | more, timeout=180, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    return run


def fails(done: subprocess.CompletedProcess[str], code: int, *texts: str) -> None:
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert [text for text in texts if text not in done.stderr] == [], done.stderr


# --- who comes -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that knows ann and robot."""
    file = tmp_path_factory.mktemp("guarded") / "pinakes.toml"
    file.write_text('[server.users]\nann = "geheim"\n[server.tokens]\nrobot = "t0k3n"\n')
    with serving("--config", str(file)) as running:
        yield running


def test_a_password_and_a_token_in_every_way_they_can_be_given(
    remote: Remote, guarded: Serving, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("geheim\n")
    (tmp_path / "token").write_text("t0k3n\n")
    at = ("--uri", guarded.uri, *WHO)
    assert remote(*at, "--user", "ann", "--password-file", "password").stdout == "u\nann\n"
    assert remote(*at, "--user", "ann", PINAKES_PASSWORD="geheim", PINAKES_TOKEN="t0k3n").stdout == "u\nann\n"
    assert remote(*at, "--token-file", "token").stdout == "u\nrobot\n"
    assert remote(*at, "--token", "t0k3n").stdout == "u\nrobot\n"
    assert remote(*at, PINAKES_TOKEN="t0k3n").stdout == "u\nrobot\n"


def test_a_password_that_is_wrong(remote: Remote, guarded: Serving) -> None:
    at = ("--uri", guarded.uri, *WHO)
    for done in (
        remote(*at, "--user", "ann", PINAKES_PASSWORD="hunter2"),
        remote(*at, "--user", "nobody", PINAKES_PASSWORD="hunter2"),
        remote(*at, "--token", "hunter2"),
        remote(*at),
    ):
        fails(done, 1, "UNAUTHENTICATED: ", guarded.uri, "--user")
        assert "hunter2" not in done.stderr


def test_nobody_to_ask_for_the_password(remote: Remote, guarded: Serving) -> None:
    fails(remote("--uri", guarded.uri, "--user", "ann", *WHO), 2, "--password-file", "PINAKES_PASSWORD")


# --- no server -----------------------------------------------------------------------------------------------------


def test_no_server_listens(remote: Remote) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"grpc://127.0.0.1:{taken.getsockname()[1]}"
        fails(remote("--uri", uri, *WHO), 1, f"SERVER_UNAVAILABLE: can't reach {uri}: no server listens there")


def test_another_flight_server(remote: Remote) -> None:
    import pyarrow.flight as fl  # noqa: TID251 - a server that is none of ours

    with fl.FlightServerBase("grpc://127.0.0.1:0") as other:
        uri = f"grpc://127.0.0.1:{other.port}"
        fails(remote("--uri", uri, *WHO), 1, f"NOT_SUPPORTED: {uri} is not a Pinakes server")


def test_something_else_listens(remote: Remote) -> None:
    """It takes the connection and says what no server of Flight would."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        uri = f"grpc://127.0.0.1:{other.getsockname()[1]}"
        code = (
            f"import socket\ns = socket.socket(fileno={other.fileno()})\nwhile True:\n    c, _ = s.accept()\n"
            "    c.sendall(b'HTTP/1.1 400 no\\r\\n\\r\\n')\n    c.close()"
        )
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, pass_fds=[other.fileno()]) as process:
            try:
                fails(remote("--uri", uri, *WHO), 1, f"SERVER_UNAVAILABLE: can't reach {uri}: ")
            finally:
                process.kill()


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    """A server with TLS, and the certificate to trust."""
    cert, key = certificate(tmp_path_factory.mktemp("tls"))
    with serving("--host", "localhost", "--tls-cert", str(cert), "--tls-key", str(key)) as running:
        yield running, cert


def test_tls(remote: Remote, tls: tuple[Serving, Path], tmp_path: Path) -> None:
    server, authority = tls
    one = ("--format", "csv", "-c", "select 1 as one")
    assert remote("--uri", server.uri, "--tls-ca", str(authority), *one).stdout == "one\n1\n"
    assert remote("--uri", server.uri, "--insecure", *one).stdout == "one\n1\n"
    (tmp_path / "other").mkdir()
    other, _ = certificate(tmp_path / "other")
    for wrong in ((), ("--tls-ca", str(other))):
        fails(remote("--uri", server.uri, *wrong, *one), 1, "SERVER_UNAVAILABLE: ", "certificate", "--tls-ca")
    plain = server.uri.replace("grpc+tls", "grpc")
    fails(remote("--uri", plain, *one), 1, "SERVER_UNAVAILABLE: ", "grpc+tls://")


def test_tls_where_there_is_none(remote: Remote, server: Serving) -> None:
    uri = server.uri.replace("grpc://", "grpc+tls://")
    fails(remote("--uri", uri, *WHO), 1, "SERVER_UNAVAILABLE: ", "does not speak TLS")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--uri", "localhost:31337"), "grpc+tls://host:port"),
        (("--uri", "http://localhost"), "grpc+tls://host:port"),
        (("--uri", "grpc://ann:hunter2@localhost"), "--user"),
        (("--uri", "ann:hunter2@localhost"), "grpc+tls://host:port"),
        (("--uri", "grpc://localhost:99999"), "65535"),
        (("--uri", "grpc://localhost/lake"), "nothing follows the port"),
        (("--uri", "grpc://:31337"), "no host"),
        (("--uri", "grpc://localhost", "--data", "x"), "--data"),
        (("--uri", "grpc://localhost", "--config", "x"), "--config"),
        (("--uri", "grpc://localhost", "--port", "1"), "--port is for `pinakes serve`"),
        (("--uri", "grpc://localhost", "serve"), "--uri is for the shell"),
        (("--uri", "grpc://localhost", "doctor"), "--uri is for the shell"),
        (("--uri", "grpc://localhost", "--tls-ca", __file__), "--tls-ca"),
        (("--uri", "grpc+tls://localhost", "--tls-ca", "missing.pem"), "can't be read"),
        (("--uri", "grpc+tls://localhost", "--tls-ca", __file__), "no certificates in PEM"),
        (("--uri", "grpc://localhost", "--token", "hunter2\n"), "characters that no token has"),
        (("--uri", "grpc://localhost", "--token", "hunter2ü"), "characters that no token has"),
        (("--uri", "grpc://localhost", "--token-file", os.devnull), "the token is empty"),
        (("--uri", "grpc://localhost", "--password-file", "x"), "needs --user"),
        (("--uri", "grpc://localhost", "--user", "ann", "--token", "hunter2"), "leave out --user"),
        (("--uri", "grpc://localhost", "--token", "hunter2", "--token-file", "x"), "give one"),
        (("--uri", "grpc://db.example", "--token", "hunter2"), "--insecure"),
        (("--uri", "grpc://db.example", "--user", "ann"), "--insecure"),
        (("--user", "ann"), "--user is for --uri"),
        (("--insecure",), "--insecure is for --uri"),
        (("--uri", "grpc://localhost", "-f", "missing.sql"), "missing.sql"),
    ],
)
def test_wrong_usage(remote: Remote, arguments: tuple[str, ...], said: str) -> None:
    done = remote(*arguments, *(() if {"serve", "doctor"} & set(arguments) else ("-c", "select 1")))
    fails(done, 2, "pinakes: ", said)
    assert "hunter2" not in done.stderr


# --- the same answers ----------------------------------------------------------------------------------------------

TYPES = """
select arrow_cast(200, 'UInt8') as u8, arrow_cast(18446744073709551615, 'UInt64') as u64, 1.50::decimal(5,2) as d,
  arrow_cast(1.5, 'Float16') as half, arrow_cast('x', 'Dictionary(Int32, Utf8)') as dict, 'ü' as t, null as n,
  arrow_cast('v', 'Utf8View') as v, x'00ff' as b, [arrow_cast(1, 'UInt16'), null] as l, {'a': 1, 'b': 'x'} as s,
  timestamp '2024-02-29 12:34:56.789' as ts,
  arrow_cast(timestamp '2024-02-29 12:00:00', 'Timestamp(ns, Some("UTC"))') as tz,
  date '2024-02-29' as dt, interval '1 month 2 days' as i, true as y, 1e300 as f,
  map {'k': arrow_cast(1, 'UInt32')} as m
from generate_series(1, 3)
"""
STATEMENTS = {
    "types": TYPES,
    "nothing": "select 1 as a where false",
    "no columns": "create table empty_one (a bigint); insert into empty_one values (1); drop table empty_one",
    "parse": "select 1;\n  selec 2",
    "column": "select 1;\nselect nope from (select 1 as here)",
    "table": "select * from nowhere",
    "function": "select\n  abz(1)",
    "type": "select 1 +\n  date '2024-01-01' * 2",
    "while rows come": "select 10 / (value - 3) as x from generate_series(1, 5)",
    "quote": "select 'open",
    "setting": "set nope = 1",
    "aborted": "begin; selec; select 1",
    "in a transaction": "begin; create table nowhere.t (a bigint)",
    "settings": "set statement_timeout = '5min'; show statement_timeout",
    "describe": "describe system.runtime.queries",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_same_text_as_embedded(cli: Cli, remote: Remote, server: Serving, name: str) -> None:
    for format in FORMATS if name == "types" else ("table",):
        if format == "arrow":  # compared below: the ways to keep a value differ
            continue
        here = cli("--format", format, "-c", STATEMENTS[name])
        there = remote("--uri", server.uri, "--format", format, "-c", STATEMENTS[name])
        assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_arrow_keeps_the_types(remote: Remote, server: Serving, tmp_path: Path, env: dict[str, str]) -> None:
    import pyarrow as pa

    sql = "select arrow_cast(5, 'UInt64') as u, arrow_cast(1.5, 'Float16') as h, arrow_cast('v', 'Utf8View') as v"
    command = [sys.executable, "-m", "pinakes", "--uri", server.uri, "--format", "arrow", "-c", sql]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env, timeout=180)
    assert pa.ipc.open_stream(done.stdout).schema.types == [pa.uint64(), pa.float16(), pa.string()]


def test_what_a_catalog_can_not_tell_is_a_warning(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[catalogs.broken]\ntype = 'iceberg_rest'\nlocation = 'http://127.0.0.1:9'\n")
    sql = "select table_name from information_schema.tables where table_schema = 'x'"
    here = remote(*EMBEDDED, "--config", "broken.toml", "--format", "csv", "-c", sql)
    with serving("--config", str(tmp_path / "broken.toml")) as server:
        there = remote("--uri", server.uri, "--format", "csv", "-c", sql)
    assert there.stderr.startswith("warning: ")
    assert (there.stdout, there.stderr) == (here.stdout, here.stderr)


def test_datafusion_is_not_loaded(server: Serving, tmp_path: Path, env: dict[str, str]) -> None:
    script = "\\d\n\\df abs\n\\h select\n\\conninfo\nselect 1;\nshow tables;\n"
    code = (
        "import sys\nfrom pinakes.cli.main import main\n"
        f"code = main(['--uri', {server.uri!r}, '-c', {script!r}])\n"
        "import prompt_toolkit\nfrom pinakes.cli.prompt.shell import Shell\n"
        "from pinakes.client.completion_source import RemoteCompletionSource\n"
        "heavy = ('datafusion', 'pyiceberg', 'pyarrow.dataset', 'google.protobuf')\n"
        "sys.stderr.write(f'{code},' + ','.join(m for m in heavy if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.stderr == "0,"
    assert "abs" in done.stdout
    assert not os.path.exists(env["HOME"] + "/.local/share/pinakes")  # noqa: PTH110 - no catalog of one's own is made
