"""Faults of the server that nobody foresaw: who asked is told that there was one, and its log what it was."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pyarrow.flight as fl
import pytest

from pinakes.core.errors import InternalError
from pinakes.core.identity import Identity, local_identity
from pinakes.flight.actions.shell import answering
from pinakes.flight.errors import told
from pinakes.flight.wire_types import Client

SAID = "no postgresql://joe:hunter2@db in /srv/lake/catalog.db"


def caller(identity: Identity, kind: str = "") -> Any:
    return SimpleNamespace(identity=identity, client=Client.of("", kind))


def fails(kind: type[Exception], who: Any) -> str:
    with pytest.raises(fl.FlightError) as error, told(who):
        raise kind(SAID)
    return f"{error.value} {error.value.extra_info!r}"


@pytest.mark.parametrize("kind", [RuntimeError, InternalError, KeyError])
@pytest.mark.parametrize("client", ["", "shell"])
def test_a_fault_is_logged_and_only_administrators_are_told_it(
    caplog: pytest.LogCaptureFixture, kind: type[Exception], client: str
) -> None:
    said = fails(kind, caller(Identity("bob"), client))
    assert "INTERNAL_ERROR" in said
    assert "its log tells of" in said
    for never in ("hunter2", "joe", "catalog.db", kind.__name__ if kind is not InternalError else "srv"):
        assert never not in said
    assert "/srv/lake" in fails(kind, caller(local_identity(), client))
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert "in fails" in caplog.text, "where it happened is in the log"


def test_so_it_is_in_the_actions_of_a_shell(caplog: pytest.LogCaptureFixture) -> None:
    def act(body: object, ask: object) -> object:
        raise InternalError(SAID)

    ask: Any = SimpleNamespace(caller=caller(Identity("bob"), "shell"))
    assert b"hunter2" not in answering(act)(b"{}", ask)
    assert "a call failed by a mistake of ours" in caplog.text
