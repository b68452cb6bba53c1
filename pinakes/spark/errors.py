"""Converts Spark's errors into Pinakes errors: the message without Java stack traces and without catalog secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pinakes.core.errors import (
    CommitConflict,
    ConstraintViolation,
    ExecutionError,
    NotSupportedError,
    OutOfMemory,
    PinakesError,
    QueryCanceled,
    ServerUnavailable,
    TableNotFound,
)

_MEMORY = ("OutOfMemoryError", "OUT_OF_MEMORY", "maxResultSize", "Java heap space")
_CONFLICT = ("CommitFailedException", "ValidationException", "commitStateUnknown", "has been modified concurrently")
_SECRET = re.compile(r"(?i)((?:password|token|secret|credential|access-key-id)\S*?[=:]\s*)[^\s,;)}]+")
_NULL = re.compile(r"column `[^\n]*?` is NOT NULL, and a row has NULL there")
"""The error message that generated statements raise (`engine/remote/create_table.py`)."""
_LONGEST = 600


@contextmanager
def translating() -> Iterator[None]:
    """Converts exceptions of Spark within the block."""
    try:
        yield
    except PinakesError:
        raise
    except Exception as error:
        raise translated(error) from error


def translated(error: BaseException) -> PinakesError:
    """Returns the error for the user, with the exception as its cause."""
    words = shown(error)
    found = _kind(error, words)
    found.__cause__ = error
    return found


def _kind(error: BaseException, words: str) -> PinakesError:
    name, whole = type(error).__name__, str(error)
    if "OPERATION_CANCELED" in whole or "OPERATION_ABANDONED" in whole:
        return QueryCanceled(f"Spark stopped the statement: {words}")
    if any(word in whole for word in _MEMORY):
        return OutOfMemory(f"Spark ran out of memory: {words} Give it more with driver_memory in [spark].")
    if any(word in whole for word in _CONFLICT):
        return CommitConflict(f"Spark could not commit the change, another was faster: {words}")
    if _NULL.search(whole) is not None:
        return ConstraintViolation(f"{_NULL.findall(whole)[0]}.")
    if "TABLE_OR_VIEW_NOT_FOUND" in whole:
        return TableNotFound(f"Spark does not find a table of this statement: {words}")
    if name in ("SparkConnectGrpcException", "_MultiThreadedRendezvous", "_InactiveRpcError") or "UNAVAILABLE" in whole:
        return ServerUnavailable(f"Spark does not answer: {words}")
    if name in ("AnalysisException", "ParseException", "UnsupportedOperationException"):
        return NotSupportedError(f"Spark can't run this statement: {words} SET engine = 'local'.")
    return ExecutionError(f"Spark failed: {words}")


def shown(error: BaseException) -> str:
    """Returns the message of an error, shortened and redacted."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(line for line in lines if not line.startswith(("at ", "JVM stacktrace", "...", "== SQL", "--")))
    text = _SECRET.sub(r"\1***", text.split("JVM stacktrace")[0].split("== SQL")[0].split("; line ")[0]).strip()
    return (text[:_LONGEST] + "…" if len(text) > _LONGEST else text).rstrip(".") + "."
