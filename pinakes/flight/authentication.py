"""Authentication of calls. The login methods are in `server/logins/`.

A call without credentials is rejected immediately. A bearer token is checked immediately. A login with user and
password (Basic) is answered with a token (Bearer) for later calls, as Flight clients expect. Failed logins delay the
user at an address, and the address (`server/logins/throttle.py`); password checks wait in a queue that is fair between
addresses (`server/logins/queue.py`). Arrow reports the address only after a call has begun, and never for the handshake
by which clients log in. So the password of a handshake is checked immediately only if there is a free slot and few
handshakes have failed recently. Otherwise it is checked with the first call that sends the returned token, whose
address is known. A token never waits.
"""

from __future__ import annotations

import base64
import binascii
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow.flight as fl

from pinakes.core.errors import PinakesError
from pinakes.core.identity import ADMIN, Identity
from pinakes.flight.wire_types import Client
from pinakes.server.handle_registry import HandleRegistry
from pinakes.server.logins.base import Authenticator, Credentials, Proof, Unreachable
from pinakes.server.logins.queue import LoginQueue, Origin, QueueFull
from pinakes.server.logins.throttle import Throttle, network
from pinakes.server.peers import address_of

log = logging.getLogger(__name__)

COOKIE = "arrow_flight_session_id"
MOST_TOKENS = 10_000
MOST_PENDING, PATIENCE = 10_000, 60.0
"""Limits of logins whose password is not checked yet: their number, and the seconds that they are kept."""
LONGEST_USER, LONGEST_PASSWORD = 256, 1024
"""Maximum length in characters; longer values are rejected without a check."""
ANYWHERE = ""
"""The address of a handshake, since Arrow does not report it. All handshakes share one limit."""


class MustWait(fl.FlightUnauthenticatedError):  # type: ignore[misc]
    """Too many failed logins: the password is not checked now."""


@dataclass(eq=False, slots=True)
class Login:
    """The login of a token that this server issued: a proved user, or credentials that are not checked yet."""

    credentials: Credentials
    token: bytes = field(default_factory=lambda: secrets.token_urlsafe(24).encode())
    proof: Proof | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    origin: str = ANYWHERE
    """Address of the latest call."""

    @property
    def user(self) -> str:
        return ""  # the token itself proves ownership

    def close(self) -> None:
        """Does nothing: a login holds no resources."""


