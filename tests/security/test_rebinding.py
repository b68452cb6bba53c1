"""A name that has an allowed address when it is checked, and another one when it is connected to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.core.errors import PinakesError
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.engine.session import Session
from tests.engine.support import do
from tests.security.recording import listener
from tests.security.rogue import EVE

NAME, ALLOWED, DENIED = "changes.test", "127.0.0.2", "127.0.0.1"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    policy = Policy(("attach",), (ALLOWED,))
    with open_engine(Config(engine=EngineConfig(data=str(tmp_path))), policy) as engine:
        yield engine.session(EVE)


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The answers that were given for the name: the allowed address in the odd ones."""
    answers: list[str] = []
    real = socket.getaddrinfo

    def changing(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host != NAME:
            return real(host, *args, **kwargs)
        answers.append(DENIED if len(answers) % 2 else ALLOWED)
        return real(answers[-1], *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    return answers


@pytest.mark.parametrize(
    ("location", "options"),
    [
        ("http://{name}:{port}", "TYPE iceberg_rest"),
        ("http://{name}:{port}", "TYPE vgi"),
        ("thrift://{name}:{port}", "TYPE hms"),
        ("postgresql://u@{name}:{port}/d", "TYPE jdbc, CONNECT_TIMEOUT 2"),
        ("mysql://u@{name}:{port}/d", "TYPE jdbc, CONNECT_TIMEOUT 2"),
    ],
)
def test_the_address_that_was_checked_is_connected_to(
    session: Session, lookups: list[str], location: str, options: str
) -> None:
    with listener((ALLOWED, 0)) as allowed, listener((DENIED, allowed.port)) as denied:
        place = location.format(name=NAME, port=allowed.port)
        for _ in range(3):
            with pytest.raises(PinakesError):
                do(session, f"ATTACH '{place}' AS r ({options})")
        assert lookups
        assert allowed.connections > 0
        assert denied.connections == 0
