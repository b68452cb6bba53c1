"""Unexpected faults of the server: the client gets an error, and the log has its cause."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pyarrow.flight as fl
import pytest

from pinakes.core.errors import InternalError
from pinakes.core.identity import Identity, local_identity
from pinakes.flight.actions.shell import answering
from pinakes.flight.errors import error_boundary
from pinakes.flight.wire_types import Client

SAID = "no postgresql://joe:hunter2@db in /srv/lake/catalog.db"


def caller(identity: Identity, kind: str = "") -> Any:
    return SimpleNamespace(identity=identity, client=Client.of("", kind))


def fails(kind: type[Exception], who: Any) -> str:
    with pytest.raises(fl.FlightError) as error, error_boundary(who):
        raise kind(SAID)
    return f"{error.value} {error.value.extra_info!r}"


@pytest.mark.parametrize("kind", [RuntimeError, InternalError, KeyError])
@pytest.mark.parametrize("client", ["", "shell"])
def test_a_fault_is_logged_and_only_administrators_see_it(
    caplog: pytest.LogCaptureFixture, kind: type[Exception], client: str
) -> None:
    said = fails(kind, caller(Identity("bob"), client))
    assert "INTERNAL_ERROR" in said
    assert "its log has the details" in said
    for never in ("hunter2", "joe", "catalog.db", kind.__name__ if kind is not InternalError else "srv"):
        assert never not in said
    assert "/srv/lake" in fails(kind, caller(local_identity(), client))
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert "in fails" in caplog.text, "where it happened is in the log"


def test_so_it_is_in_the_actions_of_a_shell(caplog: pytest.LogCaptureFixture) -> None:
    def act(body: object, ask: object) -> object:
        raise InternalError(SAID)

    request: Any = SimpleNamespace(identity=Identity("bob"))
    assert b"hunter2" not in answering(act)(b"{}", request)
    assert "a call failed because of an internal error" in caplog.text
