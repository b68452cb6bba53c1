"""Maps error codes to Trino's error types."""

from __future__ import annotations

from pinakes.core import errors as e

_OF_US = {e.InternalError.code}
_OF_RESOURCES = {e.OutOfMemory.code, e.QueryTimeout.code, e.ServerBusy.code}
_OF_OTHERS = {
    kind.code for kind in (e.CatalogUnavailable, e.DataCorrupt, e.CommitConflict, e.CommitUnknown, e.WriteFailed)
}


def error_type(code: str | None) -> str | None:
    """Returns the error type of a code; None without an error."""
    if code is None:
        return None
    if code in _OF_US:
        return "INTERNAL_ERROR"
    if code in _OF_RESOURCES:
        return "INSUFFICIENT_RESOURCES"
    return "EXTERNAL" if code in _OF_OTHERS else "USER_ERROR"
