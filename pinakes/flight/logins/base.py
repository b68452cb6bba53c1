"""What a way to log in is: credentials in, a proof out, which says whose they are for as long as that holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pinakes.core.identity import Identity, local_identity


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a call says of its caller: a user and a password, a token, or nothing. Neither shows in a repr."""

    user: str | None = None
    secret: str | None = None

    def __repr__(self) -> str:
        return f"Credentials({self.user!r})"


class Unreachable(Exception):
    """Nobody can say now whose credentials these are: the identity provider does not answer."""


class Proof(Protocol):
    def identity(self) -> Identity | None:
        """Whom the credentials stand for now; None as soon as they do not any more. May raise `Unreachable`."""
        ...


class Authenticator(Protocol):
    @property
    def is_open(self) -> bool:
        """Whether anybody may call: such a server listens on this machine only."""
        ...

    def identify(self, credentials: Credentials) -> Proof | None:
        """Whose they are; None when nobody's. A `user` of None means that the secret is a token."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """A proof that holds for good."""

    whom: Identity

    def identity(self) -> Identity | None:
        return self.whom


class Anybody:
    """No authentication: whoever calls is the user that runs the server."""

    is_open = True

    def __init__(self) -> None:
        self._proof = Standing(local_identity())

    def identify(self, credentials: Credentials) -> Proof | None:
        return self._proof


class Chain:
    """Several ways to log in: the first that knows the credentials."""

    is_open = False

    def __init__(self, ways: Sequence[Authenticator]) -> None:
        self._ways = tuple(ways)

    def identify(self, credentials: Credentials) -> Proof | None:
        return next((proof for way in self._ways if (proof := way.identify(credentials)) is not None), None)
