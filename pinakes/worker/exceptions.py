"""What can go wrong between a worker and whoever calls it.

    WorkerError
    ├── ProtocolError          the other side did not speak the protocol, or another version of it
    │   └── Damaged                what comes next on this connection can't be read either
    ├── WorkerDied             it ended, or hung up, in the middle
    ├── WorkerTimeout          it did not answer in time
    ├── WorkerCanceled         who called wants no answer any more
    ├── AuthenticationError    it does not know who calls
    └── RemoteError            the worker's own code raised: its type and its words
        ├── RemoteValueError           a ValueError, too
        └── RemoteNotImplementedError  a NotImplementedError, too

CatalogReadOnlyError is raised by catalogs that can only be read, on either side.
"""

from __future__ import annotations


class WorkerError(Exception):
    """The base of all."""


class ProtocolError(WorkerError):
    """What came was no message of the protocol. `kind` and `code` are those of the protocol where it has them."""

    def __init__(self, message: str, *, kind: str = "protocol_error", code: str = "INVALID_ARGUMENT") -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code


class Damaged(ProtocolError):
    """The bytes were no message: nobody knows where the next one begins, so the connection is of no more use."""


class WorkerDied(WorkerError):
    """The worker ended or hung up; the message has its last words. `unheard`: it had answered before, and nothing came
    of this answer, so that it may have been gone before it was asked."""

    unheard = False


class WorkerTimeout(WorkerError):
    """The worker did not answer in time."""


class WorkerCanceled(WorkerError):
    """Whoever asked wants no answer any more."""


class AuthenticationError(WorkerError):
    """The worker does not accept who calls."""


class CatalogReadOnlyError(Exception):
    """A change was asked of a catalog that can only be read."""


class RemoteError(WorkerError):
    """An exception that the worker's code raised."""

    def __init__(self, message: str, *, type: str = "Exception", kind: str = "", code: str = "") -> None:
        super().__init__(message)
        self.type = type
        """The name of the exception's class, there."""
        self.kind = kind
        self.code = code


class RemoteValueError(RemoteError, ValueError):
    """A ValueError of the worker: an argument is wrong, or nothing has that name."""


class RemoteNotImplementedError(RemoteError, NotImplementedError):
    """The worker has no such method."""


class RemoteReadOnlyError(RemoteError, CatalogReadOnlyError):
    """The worker's catalog can only be read."""


_KNOWN: dict[str, type[RemoteError]] = {
    "ValueError": RemoteValueError,
    "NotImplementedError": RemoteNotImplementedError,
    "CatalogReadOnlyError": RemoteReadOnlyError,
}


def remote_error(message: str, *, type: str, kind: str = "", code: str = "") -> RemoteError:
    """The exception to raise here for one that was raised there."""
    found = _KNOWN.get(type, RemoteNotImplementedError if kind == "method_not_implemented" else RemoteError)
    return found(message, type=type, kind=kind, code=code)
