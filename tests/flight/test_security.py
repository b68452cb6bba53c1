"""Who is let in by a server that knows its users itself: passwords, tokens, certificates, and who tries them out."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.server.logins.hashes import hashed_password, hashed_token, is_right
from tests.flight.identities import Cookies, as_user, asked, configured, headers, is_refused, query, whoami, with_token
from tests.flight.serving import PATIENCE, Serving, eventually

SCHEMA = pa.schema([("x", pa.int64())])
ANN, BOB, TOKEN = "ann's password", "bob's password", "pnk_a-token-of-a-robot"


def user(directory: Path, *arguments: str, password: str = "") -> subprocess.CompletedProcess[str]:
    """`pinakes user`, as one would call it in a script."""
    command = [sys.executable, "-m", "pinakes", "user", *arguments, "--users", str(directory / "users")]
    return subprocess.run(command, input=f"{password}\n", capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("users")
    assert user(directory, "add", "ann", "--admin", password=ANN).returncode == 0
    assert user(directory, "add", "bob", password=BOB).returncode == 0
    return directory


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Serving]:
    toml = f'[server]\nusers_file = "users"\n[server.tokens]\nrobot = "{hashed_token(TOKEN)}"\nplain = "plain-token"\n'
    with configured(home, toml) as running:
        yield running


# --- users -------------------------------------------------------------------------------------------------------


def test_users_of_the_file_and_hashed_tokens(server: Serving) -> None:
    assert whoami(server, **as_user("ann", ANN)) == "ann"
    assert whoami(server, **as_user("bob", BOB)) == "bob"
    assert whoami(server, **with_token(TOKEN)) == "robot"
    assert whoami(server, **with_token("plain-token")) == "plain"
    for wrong in (with_token(hashed_token(TOKEN)), with_token(""), as_user("robot", TOKEN), as_user("Ann", ANN), {}):
        assert is_refused(server, **wrong)


def test_the_file_holds_no_password(home: Path) -> None:
    text = (home / "users").read_text()
    assert "$argon2id$" in text
    assert ANN not in text
    assert (home / "users").stat().st_mode & 0o077 == 0


def test_who_is_removed_is_out_at_once_and_who_is_added_is_in(server: Serving, home: Path) -> None:
    made = user(home, "add", "carol", "--token")
    token = made.stdout.strip()
    assert whoami(server, **with_token(token)) == "carol"
    assert user(home, "add", "carol", password="carol's password").returncode == 0
    with fl.connect(server.uri) as client:
        logged_in = fl.FlightCallOptions(headers=[client.authenticate_basic_token("carol", "carol's password")])
        client.get_flight_info(query("SELECT 1"), logged_in)
        assert user(home, "remove", "carol").returncode == 0
        with pytest.raises(fl.FlightUnauthenticatedError):
            client.get_flight_info(query("SELECT 1"), logged_in)
    assert is_refused(server, **with_token(token))
    assert whoami(server, **as_user("ann", ANN)) == "ann"


def test_a_slip_in_the_file_locks_no_user_out(tmp_path: Path) -> None:
    assert user(tmp_path, "add", "ann", password=ANN).returncode == 0
    with configured(tmp_path, '[server]\nusers_file = "users"\n') as server:
        good = (tmp_path / "users").read_text()
        (tmp_path / "users").write_text(good + "bob:geheim\n")
        assert whoami(server, **as_user("ann", ANN)) == "ann"
        assert is_refused(server, **as_user("bob", "geheim"))
        (tmp_path / "users").unlink()
        assert whoami(server, **as_user("ann", ANN)) == "ann"
        assert eventually(lambda: "Its users stay as they were" in server.output)
        assert "geheim" not in server.output
        (tmp_path / "users").write_text("# nobody\n")
        assert is_refused(server, **as_user("ann", ANN))


def test_another_password(home: Path, server: Serving) -> None:
    assert user(home, "add", "dora", password="the first one").returncode == 0
    assert whoami(server, **as_user("dora", "the first one")) == "dora"
    assert user(home, "add", "dora", password="the second one").returncode == 0
    assert is_refused(server, **as_user("dora", "the first one"))
    assert whoami(server, **as_user("dora", "the second one")) == "dora"
    listed = user(home, "list").stdout.splitlines()
    assert [line for line in listed if line.startswith("dora")] == ["dora\tpassword\tuser"]
    assert "ann\tpassword\tadministrator" in listed


@pytest.mark.parametrize(
    ("arguments", "password", "said"),
    [
        (["add", "x"], "short", "at least 8 characters"),
        (["add", "a:b"], "long enough", "can't be the name"),
        (["add", ""], "long enough", "can't be the name"),
        (["add", "#x"], "long enough", "can't be the name"),
        (["remove", "nobody"], "", "there is no user 'nobody'"),
    ],
)
def test_what_can_not_be_a_user(arguments: list[str], password: str, said: str, home: Path) -> None:
    before = (home / "users").read_text()
    done = user(home, *arguments, password=password)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (home / "users").read_text() == before


def test_users_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pinakes", "user", "add", "--token", "--users", str(tmp_path / "users")]
    adding = [
        subprocess.Popen([*command, f"u{n}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for n in range(6)
    ]
    assert [process.wait(PATIENCE) for process in adding] == [0] * 6
    assert len(user(tmp_path, "list").stdout.splitlines()) == 6


def test_a_file_that_is_no_file_of_users(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann:geheim\n")
    (tmp_path / "pinakes.toml").write_text('[server]\nusers_file = "users"\n')
    command = [sys.executable, "-m", "pinakes", "serve", "--port", "0", "--config", str(tmp_path / "pinakes.toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert "line 1 of the users file" in done.stderr
    assert "geheim" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('[server]\nauthentication = "required"', "there is no way to log in"),
        ('[server]\nauthentication = "none"\n[server.tokens]\nx = "y"', "there are ways to log in"),
        ("[server.tls]\ncertificate_user = true", "needs client_ca"),
        ('[server]\nusers_file = "nowhere"', "can't be read"),
        ('[server.oidc]\nissuer = "https://x"', "needs an issuer and an audience"),
        ('[server.oidc]\nissuer = "http://example.com"\naudience = "x"', "must be an https:// address"),
        ('[server.oidc]\nissuer = "https://x"\naudience = "x"\npassword_grant = true', "needs a client_id"),
        ('[access]\neverybody_may = ["anything"]', "must be a list of some of attach"),
        ('[server.tls]\ncertificate = "x"', "go together"),
        ('[server.tls]\nclient_ca = "x"', "needs a certificate of the server"),
    ],
)
def test_a_wrong_configuration_is_reported(toml: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pinakes.toml").write_text(toml)
    command = [sys.executable, "-m", "pinakes", "serve", "--port", "0", "--config", str(tmp_path / "pinakes.toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_hashes() -> None:
    assert is_right(hashed_password("x"), "x")
    assert not is_right(hashed_password("x"), "y")
    assert not is_right(hashed_password("x"), hashed_password("x"))
    assert is_right("sha256:" + hashlib.sha256(b"t").hexdigest(), "t")
    assert not is_right("$argon2id$nonsense", "x")


# --- nothing is answered before ----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["", "Bearer x", "Bearer ", "Basic !", "Basic eDp5", "Digest x", "bearer"])
def test_every_call_without_credentials_is_turned_away(server: Serving, given: str) -> None:
    options = fl.FlightCallOptions(headers=[(b"authorization", given.encode())] if given else [])
    with fl.connect(server.uri) as client:
        calls = {
            "GetFlightInfo": lambda: client.get_flight_info(query("SELECT 1"), options),
            "GetSchema": lambda: client.get_schema(query("SELECT 1"), options),
            "DoGet": lambda: client.do_get(fl.Ticket(b"x"), options).read_all(),
            "DoPut": lambda: client.do_put(query("SELECT 1"), SCHEMA, options)[0].close(),
            "DoExchange": lambda: client.do_exchange(query("SELECT 1"), options)[1].read_chunk(),
            "DoAction": lambda: list(client.do_action(fl.Action("BeginTransaction", b""), options)),
            "ListActions": lambda: client.list_actions(options),
            "ListFlights": lambda: list(client.list_flights(b"", options)),
        }
        for name, call in calls.items():
            told = _told(call)
            assert told.startswith("UNAUTHENTICATED: "), f"{name}: {told}"
            assert "Traceback" not in told


def _told(call: Callable[[], object]) -> str:
    try:
        call()
    except (pa.ArrowException, OSError) as error:
        return str(error)
    return "it was answered"


# --- who tries out passwords -------------------------------------------------------------------------------------


def test_failed_log_ins_slow_down_and_lock_no_user_out(home: Path) -> None:
    with configured(home, '[server]\nusers_file = "users"\n') as server:
        assert eventually(lambda: _has_to_wait(server))  # also with the right password, here
        assert whoami(server, **as_user("ann", ANN)) == "ann"  # and nobody else
        assert "guess" not in server.output
        assert "a login of 'bob'" in server.output


def _has_to_wait(server: Serving) -> bool:
    """Guess until it is too much, and then know it. Who is let in after all was so slow that the wait was over."""
    waits = "too many logins of this user have failed from this address"
    while waits not in _error(server, "bob", "guess"):
        pass
    try:
        whoami(server, **as_user("bob", BOB))
    except adbc.Error as error:
        if waits in str(error):
            return True
        raise
    return False


def _error(server: Serving, name: str, password: str) -> str:
    with pytest.raises(adbc.Error) as error:
        whoami(server, **as_user(name, password))
    return str(error.value)


# --- sessions end ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["session_age", "session_idle"])
def test_a_log_in_and_its_session_end(home: Path, limit: str) -> None:
    toml = f'[server]\nusers_file = "users"\n{limit} = "8s"\n'
    with configured(home, toml) as server, fl.connect(server.uri) as client:
        options = fl.FlightCallOptions(headers=[client.authenticate_basic_token("ann", ANN)])
        info = client.get_flight_info(query("SELECT 1"), options)
        client.do_get(info.endpoints[0].ticket, options).read_all()  # a result that waits keeps its session

        def is_over() -> bool:
            try:
                return not asked(server, "SELECT 1 FROM system.runtime.sessions OFFSET 1", **as_user("ann", ANN))
            except adbc.Error:  # it took so long that this log-in has ended, too
                return False

        assert eventually(is_over)  # only the session that asks is left
        with pytest.raises(fl.FlightUnauthenticatedError):
            client.get_flight_info(query("SELECT 1"), options)


# --- somebody else's ---------------------------------------------------------------------------------------------


def test_the_cookie_of_another_user(server: Serving) -> None:
    jar = Cookies()
    with fl.connect(server.uri, middleware=[jar]) as client:
        client.get_flight_info(query("SELECT 1"), headers(TOKEN))
        cookie = jar.kept[0].partition(";")[0]
        client.get_flight_info(query("SELECT 1"), headers(TOKEN, cookie))
        with pytest.raises(fl.FlightUnauthorizedError, match="belongs to another user"):
            client.get_flight_info(query("SELECT 1"), headers("plain-token", cookie))
