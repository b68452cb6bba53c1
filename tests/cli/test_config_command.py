"""`pinakes config check` and `pinakes config show`: every mistake with its line, no secret, a file that loads again."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pinakes.cli.main import FAILED, OK, USAGE, main
from pinakes.config.model import parse_config
from pinakes.config.problems import check_config, lines_of

WRONG = """\
[engine]
batch_size = -1
nope = 3
[caches.listings]
ttl = "soon"

[server.statements]
running = 0
[server.users]
ann = { env = "NOT_SET_ANYWHERE" }
[catalogs.a]
location = "x"
[oops]
x = 1
"""


def write(directory: Path, toml: str) -> str:
    file = directory / "c.toml"
    file.write_text(toml)
    return str(file)


def test_every_mistake_is_reported_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, WRONG)
    assert main(["config", "check", file]) == FAILED
    said = capsys.readouterr().err
    told = {
        2: "engine.batch_size must be",
        3: "[engine] has no key 'nope'",
        5: "caches.listings.ttl must be",
        8: "server.statements.running must be",
        10: "NOT_SET_ANYWHERE, which is not set",
        11: "[catalogs.a] needs a type",
        14: "the configuration has no section 'oops'",
    }
    for line, words in told.items():
        assert any(found.startswith(f"{file}:{line}:") and words in found for found in said.splitlines()), (line, said)
    assert f"{file}: {len(told)} problems." in said


OIDC = """\
[server.oidc]
issuer = "https://login.example.com"
audience = "pinakes"
client_id = "pinakes"
client_secret = "hunter2"
password_grant = true
"""


def test_who_may_call_is_shown_without_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    access = '[server]\nadministrators = ["ann"]\nsession_age = "1h"\n[access]\neverybody_may = []\n'
    file = write(tmp_path, access + OIDC)
    assert main(["config", "check", file]) == OK
    assert main(["config", "show", file]) == OK
    shown = capsys.readouterr().out
    assert "hunter2" not in shown
    again = parse_config(shown, tmp_path)
    assert again.server.logins.administrators == ("ann",)
    assert again.server.limits.session_age == 3600
    assert again.server.oidc is not None
    assert again.server.oidc.issuer == "https://login.example.com"
    assert again.access.everybody_may == ()


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[server]\n\nusers_file = 'nowhere'\n", ":3: the users file"),
        ("[server.tls]\ncertificate = 'nowhere'\nkey = 'nowhere'\n", ":1: server.tls.certificate"),
        ("[server.tls]\nkey = 'nowhere'\n", ":1: server.tls.certificate and server.tls.key go together"),
        ("[server.oidc]\nissuer = 'https://x'\n", ":1: [server.oidc] needs an issuer and an audience"),
        ("[access]\neverybody_may = ['x']\n", ":2: access.everybody_may must be"),
        ("[engine\n", ":1: the configuration is not valid TOML"),
        ('[secrets.s]\ntype = "bearer"\n', ":1: [secrets.s]: secret s of type bearer needs TOKEN"),
        ('\n[catalogs.a]\ntype = "nosuch"\n', ":2: [catalogs.a]: catalog type 'nosuch' is not known"),
        (
            '[catalogs.a]\ntype = "sqlite"\nlocation = "x"\ncolour = 1\n',
            ":1: [catalogs.a]: catalog type sqlite has no opt",
        ),
        ('[catalogs.a]\ntype = "sqlite"\nlocation = "x"\nsecret = "s"\n', "secret 's' does not exist"),
    ],
)
def test_what_only_mounting_shows(tmp_path: Path, toml: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", write(tmp_path, toml)]) == FAILED
    assert said in capsys.readouterr().err


def test_what_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, '[secrets.s]\ntype = "bearer"\ntoken = "x"\n[catalogs.a]\ntype = "iceberg_rest"\n'
                           'location = "http://127.0.0.1:1"\nsecret = "s"\n[server.tokens]\nr = "y"\n')  # fmt: skip
    assert main(["config", "check", file]) == OK
    assert "is right" in capsys.readouterr().err
    assert main(["config", "check", str(tmp_path / "nowhere.toml")]) == FAILED
    assert main(["config", "frobnicate"]) == USAGE


def test_what_is_shown_loads_again_and_has_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toml = (
        '[engine]\nmemory_limit = "1GB"\ndata = ":memory:"\n[server.users]\nann = "hunter2"\n'
        '[server.tokens]\nr = "hunter2"\n'
        '[secrets.s]\ntype = "bearer"\ntoken = "hunter2"\n[server.statements]\nqueue_time = "1min"\n'
        '[catalogs."a b"]\ntype = "jdbc"\nlocation = "postgresql://u:hunter2@h/d"\npassword = "hunter2"\n'
        'warehouse = "w"\n'
    )
    assert main(["config", "show", "--config", write(tmp_path, toml)]) == OK
    shown = capsys.readouterr().out
    assert "hunter2" not in shown
    document = tomllib.loads(shown)
    assert document["engine"]["memory_limit"] == 1_000_000_000
    assert document["catalogs"]["a b"] == {
        "type": "jdbc", "location": "postgresql://u:***@h/d", "password": "***", "warehouse": "w",
    }  # fmt: skip
    again = parse_config(shown, tmp_path)
    assert again.server.statements == parse_config(toml, tmp_path).server.statements
    assert "(default: 300)" in shown


def test_a_document_without_mistakes_is_the_configuration() -> None:
    toml = '[log]\nlevel = "info"\n[server]\ndrain_time = "5s"\n[server.metrics]\nport = 0\n'
    config, problems = check_config(toml, Path(), {})
    assert problems == []
    assert config == parse_config(toml, Path())


def test_lines() -> None:
    assert lines_of('a = 1\n[b."c d"]\n\nx.y = 2\n') == {("a",): 1, ("b", "c d"): 2, ("b", "c d", "x", "y"): 4}
