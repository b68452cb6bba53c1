"""Who calls: the gate that lets a call in, or not. The ways to log in are in `logins/`.

A token says at once whose it is, and a call without credentials is turned away before anything is looked at. A user
with a password (Basic) is answered with a token that stands for them from then on (Bearer), as the clients of Flight
expect. Failed log-ins slow down the user at the address that they come from (`logins/throttle.py`). Arrow tells the
address only once a call has begun, and never of the call by which clients log in: so a log-in there is looked at
straight away only while nobody tries out passwords of that user. Else the token that it is answered with stands for
nobody until its first call, whose address is known.
"""

from __future__ import annotations

import base64
import binascii
import logging
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.cookies import CookieError, SimpleCookie
from typing import Any

import pyarrow.flight as fl

from pinakes.core.errors import PinakesError
from pinakes.core.identity import ADMIN, Identity
from pinakes.flight.expiring import Expiring
from pinakes.flight.logins.base import Authenticator, Credentials, Proof, Unreachable
from pinakes.flight.logins.throttle import Throttle
from pinakes.flight.wire_types import Client

log = logging.getLogger(__name__)

COOKIE = "arrow_flight_session_id"
MOST_TOKENS = 10_000
MOST_STRANGERS, PATIENCE = 1_000, 60.0
"""Tokens that stand for nobody yet, and the seconds that they are kept."""
AT_ONCE = 4
"""Passwords that are looked at at the same time: each takes 64 MB and a processor."""
QUEUE = 10.0
"""Seconds that a log-in waits for others."""
ANYWHERE = ""
"""Stands for an address that nobody tells."""


class MustWait(fl.FlightUnauthenticatedError):  # type: ignore[misc]
    """Too many log-ins have failed to look at another one now."""


@dataclass(eq=False, slots=True)
class Login:
    """What a token of ours stands for: a user who has proved to be one, or credentials that nobody looked at yet."""

    credentials: Credentials
    token: bytes = field(default_factory=lambda: secrets.token_urlsafe(24).encode())
    proof: Proof | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def user(self) -> str:
        return ""  # whoever has the token is its owner

    def close(self) -> None:
        """Nothing is held."""


class Caller(fl.ServerMiddleware):  # type: ignore[misc]
    """Who makes one call, and with what. `identity` is known once the gate has admitted the call."""

    def __init__(self, client: Client, cookie: bytes | None, login: Login | None, token: str | None) -> None:
        self.client, self.cookie, self.login, self._token = client, cookie, login, token
        self._identity: Identity | None = None

    @property
    def identity(self) -> Identity:
        if self._identity is None:
            raise _unknown()
        return self._identity

    def is_known(self) -> bool:
        return self._identity is not None

    def prove(self, identity: Identity) -> None:
        self._identity = identity

    def sending_headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"} if self._token else {}


