"""The session that speaks to a REST catalog: what the environment says is looked up once for each host."""

from __future__ import annotations

import pytest

from pinakes.providers.rest.http import RestSession


def test_the_environment_is_looked_at_once_for_each_host(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def proxies(url: str, no_proxy: str | None = None) -> dict[str, str]:
        looked.append(url)
        return {"http": "http://proxy"}

    monkeypatch.setattr("requests.sessions.get_environ_proxies", proxies)
    session = RestSession("http://catalog/v1", timeout=1, verify=True)
    settings = [session.merge_environment_settings(f"http://catalog/{n}", {}, None, None, None) for n in "ab"]
    session.merge_environment_settings("http://tokens/x", {}, None, None, None)
    assert [s["proxies"] for s in settings] == [{"http": "http://proxy"}] * 2
    assert settings[0] is not settings[1]
    assert looked == ["http://catalog/a", "http://tokens/x"]
    session.close()
