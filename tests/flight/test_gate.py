"""The gate by itself, with a clock and addresses of the test's own: who waits, for how long, and who does not."""

from __future__ import annotations

import base64
import threading
from typing import NamedTuple

import pyarrow.flight as fl
import pytest

from pinakes.core.identity import Identity
from pinakes.flight.authentication import MOST_PENDING, AuthMiddleware, Caller
from pinakes.server.logins.base import Credentials, FixedProof, Proof, Unreachable
from pinakes.server.logins.throttle import FORGOTTEN, LONGEST, Throttle

HERE, THERE = "ipv4:192.0.2.1:4711", "ipv6:[2001:db8::1]:4711"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Known:
    """Everybody whose password is their name."""

    is_open = False

    def __init__(self) -> None:
        self.asked = 0
        self.is_down = False

    def identify(self, credentials: Credentials) -> Proof | None:
        self.asked += 1
        if self.is_down:
            raise Unreachable
        is_right = credentials.user is not None and credentials.user == credentials.secret
        return FixedProof(Identity(str(credentials.user))) if is_right else None


class Info(NamedTuple):
    method: fl.FlightMethod


class Context(NamedTuple):
    """What Arrow tells of a call."""

    address: str

    def peer(self) -> str:
        return self.address


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def known() -> Known:
    return Known()


@pytest.fixture
def gate(known: Known, clock: Clock) -> AuthMiddleware:
    return AuthMiddleware(known, throttle=Throttle(clock), administrators=["ann"])


def begin(
    gate: AuthMiddleware, authorization: str, method: fl.FlightMethod = fl.FlightMethod.GET_FLIGHT_INFO
) -> Caller:
    return gate.start_call(Info(method), {"authorization": [authorization]})


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def call(gate: AuthMiddleware, address: str, authorization: str) -> Identity:
    caller = begin(gate, authorization)
    gate.admit(caller, Context(address))
    return caller.identity


def failure(gate: AuthMiddleware, address: str, authorization: str) -> str:
    with pytest.raises(fl.FlightUnauthenticatedError) as error:
        call(gate, address, authorization)
    return str(error.value)


def test_each_failure_costs_more_than_the_one_before(gate: AuthMiddleware, known: Known, clock: Clock) -> None:
    waits = []
    for _ in range(16):
        while "too many" in failure(gate, HERE, basic("bob", "guess")):
            clock.now += 0.5
            waits[-1] += 0.5
        waits.append(0.0)
    assert waits[:3] == [0.0, 0.0, 0.0]
    assert waits[3:13] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, LONGEST]
    assert known.asked == 16


def test_while_one_waits_nobody_looks_at_the_password(gate: AuthMiddleware, known: Known) -> None:
    for _ in range(4):
        failure(gate, HERE, basic("bob", "guess"))
    asked = known.asked
    assert "try again in 1 seconds" in failure(gate, HERE, basic("bob", "bob"))
    assert known.asked == asked


def test_the_user_comes_in_from_elsewhere_and_others_from_here(gate: AuthMiddleware) -> None:
    for _ in range(10):
        failure(gate, HERE, basic("bob", "guess"))
    assert call(gate, THERE, basic("bob", "bob")).user == "bob"
    assert call(gate, HERE, basic("ann", "ann")).user == "ann"
    assert "too many" in failure(gate, HERE, basic("bob", "bob"))


def test_who_succeeds_begins_again_and_failures_are_forgotten(gate: AuthMiddleware, clock: Clock) -> None:
    for _ in range(3):
        failure(gate, HERE, basic("bob", "guess"))
    assert call(gate, HERE, basic("bob", "bob")).user == "bob"
    for _ in range(4):
        assert "too many" not in failure(gate, HERE, basic("bob", "guess"))
    clock.now += FORGOTTEN + 1
    for _ in range(4):
        assert "too many" not in failure(gate, HERE, basic("bob", "guess"))


def test_many_guesses_at_once_are_slowed_down_too(gate: AuthMiddleware, known: Known) -> None:
    guessing = [
        threading.Thread(target=failure, args=(gate, HERE, basic("bob", f"guess {n}")), daemon=True) for n in range(50)
    ]
    for thread in guessing:
        thread.start()
    for thread in guessing:
        thread.join()
    assert known.asked < 10


def test_a_log_in_whose_address_nobody_tells(gate: AuthMiddleware, known: Known) -> None:
    """By the call that clients log in with. Under attack it is answered, and stands for nobody until its first call."""
    handshake = fl.FlightMethod.HANDSHAKE
    for _ in range(4):
        with pytest.raises(fl.FlightUnauthenticatedError):
            begin(gate, basic("bob", "guess"), handshake)
    asked = known.asked
    right, wrong = begin(gate, basic("bob", "bob"), handshake), begin(gate, basic("bob", "guess"), handshake)
    assert known.asked == asked
    assert not right.is_known()
    token, guess = (caller.sending_headers()["authorization"] for caller in (right, wrong))
    assert call(gate, THERE, token).user == "bob"
    assert call(gate, HERE, token).user == "bob"
    assert "invalid credentials" in failure(gate, HERE, guess)
    assert "invalid credentials" in failure(gate, HERE, guess)
    assert known.asked == asked + 3  # the last as a token, which it is not any more


def test_a_token_that_was_proved_is_not_pushed_out_by_strangers(gate: AuthMiddleware) -> None:
    caller = begin(gate, basic("bob", "bob"), fl.FlightMethod.HANDSHAKE)
    token = caller.sending_headers()["authorization"]
    for n in range(MOST_PENDING * 2):
        begin(gate, basic(f"stranger {n}", "x"))
    assert call(gate, HERE, token).user == "bob"


def test_a_provider_that_is_down_is_no_failure_of_the_user(gate: AuthMiddleware, known: Known) -> None:
    known.is_down = True
    for _ in range(6):
        with pytest.raises(fl.FlightUnavailableError, match="identity provider is unavailable"):
            call(gate, HERE, basic("bob", "bob"))
    known.is_down = False
    assert call(gate, HERE, basic("bob", "bob")).user == "bob"


def test_administrators_are_named_by_the_configuration(gate: AuthMiddleware) -> None:
    assert call(gate, HERE, basic("ann", "ann")).is_admin
    assert not call(gate, HERE, basic("bob", "bob")).is_admin


def test_nothing_of_the_secret_shows(gate: AuthMiddleware) -> None:
    caller = begin(gate, basic("bob", "hunter2"))
    assert caller.login is not None
    assert "hunter2" not in repr(caller.login)