class Gate(fl.ServerMiddlewareFactory):  # type: ignore[misc]
    """Lets a call in, or not."""

    def __init__(
        self,
        authenticator: Authenticator,
        *,
        administrators: Collection[str] = (),
        certificates: bool = False,
        idle: float = 24 * 3600.0,
        age: float = 0.0,
        throttle: Throttle | None = None,
    ) -> None:
        self._authenticator = authenticator
        self._administrators = frozenset(administrators)
        self._certificates = certificates
        """Whether the client's certificate says who calls."""
        self._logins: Expiring[Login] = Expiring("token", idle, MOST_TOKENS, lifetime=age)
        self._strangers: Expiring[Login] = Expiring("token", PATIENCE, MOST_STRANGERS)
        """Kept apart, so that many of them push out nobody who has logged in."""
        self._throttle = throttle or Throttle()
        self._slots = threading.BoundedSemaphore(AT_ONCE)

    # --- a call begins --------------------------------------------------------------------------------------------

    def start_call(self, info: Any, headers: Mapping[str, list[Any]]) -> Caller:
        with _refusing():
            return self._started(info, {name.lower(): _text(values) for name, values in headers.items() if values})

    def _started(self, info: Any, given: Mapping[str, str]) -> Caller:
        credentials = _credentials(given.get("authorization", ""))
        login = self._login(credentials)
        token = login.token.decode() if login is not None and credentials.user is not None else None
        client = Client.of(given.get("user-agent", ""), given.get("x-pinakes-client", ""))
        caller = Caller(client, _cookie(given.get("cookie", "")), login, token)
        if self._certificates:
            return caller
        if login is None:
            proof = self._authenticator.identify(credentials)
            caller.prove(self._stands(proof))
        elif login.proof is not None:
            caller.prove(self._stands(login.proof))
        elif info.method == fl.FlightMethod.HANDSHAKE:
            with suppress(MustWait):
                caller.prove(self._look_at(login, ANYWHERE))
        return caller

    def _login(self, credentials: Credentials) -> Login | None:
        """What a token of ours stands for; a new one for a user with a password."""
        if credentials.secret is None:
            return None
        if credentials.user is None:
            token = credentials.secret.encode()
            return self._logins.find(token, "") or self._strangers.find(token, "")
        login = Login(credentials)
        self._strangers.put(login, login.token)
        return login

    # --- a call goes on: now it is known where it comes from ------------------------------------------------------

    def admit(self, caller: Caller, context: fl.ServerCallContext) -> None:
        """Raise unless it is known who calls. Every method of the server asks this first."""
        with _refusing():
            if self._certificates:
                caller.prove(self._certified(context))
            elif not caller.is_known():
                if caller.login is None:
                    raise _unknown()
                caller.prove(self._look_at(caller.login, _address(context.peer())))

    def _certified(self, context: fl.ServerCallContext) -> Identity:
        user = context.peer_identity().decode("utf-8", "replace")
        if not user.strip() or not user.isprintable():
            raise _unknown()
        return self._with_roles(Identity(user))

    def _look_at(self, login: Login, address: str) -> Identity:
        """Hold a user and a password against what is known: once for each login, and then the password is forgotten."""
        with login.lock:
            if login.proof is None and login.credentials.secret is not None:
                by = self._authenticator
                login.proof = self._proved(login.credentials, address)
                login.credentials = Credentials(login.credentials.user)
                self._strangers.take(login.token, "")
                if login.proof is not None:
                    self._logins.put(login, login.token)
                if by is not self._authenticator:  # it was replaced meanwhile, and may have ended this log-in unseen
                    self._logins.take(login.token, "")
                    login.proof = None
            return self._stands(login.proof)

    def _proved(self, credentials: Credentials, address: str) -> Proof | None:
        key = (credentials.user or "", address)
        with self._slot():
            wait = self._throttle.wait(key)
            if wait:
                raise MustWait(
                    f"UNAUTHENTICATED: too many log-ins of this user have failed from this address: try again in "
                    f"{wait:.0f} seconds"
                )
            proof = self._authenticator.identify(credentials)
            if proof is None:
                log.warning("a log-in of %r from %s was refused", credentials.user, address or "somewhere")
                self._throttle.failed(key)
            else:
                self._throttle.succeeded(key)
            return proof

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Many attempts at once are looked at one after the other, and so are slowed down, too."""
        if not self._slots.acquire(timeout=QUEUE):
            raise fl.FlightUnavailableError("UNAVAILABLE: too many log in at this moment: try again")
        try:
            yield
        finally:
            self._slots.release()

    def _stands(self, proof: Proof | None) -> Identity:
        found = None if proof is None else proof.identity()
        if found is None:
            raise _unknown()
        return self._with_roles(found)

    def _with_roles(self, identity: Identity) -> Identity:
        is_admin = identity.user in self._administrators
        return replace(identity, roles=identity.roles | {ADMIN}) if is_admin else identity

    def admit_by(
        self, authenticator: Authenticator, administrators: Collection[str], changed: Collection[str] | None
    ) -> None:
        """Another tells from now on who calls. What was given out to these users, or to all, for a password that may
        not be theirs any more ends; the others notice nothing."""
        self._authenticator, self._administrators = authenticator, frozenset(administrators)
        self._logins.remove_all(lambda login: changed is None or login.credentials.user in changed)

    def sweep(self) -> None:
        self._logins.sweep()
        self._strangers.sweep()


class Handshake(fl.ServerAuthHandler):  # type: ignore[misc]
    """The call by which clients log in. The gate has let it in already and answers with a token."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """Nothing is left to do."""

    def is_valid(self, token: bytes) -> bytes:
        return b""


def _unknown() -> fl.FlightUnauthenticatedError:
    return fl.FlightUnauthenticatedError(
        "UNAUTHENTICATED: this server does not know these credentials: give a user and password, or a token"
    )


class _refusing:
    """Errors within become what a stranger may be told; the rest is logged."""

    def __enter__(self) -> None:
        """Nothing to begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Unreachable):
            raise fl.FlightUnavailableError(
                "UNAVAILABLE: nobody can say now who you are, since the identity provider does not answer: try again"
            ) from None
        if isinstance(error, PinakesError) or (isinstance(error, Exception) and not isinstance(error, fl.FlightError)):
            log.error("a log-in failed by a fault of the server", exc_info=error)
            raise fl.FlightInternalError("INTERNAL_ERROR: the server can't look at log-ins now") from None


def _address(peer: str) -> str:
    """`ipv4:192.0.2.1:4711` without its port."""
    return peer.rpartition(":")[0]


def _text(values: list[Any]) -> str:
    first = values[0]
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def _credentials(header: str) -> Credentials:
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return Credentials(None, value.strip())
    if kind.lower() != "basic":
        return Credentials()
    padded = value.strip() + "=" * (-len(value.strip()) % 4)  # ADBC leaves the padding out
    try:
        user, _, password = base64.b64decode(padded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return Credentials("", "")
    return Credentials(user, password)


def _cookie(header: str) -> bytes | None:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return found.value.encode() if found is not None else None
