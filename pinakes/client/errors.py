"""Conversion of connection errors and server errors into Pinakes errors.

A Pinakes server sends an error with its code and position in the extra info of the status (`core/portable_errors.py`).
All other errors concern the connection: refused, untrusted certificate, interrupted.
"""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.client.address import Address
from pinakes.core.errors import (
    ExecutionError,
    NotAuthenticated,
    NotSupportedError,
    PinakesError,
    QueryCanceled,
    ServerUnavailable,
)
from pinakes.core.portable_errors import from_values

FAILURES = (fl.FlightError, pa.ArrowException, OSError)
"""Exceptions that pyarrow's client raises."""
_NOT_CONNECTED = ("failed to connect", "DNS", "name resolution")
_CODE = re.compile(r"[A-Z][A-Z_]+: ")
_REASONS = (
    ("certificate verify failed", "its certificate is not signed by anybody who is trusted here, or is not for this "
     "name. Give the certificate of its authority with --tls-ca FILE"),
    ("wrong version number", "it does not speak TLS. Try grpc:// instead of grpc+tls://"),
    ("Connection refused", "no server listens there. Is `pinakes serve` running, and is it this port?"),
    ("Name or service not known", "there is no host of this name"),
    ("Domain name not found", "there is no host of this name"),
    ("DNS", "there is no host of this name"),
    ("Socket closed", "it closed the connection. If it speaks TLS, the address is grpc+tls://"),
    ("Connection reset", "it closed the connection. If it speaks TLS, the address is grpc+tls://"),
)  # fmt: skip


class Unreached(ServerUnavailable):
    """The connection failed, so the statement has not started."""


def translated(error: Exception, address: Address, sql: str = "") -> PinakesError:
    """Converts an exception of a call. `sql` is the statement of the call."""
    extra_info = getattr(error, "extra_info", b"")
    if extra_info:
        return from_values(json.loads(extra_info), sql)
    text = _message(error)
    if isinstance(error, fl.FlightUnauthenticatedError):
        return NotAuthenticated(
            f"{address.uri} does not know this user with this password, or this token. Give --user and a password, or "
            f"--token-file."
        )
    if isinstance(error, fl.FlightCancelledError):
        return QueryCanceled("the statement was canceled")
    if isinstance(error, fl.FlightTimedOutError):
        return ServerUnavailable(f"{address.uri} does not answer. Is it the right host, and does it let you through?")
    if isinstance(error, NotImplementedError | pa.ArrowNotImplementedError):
        return NotSupportedError(f"{address.uri} is not a Pinakes server, or has another version than this shell")
    if not isinstance(error, fl.FlightError | OSError):
        return ExecutionError(text)
    if _CODE.match(text):  # an error code of the server, such as BUSY
        return Unreached(text)
    known = next((reason for sign, reason in _REASONS if sign in text), text)
    kind = Unreached if any(sign in text for sign in _NOT_CONNECTED) else ServerUnavailable
    return kind(f"can't reach {address.uri}: {known}")


def broken(error: PinakesError, address: Address) -> PinakesError:
    """Converts an error of a call that had started: it is unknown how far the statement got."""
    if not isinstance(error, ServerUnavailable) or isinstance(error, Unreached):
        return error
    return ServerUnavailable(
        f"the connection to {address.uri} broke while the statement ran. If it changes data, check "
        "whether it took effect before you run it again."
    )


def _message(error: Exception) -> str:
    """Returns the message without the text that Flight and gRPC add."""
    text = str(error).partition("with message: ")[2] or str(error)
    return re.split(r"\. (?:Detail|gRPC client debug context|Client context):", text)[0].strip()
