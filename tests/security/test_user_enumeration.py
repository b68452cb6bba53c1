"""The time of a refused login must not show whether the user exists: the same argon2 work is done for every name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.server.logins import hashes
from pinakes.server.logins.base import Authenticator, Credentials
from pinakes.server.logins.hashes import hashed_token
from pinakes.server.logins.users import Users, UsersFile

CHEAP = hashes.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)


class Counting:
    """Counts checks, and records the cost parameters of each."""

    def __init__(self) -> None:
        self._hasher = hashes._hasher
        self.costs: list[str] = []

    def hash(self, password: str) -> str:
        return self._hasher.hash(password)

    def verify(self, stored: str, given: str) -> bool:
        self.costs.append(stored.split("$")[3])
        return self._hasher.verify(stored, given)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    found = Counting()
    monkeypatch.setattr(hashes, "_hasher", found)
    return found


def work(counting: Counting, users: Authenticator, name: str, password: str = "wrong") -> list[str]:
    counting.costs.clear()
    users.identify(Credentials(name, password))
    return list(counting.costs)


@pytest.mark.parametrize(
    "stored", ["plain", CHEAP.hash("hunter2"), hashed_token("hunter2")], ids=["plain", "argon2", "sha256"]
)
def test_a_known_and_an_unknown_user_cost_the_same(counting: Counting, stored: str) -> None:
    users = Users({"ann": stored}, {})
    known, unknown = work(counting, users, "ann"), work(counting, users, "nobody")
    assert known == unknown
    assert len(known) == 1


def test_a_plain_password_is_still_right(counting: Counting) -> None:
    users = Users({"ann": "pässword", "bob": CHEAP.hash("hunter2"), "eve": hashed_token("x")}, {})
    for name, password in (("ann", "pässword"), ("bob", "hunter2"), ("eve", "x")):
        assert users.identify(Credentials(name, password)) is not None
        assert users.identify(Credentials(name, password + "x")) is None
    assert work(counting, users, "ann", "pässword") == work(counting, users, "bob", "hunter2")


def test_the_cost_parameters_of_the_stored_hashes_are_used(counting: Counting) -> None:
    users = Users({"ann": CHEAP.hash("hunter2")}, {})
    assert work(counting, users, "ann") == work(counting, users, "nobody") == ["m=1024,t=1,p=1"]


def test_users_with_two_passwords_do_not_stand_out(counting: Counting, tmp_path: Path) -> None:
    file = tmp_path / "users"
    lines = [f"{name}:{CHEAP.hash(name)}\n" for name in ("ann", "ann", "bob")]
    file.write_text("".join(lines) + f"bot:{hashed_token('t')}\n")
    users = UsersFile(file)
    found = {name: len(work(counting, users, name)) for name in ("ann", "bob", "bot", "nobody")}
    assert found == {"ann": 2, "bob": 2, "bot": 2, "nobody": 2}
