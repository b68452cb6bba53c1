"""The actions of a remote shell, by hand: what they refuse, and what must not reach another statement or session."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow.flight as fl
import pytest

from pinakes.client.address import Address
from pinakes.client.login import Login
from pinakes.client.shell_backend import RemoteShellBackend
from pinakes.client.wire import Wire
from pinakes.core.errors import (
    ExecutionError,
    InvalidArgument,
    NamespaceNotFound,
    PinakesError,
    QueryCanceled,
    SessionLost,
)
from tests.flight.serving import Serving, eventually

ENDLESS = "select sum(value % 7) from range(100000000000)"


@pytest.fixture
def wire(server: Serving) -> Iterator[Wire]:
    opened = Wire(Address.of(server.uri), Login())
    yield opened
    opened.close(5)


@pytest.fixture
def seat(server: Serving) -> Iterator[RemoteShellBackend]:
    opened = RemoteShellBackend(Address.of(server.uri), Login())
    yield opened
    opened.close()


def rows(wire: Wire, answer: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire.rows(base64.b64decode(answer["ticket"])).read_all().to_pylist()
    return found


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("PinakesRun", {}),
        ("PinakesRun", {"session": "x", "id": "1", "sql": "select 1"}),
        ("PinakesRun", {"session": "x", "id": 1, "sql": None}),
        ("PinakesCancel", {"id": None}),
        ("PinakesProgress", {}),
        ("PinakesLook", {}),
        ("PinakesLook", {"what": "nothing"}),
        ("PinakesLook", {"what": "levels", "parts": []}),
        ("PinakesLook", {"what": "columns", "parts": [1, 2]}),
        ("PinakesLook", {"what": "files"}),
    ],
)
def test_what_is_no_question(wire: Wire, action: str, body: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        wire.request(action, body)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[1]", b"[" * 100_000, b"null"])
def test_what_is_no_json(server: Serving, body: bytes) -> None:
    with fl.connect(server.uri) as client:
        (answer,) = client.do_action(fl.Action("PinakesRun", body))
        assert json.loads(answer.body.to_pybytes())["error"]["code"] == "INVALID_ARGUMENT"


def test_a_statement_for_another_session_is_not_run(wire: Wire) -> None:
    with pytest.raises(SessionLost):
        wire.request("PinakesRun", {"session": "of old", "id": 1, "sql": "create table not_made (a bigint)"})
    mine = wire.request("PinakesSession")["id"]
    answer = wire.request("PinakesRun", {"session": mine, "id": 2, "sql": "show tables like 'not_made'"})
    assert rows(wire, answer) == []


def test_a_cancel_that_comes_late_does_not_stop_the_next_statement(wire: Wire) -> None:
    mine = wire.request("PinakesSession")["id"]
    wire.request("PinakesRun", {"session": mine, "id": 1, "sql": "set batch_size = 100"})
    answer = wire.request("PinakesRun", {"session": mine, "id": 2, "sql": "select value from range(3)"})
    assert wire.request("PinakesCancel", {"id": 1}) is False
    assert len(rows(wire, answer)) == 3
    assert wire.request("PinakesCancel", {"id": 2}) is False
    assert wire.request("PinakesProgress", {"id": 2}) is None


def test_a_session_that_was_closed_is_reported_and_the_next_statement_works(seat: RemoteShellBackend) -> None:
    for _ in seat.run("use information_schema"):
        pass
    seat._wire._client.do_action(fl.Action("CloseSession", b""))
    with pytest.raises(SessionLost, match="The statement was not run"):
        seat.run("select 1")
    assert seat.position.place == "lake.default"
    assert seat.run("select 1 as a").read_all().to_pylist() == [{"a": 1}]


def test_a_token_that_the_server_forgot_is_requested_again(seat: RemoteShellBackend) -> None:
    seat._wire._headers._given = "Bearer of old"
    assert seat.run("select 1 as a").read_all().num_rows == 1


def test_progress_and_cancel(seat: RemoteShellBackend) -> None:
    seen: list[PinakesError] = []

    def run() -> None:
        try:
            seat.run(ENDLESS).read_all()
        except PinakesError as error:
            seen.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert eventually(lambda: (seat.working() or ("",))[0] == "RUNNING")
    seat.cancel()
    thread.join(60)
    assert [type(error) for error in seen] == [QueryCanceled]
    assert seat.working() is None


def test_rows_that_are_not_read_are_stopped_on_the_server(server: Serving, seat: RemoteShellBackend) -> None:
    result = seat.run("select value from range(100000000000)")
    next(iter(result))
    result.close()
    before = server.cpu()

    def is_idle() -> bool:
        nonlocal before
        last, before = before, server.cpu()
        return before - last < 0.02

    assert eventually(is_idle)


def test_an_error_among_the_rows_is_whole_and_aborts_the_transaction(seat: RemoteShellBackend) -> None:
    seat.run("begin")
    assert seat.position.transaction == "open"
    with pytest.raises(ExecutionError, match="division by zero"):
        seat.run("select 1 / (value - 3) from range(10)").read_all()
    assert seat.position.mark == "!"
    seat.run("rollback")
    assert seat.position.mark == ""


def test_a_long_message_among_the_rows_fits_the_headers(seat: RemoteShellBackend) -> None:
    with pytest.raises(PinakesError) as error:
        seat.run(f"select cast('{'ü' * 20_000}' || value as bigint) from range(3)").read_all()
    assert len(error.value.message) < 2_000
    assert "ü" in error.value.message


def test_looking_at_what_is_not_there_is_the_same_error(seat: RemoteShellBackend) -> None:
    from pinakes.core.names import Name, Part

    with pytest.raises(NamespaceNotFound, match="nowhere"):
        seat.objects(Name((Part("lake"), Part("nowhere"))), None)
    assert seat.position.mark == ""


def test_completion_in_a_transaction_does_not_touch_it(seat: RemoteShellBackend) -> None:
    """A listing that fails is no statement of the transaction: were it one, the transaction would be aborted."""
    seat.run("begin")
    completer = seat.completer()
    completer.complete("select * from lake.nowhere.", 27)
    completer.complete("select x. from nowhere x", 9)
    completer.complete("select * from 'nowhere/", 23)
    assert completer.settle(60)
    assert seat.run("select 1 as a").read_all().num_rows == 1
    assert seat.position.transaction == "open"
    seat.run("rollback")
