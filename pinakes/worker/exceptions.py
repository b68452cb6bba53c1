"""Errors between a worker and its caller.

    WorkerError
    ├── ProtocolError          the other side does not use the protocol, or uses another version
    │   └── Damaged                the rest of the connection can't be read either
    ├── WorkerDied             the worker ended or closed the connection
    ├── WorkerTimeout          no response in time
    ├── WorkerCanceled         the caller cancelled the request
    ├── AuthenticationError    the worker does not accept the caller
    └── RemoteError            the worker's own code raised: type and message
        ├── RemoteValueError           also a ValueError
        └── RemoteNotImplementedError  also a NotImplementedError

CatalogReadOnlyError is raised by read-only catalogs, on either side.
"""

from __future__ import annotations


class WorkerError(Exception):
    """The base class of all errors."""


class ProtocolError(WorkerError):
    """The received data is not a message of the protocol. `kind` and `code` are those of the protocol, if it defines
    them.
    """

    def __init__(self, message: str, *, kind: str = "protocol_error", code: str = "INVALID_ARGUMENT") -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code


class Damaged(ProtocolError):
    """The bytes are not a message: the start of the next one is unknown, so the connection is unusable."""


class WorkerDied(WorkerError):
    """The worker ended or closed the connection; the message has its last output. `unheard` is true if it had responded
    before and sent nothing of this response, so that it may have ended before the request.
    """

    unheard = False


class WorkerTimeout(WorkerError):
    """The worker did not respond in time."""


class WorkerCanceled(WorkerError):
    """The caller cancelled the request."""


class AuthenticationError(WorkerError):
    """The worker does not accept the caller."""


class CatalogReadOnlyError(Exception):
    """A change of a read-only catalog was requested."""


class RemoteError(WorkerError):
    """An exception that the worker's code raised."""

    def __init__(self, message: str, *, type: str = "Exception", kind: str = "", code: str = "") -> None:
        super().__init__(message)
        self.type = type
        """The name of the exception's class in the worker."""
        self.kind = kind
        self.code = code


class RemoteValueError(RemoteError, ValueError):
    """A ValueError of the worker: an argument is invalid, or a name does not exist."""


class RemoteNotImplementedError(RemoteError, NotImplementedError):
    """The worker does not implement the method."""


class RemoteReadOnlyError(RemoteError, CatalogReadOnlyError):
    """The worker's catalog is read-only."""


_KNOWN: dict[str, type[RemoteError]] = {
    "ValueError": RemoteValueError,
    "NotImplementedError": RemoteNotImplementedError,
    "CatalogReadOnlyError": RemoteReadOnlyError,
}


def remote_error(message: str, *, type: str, kind: str = "", code: str = "") -> RemoteError:
    """Returns the exception to raise for one that was raised in the worker."""
    found = _KNOWN.get(type, RemoteNotImplementedError if kind == "method_not_implemented" else RemoteError)
    return found(message, type=type, kind=kind, code=code)
