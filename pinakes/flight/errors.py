"""Conversion of errors for clients: the message keeps the error code, and the gRPC status is the one that drivers
expect.

Every call runs within `error_boundary`. For any other exception pyarrow would send the server's traceback.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.core import errors
from pinakes.core.access.redaction import about
from pinakes.core.errors import InternalError, PinakesError
from pinakes.core.identity import Identity
from pinakes.core.portable_errors import as_values
from pinakes.engine.datafusion.error_translation import is_panic, translate
from pinakes.server.handle_registry import UnknownHandle

if TYPE_CHECKING:
    from pinakes.flight.authentication import Caller

log = logging.getLogger(__name__)

MOST_BYTES = 7_000
"""Maximum bytes of headers for a message: Java clients accept 8 KB for all headers."""
LONGEST = 1_000
"""Maximum characters of a message in the extra info of a status: gRPC accepts 8 KB of headers, and encodes bytes as
base64."""


class _NoTraceback(type):
    """Metaclass of exceptions that Arrow can't format, so that it appends the class name to the message instead of the
    traceback. Python's `traceback` reads the qualified name of a class first."""

    def __getattribute__(cls, name: str) -> Any:
        if name == "__qualname__":
            raise AttributeError("it has none, on purpose")
        return super().__getattribute__(name)


class Refused(pa.ArrowInvalid, metaclass=_NoTraceback):  # type: ignore[misc]
    """INVALID_ARGUMENT: the statement is wrong."""


class NotThere(pa.ArrowKeyError, metaclass=_NoTraceback):  # type: ignore[misc]
    """NOT_FOUND: the handle is unknown or has expired."""


class NotImplementedHere(pa.ArrowNotImplementedError, metaclass=_NoTraceback):  # type: ignore[misc]
    """UNIMPLEMENTED"""


_STATUS: dict[type[PinakesError], type[Exception]] = {
    errors.NotSupportedError: NotImplementedHere,
    errors.PermissionDenied: fl.FlightUnauthorizedError,
    errors.QueryCanceled: fl.FlightCancelledError,
    errors.QueryTimeout: fl.FlightTimedOutError,
    errors.CatalogUnavailable: fl.FlightUnavailableError,
    errors.ServerBusy: fl.FlightUnavailableError,
    errors.OutOfMemory: fl.FlightServerError,
    errors.WriteFailed: fl.FlightServerError,
    errors.ExecutionError: fl.FlightServerError,
    errors.CommitConflict: fl.FlightServerError,
    errors.CommitUnknown: fl.FlightServerError,
    errors.TransactionAborted: fl.FlightServerError,
    errors.DataCorrupt: fl.FlightServerError,
    errors.InternalError: fl.FlightInternalError,
}
"""All other errors concern the statement: INVALID_ARGUMENT."""


def for_caller(error: PinakesError, caller: Identity | None) -> PinakesError:
    """Returns the error as the caller may see it, and logs internal errors. Only administrators see paths on the server
    and the details of internal errors."""
    if isinstance(error, InternalError):
        log.error("a call failed because of an internal error", exc_info=error)
    if caller is not None and caller.is_admin:
        return error
    shown = copy(error)
    shown.message = about(error.code, error.message)
    return shown


def on_the_wire(error: PinakesError) -> Exception:
    """Returns the Flight exception for an error."""
    kind = next((_STATUS[c] for c in type(error).__mro__ if c in _STATUS), Refused)
    return kind(_fitting(error).render().removesuffix("."))  # Arrow appends one


def _fitting(error: PinakesError) -> PinakesError:
    """Returns the error with its message cut to the size that clients accept; they would drop a longer one
    completely."""
    room = MOST_BYTES - _size(error.render())
    if room >= 0:
        return error
    room += _size(error.message)
    fits = sum(1 for size in accumulate(map(_size, error.message)) if size <= room)
    cut = copy(error)
    cut.message = f"{error.message[:fits]} …"
    return cut


def _size(text: str) -> float:
    """Returns the bytes in the two headers that Arrow uses: one percent-encoded, one base64."""
    raw = text.encode("utf-8", "replace")
    return sum(1 if 32 <= byte <= 126 else 3 for byte in raw) + 4 / 3 * len(raw)


def on_the_wire_with_details(error: PinakesError) -> Exception:
    """Returns the Flight exception for a remote shell: code and position are in the extra info of the status."""
    values = json.dumps(as_values(error, LONGEST), ensure_ascii=False).encode()
    sent: Exception = fl.FlightServerError(error.code, values)
    return sent


@contextmanager
def error_boundary(caller: Caller | None = None) -> Iterator[None]:
    """Converts errors within the block into Flight exceptions."""
    who = caller.identity if caller is not None else None
    sent = on_the_wire_with_details if caller is not None and caller.client.is_shell else on_the_wire
    try:
        yield
    except (fl.FlightError, Refused, NotThere, NotImplementedHere):
        raise
    except UnknownHandle as error:
        raise NotThere(str(error)) from None
    except PinakesError as error:
        raise sent(for_caller(error, who)) from None
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        typed = translate(error)
        typed.__cause__ = typed.__cause__ or error
        raise sent(for_caller(typed, who)) from None


@contextmanager
def without_status() -> Iterator[None]:
    """Converts Flight errors for GetSchema, where Arrow 26 does not support Flight statuses and would send the
    traceback."""
    try:
        yield
    except fl.FlightError as error:
        raise Refused(str(error)) from None
