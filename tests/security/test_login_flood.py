"""Unauthenticated logins under random names must not delay or lock out valid logins, and cost little work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl
import pytest

from pinakes.core.errors import ConfigError
from pinakes.flight.authentication import AuthMiddleware
from pinakes.server.logins import queue
from pinakes.server.logins.base import Credentials, Proof
from pinakes.server.logins.queue import LoginQueue, Origin, QueueFull
from pinakes.server.logins.throttle import ADDRESS_FREE, ADDRESS_PAUSE, Throttle, network
from pinakes.server.logins.users import Users
from tests.flight.identities import as_user, configured, whoami, with_token
from tests.flight.serving import eventually
from tests.flight.test_gate import HERE, THERE, Clock, Known, basic, begin, call, failure

HANDSHAKE = fl.FlightMethod.HANDSHAKE
LONG = 20.0


class Stalled(Known):
    """Checks of wrong passwords don't end before the test lets them."""

    def __init__(self) -> None:
        super().__init__()
        self.end = threading.Event()
        self.order: list[str] = []

    def identify(self, credentials: Credentials) -> Proof | None:
        if credentials.user is not None:
            self.order.append(credentials.user)
            if credentials.user != credentials.secret:
                assert self.end.wait(LONG)
        return super().identify(credentials)


@pytest.fixture
def stalled() -> Iterator[Stalled]:
    found = Stalled()
    yield found
    found.end.set()


def attempt(gate: AuthMiddleware, address: str, name: str) -> threading.Thread:
    def run() -> None:
        with pytest.raises(fl.FlightError):
            call(gate, address, basic(name, "guess"))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def on_remote_engine(number: int) -> str:
    return f"ipv4:198.51.100.{number}:4711"


def settled(gate: AuthMiddleware, known: Known, running: int, waiting: int) -> bool:
    return eventually(lambda: gate._queue.waiting == waiting and len(getattr(known, "order", ())) >= running, LONG)


# --- one address ---------------------------------------------------------------------------------------------------


def test_random_names_from_one_address_are_throttled_as_that_address() -> None:
    clock, known = Clock(), Known()
    gate = AuthMiddleware(known, throttle=Throttle(clock))
    for n in range(120):
        failure(gate, HERE, basic(f"random {n}", "x"))
    assert known.asked == ADDRESS_FREE
    assert "too many logins have failed from this address" in failure(gate, HERE, basic("random", "x"))
    assert call(gate, THERE, basic("bob", "bob")).user == "bob"
    clock.now += ADDRESS_PAUSE
    assert call(gate, HERE, basic("bob", "bob")).user == "bob"


def test_a_user_who_has_logged_in_from_an_address_does_not_wait_for_others_there() -> None:
    known = Known()
    gate = AuthMiddleware(known, throttle=Throttle(Clock()))
    call(gate, HERE, basic("bob", "bob"))
    token = begin(gate, basic("ann", "ann"), HANDSHAKE).sending_headers()["authorization"]
    call(gate, HERE, token)  # her handshake had no address, and this call has
    for n in range(120):
        failure(gate, HERE, basic(f"random {n}", "x"))
    assert call(gate, HERE, basic("bob", "bob")).user == "bob"
    assert call(gate, HERE, basic("ann", "ann")).user == "ann"


def test_a_known_address_does_not_allow_more_guesses_of_the_user() -> None:
    gate = AuthMiddleware(Known(), throttle=Throttle(Clock()))
    call(gate, HERE, basic("bob", "bob"))
    for _ in range(4):
        failure(gate, HERE, basic("bob", "guess"))
    assert "logins of this user have failed" in failure(gate, HERE, basic("bob", "bob"))


def test_an_ipv6_network_counts_as_one_address() -> None:
    known = Known()
    gate = AuthMiddleware(known, throttle=Throttle(Clock()))
    for n in range(60):
        failure(gate, f"ipv6:%5B2001:db8::{n:x}%5D:4711", basic(f"random {n}", "x"))
    assert known.asked == ADDRESS_FREE
    assert network("192.0.2.7") == "192.0.2.7"


def test_random_names_do_not_clear_the_failures_of_a_user() -> None:
    gate = AuthMiddleware(Known(), throttle=Throttle(Clock()))
    for _ in range(4):
        failure(gate, HERE, basic("bob", "guess"))
    for n in range(500):
        failure(gate, HERE, basic(f"random {n}", "x"))
    assert "logins of this user have failed" in failure(gate, HERE, basic("bob", "bob"))


# --- the queue -----------------------------------------------------------------------------------------------------


def test_a_flood_from_one_address_leaves_slots_to_others(stalled: Stalled) -> None:
    gate = AuthMiddleware(stalled, throttle=Throttle(Clock()))
    attackers = [attempt(gate, HERE, f"random {n}") for n in range(120)]
    assert settled(gate, stalled, queue.PER_ORIGIN, 120 - queue.PER_ORIGIN)
    assert call(gate, THERE, basic("bob", "bob")).user == "bob"  # while all of the attacker's checks go on
    stalled.end.set()
    for thread in attackers:
        thread.join()
    assert stalled.asked <= ADDRESS_FREE + queue.PER_ORIGIN


