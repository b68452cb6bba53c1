"""Translates errors of workers to Pinakes errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pinakes.core.errors import (
    CatalogUnavailable,
    ExecutionError,
    InvalidArgument,
    NotSupportedError,
    PermissionDenied,
    PinakesError,
)
from pinakes.worker.exceptions import (
    AuthenticationError,
    CatalogReadOnlyError,
    ProtocolError,
    RemoteError,
    WorkerError,
    WorkerTimeout,
)


@contextmanager
def translated(catalog: str) -> Iterator[None]:
    """Translates errors within the block; the messages name the catalog."""
    try:
        yield
    except WorkerError as error:
        raise typed(error, catalog) from error


def typed(error: WorkerError, catalog: str) -> PinakesError:
    of = f"the worker of catalog '{catalog}'"
    match error:
        case CatalogReadOnlyError():
            return NotSupportedError(f"catalog '{catalog}' (type vgi) can only be read: {error}")
        case RemoteError(kind="protocol_version_mismatch" | "protocol_not_specified"):
            return CatalogUnavailable(f"{of} speaks another version of the protocol: {error}")
        case NotImplementedError():
            return NotSupportedError(f"{of} does not support this: {error}")
        case ValueError():
            return InvalidArgument(f"{of}: {error}")
        case RemoteError():
            if error.type == "PermissionError":
                return PermissionDenied(f"{of} refuses: {error}")
            return ExecutionError(f"{of} failed: {error.type}: {error}")
        case AuthenticationError():
            return PermissionDenied(
                f"{of} wants to know who asks: CREATE SECRET s (TYPE bearer, …), ATTACH … (SECRET s)"
            )
        case WorkerTimeout():
            return CatalogUnavailable(
                f"{of} does not answer: {error}. ATTACH it with a longer TIMEOUT if it needs more time"
            )
        case ProtocolError():
            return CatalogUnavailable(f"{of} does not speak the worker protocol: {error}")
    return CatalogUnavailable(f"{of} is not there: {error}")
