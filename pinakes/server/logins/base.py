"""Interfaces of a login method: it exchanges credentials for a proof, which returns the identity while it is valid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pinakes.core.identity import Identity, local_identity


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of a call: user and password, a token, or nothing. Secrets do not appear in a repr."""

    user: str | None = None
    secret: str | None = None

    def __repr__(self) -> str:
        return f"Credentials({self.user!r})"


class Unreachable(Exception):
    """The identity provider does not respond, so the credentials can't be checked."""


class Proof(Protocol):
    def identity(self) -> Identity | None:
        """Returns the identity of the credentials; None once they are invalid. May raise `Unreachable`."""
        ...


class Authenticator(Protocol):
    @property
    def is_open(self) -> bool:
        """Whether every caller is accepted: such a server listens on loopback only."""
        ...

    def identify(self, credentials: Credentials) -> Proof | None:
        """Returns the proof for credentials; None if they are invalid. A `user` of None means that the secret is a
        token."""
        ...


@dataclass(frozen=True, slots=True)
class FixedProof:
    """A proof that does not expire."""

    whom: Identity

    def identity(self) -> Identity | None:
        return self.whom


class Anybody:
    """No authentication: every caller is the user that runs the server."""

    is_open = True

    def __init__(self) -> None:
        self._proof = FixedProof(local_identity())

    def identify(self, credentials: Credentials) -> Proof | None:
        return self._proof


class Chain:
    """Several login methods; the first that accepts the credentials is used."""

    is_open = False

    def __init__(self, ways: Sequence[Authenticator]) -> None:
        self._ways = tuple(ways)

    def identify(self, credentials: Credentials) -> Proof | None:
        return next((proof for way in self._ways if (proof := way.identify(credentials)) is not None), None)
