"""SIGHUP and who may do what: administrators, powers, users and ways to log in are taken over while clients stay, and
what cannot be is refused whole."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl
import pytest

from pinakes.config.server import LoginConfig, OidcConfig, ServerConfig
from pinakes.flight.running import changed_users
from pinakes.flight.wire.messages import message, pack, unpack
from tests.flight.identities import as_user, asked, configured, headers, is_refused, is_turned_away, whoami, with_token
from tests.flight.serving import Serving, apart, eventually

ANN, BOB = "token-of-ann", "token-of-bob"
TOKENS = f"[server.tokens]\nann = '{ANN}'\nbob = '{BOB}'\n"


def reloaded(server: Serving, file: Path, toml: str) -> str:
    """What the server says once it has read another configuration."""
    file.write_text(toml)
    before = server.output.count("eloaded: ")
    server.process.send_signal(signal.SIGHUP)
    assert eventually(lambda: server.output.count("eloaded: ") > before), server.output
    return server.output.split("eloaded: ")[-1].splitlines()[0]


def test_administrators_and_powers_change_for_sessions_that_are_open(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x\n1\n")
    of_file = f"SELECT x FROM '{tmp_path}/one.csv'"
    with (
        configured(tmp_path, f"[server]\nadministrators = ['ann']\n{TOKENS}") as server,
        server.connect(**with_token(ANN)) as ann,
        server.connect(**with_token(BOB)) as bob,
    ):
        assert _rows(ann, of_file) == [(1,)]
        with pytest.raises(adbc.Error, match="for administrators here"):
            _rows(bob, of_file)
        file = tmp_path / "pinakes.toml"
        said = reloaded(server, file, f"[server]\nadministrators = ['bob']\n{TOKENS}")
        assert said == "administrators changed."
        assert _rows(bob, of_file) == [(1,)]
        with pytest.raises(adbc.Error, match="for administrators here"):
            _rows(ann, of_file)
        with pytest.raises(adbc.Error, match="for administrators here"):
            _rows(ann, "CALL system.runtime.flush_cache('all')")
        said = reloaded(server, file, f"[access]\neverybody_may = ['local_files']\n{TOKENS}")
        assert said == "administrators changed; access changed."
        for each in (ann, bob):
            assert _rows(each, of_file) == [(1,)]
            with pytest.raises(adbc.Error, match="for administrators here"):
                _rows(each, "SET GLOBAL cache.plans.max_entries = 1")


def test_handles_have_the_rights_of_who_uses_them_now(tmp_path: Path) -> None:
    """A prepared statement and a transaction of connections that nobody has called on since."""
    (tmp_path / "one.csv").write_text("x\n1\n")
    of_file = f"SELECT x FROM '{tmp_path}/one.csv'"
    with (
        configured(tmp_path, f"[server]\nadministrators = ['ann']\n{TOKENS}") as server,
        apart(server) as first,
        apart(server) as second,
    ):
        prepared = _act(first, "CreatePreparedStatement", query=of_file).prepared_statement_handle
        begun = _act(second, "BeginTransaction").transaction_id
        with apart(server) as other:
            by_handle = {"name": "CommandPreparedStatementQuery", "prepared_statement_handle": prepared}
            in_transaction = {"name": "CommandStatementQuery", "query": of_file, "transaction_id": begun}
            for command in (by_handle, in_transaction):
                assert _fetched(other, **command) == [{"x": 1}]
            reloaded(server, tmp_path / "pinakes.toml", TOKENS)
            for command in (by_handle, in_transaction):
                with pytest.raises(fl.FlightUnauthorizedError, match="for administrators here"):
                    _fetched(other, **command)


def _act(client: fl.FlightClient, name: str, **fields: object) -> Any:
    body = pack(message(f"Action{name}Request")(**fields))
    (answer,) = client.do_action(fl.Action(name, body), headers(ANN))
    return unpack(answer.body.to_pybytes())[1]


def _fetched(client: fl.FlightClient, name: str, **fields: object) -> list[dict[str, Any]]:
    command = fl.FlightDescriptor.for_command(pack(message(name)(**fields)))
    ticket = client.get_flight_info(command, headers(ANN)).endpoints[0].ticket
    found: list[dict[str, Any]] = client.do_get(ticket, headers(ANN)).read_all().to_pylist()
    return found


def _rows(connection: adbc.Connection, sql: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def test_a_user_whose_password_changed_is_out_and_others_stay(tmp_path: Path) -> None:
    with configured(tmp_path, "[server.users]\nann = 'old'\nbob = 'hush'\n") as server:
        ann, bob = _logged_in(server, "ann", "old"), _logged_in(server, "bob", "hush")
        assert not is_turned_away(server, ann)
        said = reloaded(server, tmp_path / "pinakes.toml", "[server.users]\nann = 'new'\nbob = 'hush'\n")
        assert said == "users changed: ann."
        assert is_turned_away(server, ann)
        assert not is_turned_away(server, bob)
        assert is_refused(server, **as_user("ann", "old"))
        assert whoami(server, **as_user("ann", "new")) == "ann"


def _logged_in(server: Serving, user: str, password: str) -> str:
    """The token that the server gives for a password."""
    with fl.connect(server.uri) as client:
        return str(client.authenticate_basic_token(user, password)[1].decode().removeprefix("Bearer "))


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("", "whether there is authentication at all is decided at the start"),
        (f"[server]\nadministrators = 7\n{TOKENS}", "server.administrators must be"),
        (f"[server]\nusers_file = 'nowhere'\n{TOKENS}", "can't be read"),
        (f"[access]\neverybody_may = ['anything']\n{TOKENS}", "access.everybody_may must be"),
        (f"[server.tls]\ncertificate = 'nowhere'\nkey = 'nowhere'\n{TOKENS}", "can't be read"),
    ],
)
def test_what_is_wrong_changes_nothing(toml: str, said: str, tmp_path: Path) -> None:
    before = f"[server]\nadministrators = ['ann']\n{TOKENS}"
    with configured(tmp_path, before) as server:
        assert said in reloaded(server, tmp_path / "pinakes.toml", toml)
        assert "not reloaded: " in server.output
        assert whoami(server, **with_token(BOB)) == "bob"
        (tmp_path / "one.csv").write_text("x\n1\n")
        assert asked(server, f"SELECT x FROM '{tmp_path}/one.csv'", **with_token(ANN)) == [(1,)]
        assert is_refused(server)


def test_other_ways_to_log_in_end_all_log_ins() -> None:
    """A file or an issuer that is another tells other people apart, also under the same names."""
    plain = ServerConfig({"ann": "x"})
    assert changed_users(plain, ServerConfig({"ann": "x", "bob": "y"}, {"carl": "z"})) == {"bob", "carl"}
    assert changed_users(plain, ServerConfig({"ann": "x"}, logins=LoginConfig(users_file="users"))) is None
    assert (
        changed_users(plain, ServerConfig({"ann": "x"}, oidc=OidcConfig(issuer="https://i", audience=("a",)))) is None
    )
    assert changed_users(plain, ServerConfig({"ann": "x"}, logins=LoginConfig(administrators=("ann",)))) == set()