class Unchecked:
    """Logins whose password is not checked yet; they expire after a minute. Thread-safe. Unauthenticated clients can
    add entries, so every operation takes constant time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._held: OrderedDict[bytes, tuple[Login, float]] = OrderedDict()

    def put(self, login: Login) -> None:
        with self._lock:
            self._held[login.token] = login, self._clock()
            if len(self._held) > MOST_PENDING:
                self._held.popitem(last=False)

    def find(self, token: bytes) -> Login | None:
        with self._lock:
            found = self._held.get(token)
            return None if found is None or self._clock() - found[1] > PATIENCE else found[0]

    def remove(self, login: Login) -> None:
        with self._lock:
            self._held.pop(login.token, None)

    def sweep(self) -> None:
        with self._lock:
            while self._held and self._clock() - next(iter(self._held.values()))[1] > PATIENCE:
                self._held.popitem(last=False)


class Caller(fl.ServerMiddleware):  # type: ignore[misc]
    """The caller of one call. `identity` is set once `AuthMiddleware.admit` has accepted the call."""

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


class AuthMiddleware(fl.ServerMiddlewareFactory):  # type: ignore[misc]
    """The middleware that authenticates each call."""

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
        """Whether the client certificate identifies the caller."""
        self._logins: HandleRegistry[Login] = HandleRegistry("token", idle, MOST_TOKENS, lifetime=age)
        self._pending_logins = Unchecked()
        """Separate from the proved logins, so that a flood of unchecked ones evicts none of them."""
        self._throttle = throttle or Throttle()
        self.note_handshake: Callable[[], None] = lambda: None
        """Called after each successful handshake."""
        self._queue = LoginQueue()

    # --- start of a call: the address is unknown ----------------------------------------------------------------------

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
                self.note_handshake()
        return caller

    def _login(self, credentials: Credentials) -> Login | None:
        """Returns the login of a token; creates one for a user with a password."""
        if credentials.secret is None:
            return None
        if credentials.user is None:
            token = credentials.secret.encode()
            return self._logins.find(token, "") or self._pending_logins.find(token)
        if len(credentials.user) > LONGEST_USER or len(credentials.secret) > LONGEST_PASSWORD:
            raise _unknown()
        login = Login(credentials)
        self._pending_logins.put(login)
        return login

    # --- within a call: the address is known --------------------------------------------------------------------------

    def admit(self, caller: Caller, context: fl.ServerCallContext) -> None:
        """Raises unless the caller is authenticated. Every method of the server calls this first."""
        with _refusing():
            if self._certificates:
                caller.prove(self._certified(context))
            elif not caller.is_known():
                if caller.login is None:
                    raise _unknown()
                caller.prove(self._look_at(caller.login, _address(context.peer())))
            elif caller.login is not None:
                # The handshake has proved the login already; its first call shows the address.
                self._note_origin(caller.login, caller.login.credentials.user or "", _address(context.peer()))

    def _note_origin(self, login: Login, user: str, address: str) -> None:
        if login.origin != address:
            login.origin = address
            self._throttle.note_origin(user, address)

    def _certified(self, context: fl.ServerCallContext) -> Identity:
        user = context.peer_identity().decode("utf-8", "replace")
        if not user.strip() or not user.isprintable():
            raise _unknown()
        return self._with_roles(Identity(user))

    def _look_at(self, login: Login, address: str) -> Identity:
        """Checks user and password, once per login, and then drops the password. Concurrent calls with the same login
        wait in the same bounded queue."""
        user = login.credentials.user or ""
        self._check_may_try(user, address)
        is_proved = address != ANYWHERE and self._throttle.has_logged_in(user, address)
        origin = Origin(network(address), user if is_proved else "", is_proved)
        try:
            with self._queue.slot(origin, waits=address != ANYWHERE), login.lock:
                if login.proof is None and login.credentials.secret is not None:
                    self._check_may_try(user, address)  # other attempts may have failed while this one waited
                    self._check_password(login, address)
                return self._stands(login.proof)
        except QueueFull:
            if address == ANYWHERE:
                raise MustWait("UNAUTHENTICATED: the password is checked with the first call") from None
            raise fl.FlightUnavailableError("UNAVAILABLE: too many concurrent logins: try again") from None

    def _check_may_try(self, user: str, address: str) -> None:
        by_user, by_address = self._throttle.user_wait(user, address), self._throttle.address_wait(user, address)
        if by_user or by_address:
            whose = "of this user " if by_user else ""
            raise MustWait(
                f"UNAUTHENTICATED: too many logins {whose}have failed from this address: try again in "
                f"{max(by_user, by_address):.0f} seconds"
            )

    def _check_password(self, login: Login, address: str) -> None:
        by, credentials = self._authenticator, login.credentials
        login.proof = by.identify(credentials)
        if login.proof is None:
            log.warning("a login of %r from %s was refused", credentials.user, address or "a handshake")
            self._throttle.failed(credentials.user or "", address)
        else:
            self._throttle.succeeded(credentials.user or "", address)
            if address != ANYWHERE:
                self._note_origin(login, credentials.user or "", address)
        login.credentials = Credentials(credentials.user)
        self._pending_logins.remove(login)
        if login.proof is not None:
            self._logins.put(login, login.token)
        if by is not self._authenticator:  # replaced meanwhile: this login may have been ended
            self._logins.take(login.token, "")
            login.proof = None

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
        """Replaces the authenticator and ends the logins of the changed users (None: of all users). Other logins stay
        valid."""
        self._authenticator, self._administrators = authenticator, frozenset(administrators)
        self._logins.remove_all(lambda login: changed is None or login.credentials.user in changed)

    def sweep(self) -> None:
        self._logins.sweep()
        self._pending_logins.sweep()


class Handshake(fl.ServerAuthHandler):  # type: ignore[misc]
    """The handshake by which clients log in. `AuthMiddleware` has authenticated the call already and answers with a
    token."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """Does nothing: `AuthMiddleware` has done the work."""

    def is_valid(self, token: bytes) -> bytes:
        return b""


def _unknown() -> fl.FlightUnauthenticatedError:
    return fl.FlightUnauthenticatedError("UNAUTHENTICATED: invalid credentials: give a user and password, or a token")


class _refusing:
    """Converts errors into messages that an unauthenticated client may see, and logs the details."""

    def __enter__(self) -> None:
        """Does nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Unreachable):
            raise fl.FlightUnavailableError("UNAVAILABLE: the identity provider is unavailable: try again") from None
        if isinstance(error, PinakesError) or (isinstance(error, Exception) and not isinstance(error, fl.FlightError)):
            log.error("a login failed because of an internal error", exc_info=error)
            raise fl.FlightInternalError("INTERNAL_ERROR: the server can't check logins now") from None


def _address(peer: str) -> str:
    """Returns the IP address in `ipv4:192.0.2.1:4711`. Peers that are not TCP connections have no port and are returned
    as they are."""
    return address_of(peer)[0] if peer.startswith(("ipv4:", "ipv6:")) else peer


def _text(values: list[Any]) -> str:
    first = values[0]
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def _credentials(header: str) -> Credentials:
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return Credentials(None, value.strip())
    if kind.lower() != "basic":
        return Credentials()
    padded = value.strip() + "=" * (-len(value.strip()) % 4)  # ADBC omits the padding
    try:
        user, _, password = base64.b64decode(padded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return Credentials("", "")
    return Credentials(user, password)


def _cookie(header: str) -> bytes | None:
    """Returns the session cookie. Parsed by hand, since unquoting by http.cookies takes quadratic time in some versions
    of Python."""
    given = [part.strip().partition("=") for part in header.split(";")]
    found = [value.strip('"') for name, _, value in given if name == COOKIE]
    return found[-1].encode() if found else None
