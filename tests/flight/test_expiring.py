"""What the server holds for clients: for how long, how much of it, and for which of their connections."""

from __future__ import annotations

import logging
import socket
from dataclasses import dataclass

import pytest

from pinakes.server.handle_registry import HandleRegistry
from pinakes.server.peers import Address, Peers, address_of, established


@dataclass(eq=False)
class Thing:
    name: str
    busy: bool = False
    fails: bool = False
    closed: bool = False
    user: str = "ann"

    def close(self) -> None:
        self.closed = True
        if self.fails:
            raise OSError("the catalog does not answer")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def holding(clock: Clock, most: int = 10) -> HandleRegistry[Thing]:
    return HandleRegistry("thing", 60.0, most, lambda thing: thing.busy, clock)


def test_what_is_busy_is_in_use_until_it_is_not() -> None:
    clock, thing = Clock(), Thing("long", busy=True)
    held = holding(clock)
    held.put(thing)
    clock.now = 100.0
    held.sweep()
    assert not thing.closed
    thing.busy = False
    clock.now = 150.0
    held.sweep()
    assert not thing.closed
    clock.now = 161.0
    held.sweep()
    assert thing.closed


def test_one_that_cannot_be_closed_keeps_no_other_open(caplog: pytest.LogCaptureFixture) -> None:
    clock, things = Clock(), [Thing("first", fails=True), Thing("second")]
    held = holding(clock)
    for thing in things:
        held.put(thing)
    clock.now = 100.0
    with caplog.at_level(logging.ERROR):
        held.sweep()
    assert [thing.closed for thing in things] == [True, True]
    assert "a thing could not be closed" in caplog.text


def test_of_too_many_one_that_is_idle_goes() -> None:
    held, things = holding(Clock(), most=2), [Thing("busy", busy=True), Thing("idle"), Thing("new"), Thing("newer")]
    for thing in things[:3]:
        held.put(thing)
    assert [thing.closed for thing in things] == [False, True, False, False]
    things[2].busy = True
    held.put(things[3])
    assert [thing.closed for thing in things] == [True, True, False, False]


def test_who_holds_most_makes_room() -> None:
    """Else one user could push out what others hold: their sessions, statements, transactions."""
    bob = Thing("bob's", user="bob")
    anns = [Thing("ann's busy", busy=True), Thing("ann's"), Thing("ann's next")]
    held = holding(Clock(), most=3)
    for thing in (bob, *anns):
        held.put(thing)
    assert [thing.closed for thing in (bob, *anns)] == [False, False, True, False]
    held.put(Thing("of a third", user="carol"))
    assert [thing.closed for thing in (bob, *anns)] == [False, False, True, True]


# --- connections ---------------------------------------------------------------------------------------------------


def test_a_port_that_is_used_again_is_no_session() -> None:
    there: dict[Address, str] = {("127.0.0.1", 5000): "1", ("::1", 5001): "2"}
    peers = Peers(lambda: there)
    peers.put("ann", "ipv4:127.0.0.1:5000", b"first")
    peers.put("ann", "ipv6:%5B::1%5D:5001", b"second")
    assert peers.sweep() == []
    there[("127.0.0.1", 5000)] = "3"  # another connection, of another program
    assert peers.sweep() == [b"first"]
    assert peers.find("ann", "ipv4:127.0.0.1:5000") is None
    assert peers.gone({"ipv4:127.0.0.1:5000", "ipv6:%5B::1%5D:5001", "unix:"}) == set()
    del there[("::1", 5001)]
    assert peers.gone({"ipv4:127.0.0.1:5000", "ipv6:%5B::1%5D:5001", "unix:"}) == {"ipv6:%5B::1%5D:5001"}
    assert peers.sweep() == [b"second"]


def test_the_address_of_a_peer() -> None:
    assert address_of("ipv4:192.0.2.1:80") == ("192.0.2.1", 80)
    assert address_of("ipv6:%5Bfe80::1%25eth0%5D:80") == ("fe80::1", 80)
    assert address_of("ipv6:%5B::ffff:192.0.2.1%5D:80") == ("192.0.2.1", 80)


def test_where_nobody_knows_sessions_stay() -> None:
    peers = Peers(lambda: None)
    peers.put("ann", "ipv4:127.0.0.1:5000", b"first")
    assert peers.sweep() == []
    assert peers.find("ann", "ipv4:127.0.0.1:5000") == b"first"
    assert peers.find("bob", "ipv4:127.0.0.1:5000") is None


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_connections_of_this_machine(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family) as listening, socket.socket(family) as client:
        try:
            listening.bind((host, 0))
        except OSError:
            pytest.skip(f"there is no {host} here")
        listening.listen()
        client.connect(listening.getsockname()[:2])
        port = client.getsockname()[1]
        peer = f"ipv4:{host}:{port}" if family == socket.AF_INET else f"ipv6:%5B{host}%5D:{port}"
        accepted, _ = listening.accept()
        with accepted:
            there = established()
            assert there is None or address_of(peer) in there
    there = established()
    assert there is None or address_of(peer) not in there
