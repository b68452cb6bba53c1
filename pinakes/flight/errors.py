"""Errors on their way to a client: each keeps its code in its message and gets the gRPC status that drivers know.

Every call goes through `told`. What pyarrow would send of any other exception is the server's traceback.
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
from pinakes.core.errors import InternalError, PinakesError
from pinakes.core.identity import Identity
from pinakes.core.portable_errors import as_values
from pinakes.core.redaction import about
from pinakes.engine.datafusion.error_translation import is_panic, translate

if TYPE_CHECKING:
    from pinakes.flight.authentication import Caller

log = logging.getLogger(__name__)

MOST_BYTES = 7_000
"""Of headers that a message may take: clients in Java take 8 KB of all headers together."""
LONGEST = 1_000
"""Characters of a message that go beside a status: gRPC takes 8 KB of headers, and sends bytes as base64."""


class _NoTraceback(type):
    """The class of exceptions that Arrow can't format: it then sends their class's name after the message, instead of
    the traceback. Python's `traceback` reads the qualified name of a class before anything else of it."""

    def __getattribute__(cls, name: str) -> Any:
        if name == "__qualname__":
            raise AttributeError("it has none, on purpose")
        return super().__getattribute__(name)


class Refused(pa.ArrowInvalid, metaclass=_NoTraceback):  # type: ignore[misc]
    """INVALID_ARGUMENT: the statement is wrong."""


class NotThere(pa.ArrowKeyError, metaclass=_NoTraceback):  # type: ignore[misc]
    """NOT_FOUND: a handle of this server that is not known, or not any more."""


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
"""All others are about the statement: INVALID_ARGUMENT."""


def for_caller(error: PinakesError, caller: Identity | None) -> PinakesError:
    """The same error, as far as it concerns who asks; a fault of ours is logged. Only administrators are told of paths
    of the server's machine, and of what a fault was."""
    if isinstance(error, InternalError):
        log.error("a call failed by a mistake of ours", exc_info=error)
    if caller is not None and caller.is_admin:
        return error
    told = copy(error)
    told.message = about(error.code, error.message)
    return told


def on_the_wire(error: PinakesError) -> Exception:
    """The same error as Flight knows it."""
    kind = next((_STATUS[c] for c in type(error).__mro__ if c in _STATUS), Refused)
    return kind(_fitting(error).told().removesuffix("."))  # Arrow puts one behind it


def _fitting(error: PinakesError) -> PinakesError:
    """The same error with as much of its message as clients take: of a longer one they would see nothing at all."""
    room = MOST_BYTES - _size(error.told())
    if room >= 0:
        return error
    room += _size(error.message)
    fits = sum(1 for size in accumulate(map(_size, error.message)) if size <= room)
    cut = copy(error)
    cut.message = f"{error.message[:fits]} …"
    return cut


def _size(text: str) -> float:
    """Bytes of the two headers that Arrow sends it in: %xx for all but plain letters, and base64."""
    raw = text.encode("utf-8", "replace")
    return sum(1 if 32 <= byte <= 126 else 3 for byte in raw) + 4 / 3 * len(raw)


def on_the_wire_whole(error: PinakesError) -> Exception:
    """The same for a shell of ours: with its code and position beside the status."""
    values = json.dumps(as_values(error, LONGEST), ensure_ascii=False).encode()
    sent: Exception = fl.FlightServerError(error.code, values)
    return sent


@contextmanager
def told(caller: Caller | None = None) -> Iterator[None]:
    """Errors within reach the client as they are meant to."""
    who = caller.identity if caller is not None else None
    sent = on_the_wire_whole if caller is not None and caller.client.is_shell else on_the_wire
    try:
        yield
    except (fl.FlightError, Refused, NotThere, NotImplementedHere):
        raise
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
    """Arrow 26 knows no status of Flight's own in GetSchema: of such an error it would send the traceback."""
    try:
        yield
    except fl.FlightError as error:
        raise Refused(str(error)) from None