def test_addresses_take_turns() -> None:
    """Of four who wait, two from the address that floods, one from each of two others: the others are not last."""
    logins, order = LoginQueue(), list[str]()
    flood, other, valid = (Origin(address) for address in ("192.0.2.1", "198.51.100.1", "203.0.113.1"))

    def enter(origin: Origin, name: str) -> threading.Thread:
        def run() -> None:
            with logins.slot(origin):
                order.append(name)
                turns.get()

        before = logins.waiting
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert eventually(lambda: logins.waiting > before or name in order)
        return thread

    turns = SimpleQueue[None]()
    slots = queue.AT_ONCE - queue.RESERVED
    threads = [enter(Origin(f"198.51.100.{10 + n}"), f"first {n}") for n in range(slots)]
    threads += [enter(flood, "flood 1"), enter(flood, "flood 2"), enter(other, "other"), enter(valid, "valid")]
    for ended in range(1, len(threads) + 1):
        turns.put(None)
        assert eventually(lambda ended=ended: len(order) >= min(slots + ended, len(threads)))  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert order[slots:] == ["flood 1", "other", "valid", "flood 2"]


def test_a_proved_user_has_a_slot_while_strangers_from_everywhere_take_theirs(stalled: Stalled) -> None:
    gate = AuthMiddleware(stalled, throttle=Throttle(Clock()))
    call(gate, THERE, basic("bob", "bob"))
    attackers = [attempt(gate, on_remote_engine(n), "x") for n in range(50)]
    strangers = queue.AT_ONCE - queue.RESERVED
    assert settled(gate, stalled, strangers + 1, 50 - strangers)
    assert call(gate, THERE, basic("bob", "bob")).user == "bob"
    stalled.end.set()
    for thread in attackers:
        thread.join()


def test_a_full_queue_refuses_the_origin_that_fills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "WAITING", 5)
    logins, refused, done = LoginQueue(), [], threading.Event()

    def enter(origin: Origin) -> None:
        try:
            with logins.slot(origin):
                assert done.wait(LONG)
        except QueueFull:
            refused.append(origin)

    def start(origin: Origin) -> threading.Thread:
        thread = threading.Thread(target=enter, args=(origin,), daemon=True)
        thread.start()
        return thread

    flood, others = Origin("a"), [Origin("b"), Origin("c")]
    threads = [start(flood) for _ in range(7)]
    assert eventually(lambda: logins.waiting == 5, LONG)
    threads += [start(other) for other in others]
    assert eventually(lambda: len(refused) == 1, LONG)  # b took the third slot, c pushed out one of the flood
    done.set()
    for thread in threads:
        thread.join()
    assert refused == [flood]


def test_a_token_and_a_handshake_never_wait(stalled: Stalled) -> None:
    gate = AuthMiddleware(stalled, throttle=Throttle(Clock()))
    token = begin(gate, basic("bob", "bob"), HANDSHAKE).sending_headers()["authorization"]
    attackers = [attempt(gate, on_remote_engine(n), "x") for n in range(50)]
    assert settled(gate, stalled, 4, 47)
    assert call(gate, HERE, token).user == "bob"
    later = begin(gate, basic("ann", "ann"), HANDSHAKE)  # no slot is free: checked with its first call
    assert not later.is_known()
    stalled.end.set()
    for thread in attackers:
        thread.join()
    assert call(gate, THERE, later.sending_headers()["authorization"]).user == "ann"


def test_handshakes_under_random_names_cost_no_more_than_one_address() -> None:
    known = Known()
    gate = AuthMiddleware(known, throttle=Throttle(Clock()))
    for n in range(120):
        try:
            begin(gate, basic(f"random {n}", "x"), HANDSHAKE)
        except fl.FlightUnauthenticatedError:
            continue
    assert known.asked == ADDRESS_FREE
    valid = begin(gate, basic("bob", "bob"), HANDSHAKE)
    assert call(gate, HERE, valid.sending_headers()["authorization"]).user == "bob"


@pytest.mark.parametrize(("user", "password"), [("u" * 300, "x"), ("bob", "x" * 2000)])
def test_oversized_credentials_are_refused_unseen(user: str, password: str) -> None:
    known = Known()
    gate = AuthMiddleware(known, throttle=Throttle(Clock()))
    with pytest.raises(fl.FlightUnauthenticatedError):
        begin(gate, basic(user, password), HANDSHAKE)
    assert known.asked == 0


def test_a_token_is_not_hashed_slowly() -> None:
    with pytest.raises(ConfigError, match=r"server\.tokens\.bot is a hash of argon2"):
        Users({}, {"bot": "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA"})


# --- a real server -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_flood_on_a_real_server_locks_out_no_user(tmp_path: Path) -> None:
    toml = '[server.users]\nann = "secret-ann"\n[server.tokens]\nbot = "secret-bot-token"\n'
    with configured(tmp_path, toml) as server:
        assert whoami(server, **as_user("ann", "secret-ann")) == "ann"

        def guess(number: int) -> Callable[[], None]:
            def run() -> None:
                with pytest.raises(adbc.Error):
                    whoami(server, **as_user(f"random {number}", "x"))

            return run

        attackers = [threading.Thread(target=guess(n), daemon=True) for n in range(40)]
        for thread in attackers:
            thread.start()
        assert whoami(server, **as_user("ann", "secret-ann")) == "ann"
        assert whoami(server, **with_token("secret-bot-token")) == "bot"
        for thread in attackers:
            thread.join()
        assert whoami(server, **as_user("ann", "secret-ann")) == "ann"
        # Checked before they were refused: those of handshakes, those of the address, and some that ran then.
        assert server.output.count("was refused") <= 2 * (ADDRESS_FREE + queue.AT_ONCE)
