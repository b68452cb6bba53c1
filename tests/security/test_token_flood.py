"""Tokens that name invented keys must not hold a thread each while a slow issuer is asked."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from pinakes.server.logins import issuer
from pinakes.server.logins.base import Unreachable
from pinakes.server.logins.issuer import WAITING, Issuer
from tests.flight.serving import eventually


def test_only_so_many_calls_wait_for_the_keys_of_an_issuer(monkeypatch: pytest.MonkeyPatch) -> None:
    answered, refused = threading.Event(), []

    def slow(address: str) -> dict[str, Any]:
        assert answered.wait(60)
        return {"issuer": "https://issuer", "jwks_uri": "https://issuer/keys", "keys": []}

    monkeypatch.setattr(issuer, "get_json", slow)
    asked = Issuer("https://issuer", 300.0)

    def call(number: int) -> None:
        try:
            asked.key(f"invented {number}")
        except Unreachable:
            refused.append(number)

    calls = [threading.Thread(target=call, args=(n,), daemon=True) for n in range(WAITING * 3)]
    for thread in calls:
        thread.start()
    assert eventually(lambda: len(refused) == WAITING * 2, 60)
    answered.set()
    for thread in calls:
        thread.join()
