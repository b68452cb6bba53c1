"""Reads the metadata of a worker's responses: the header of a stream, and logs."""

from __future__ import annotations

import logging
from typing import Any

from pinakes.worker.exceptions import ProtocolError, RemoteError
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import Log, batches_of, log_or_error, opened
from pinakes.worker.wire.records import decode, row_of

LOGGER = logging.getLogger("pinakes.worker.client")
_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "WARNING": logging.WARNING}


def read_header(source: Any) -> dict[str, Any]:
    """Reads the header of a stream. Raises the exception if there is one in its place."""
    header: dict[str, Any] | None = None
    error: RemoteError | None = None
    for batch, metadata in batches_of(opened(source)):
        if protocol.LOG_LEVEL in metadata:
            log_entry = log_or_error(metadata)
            error = log_entry if isinstance(log_entry, RemoteError) else error
        elif batch.num_rows:
            header = row_of(batch, "the header of a stream")
    if error is not None:
        raise error
    if header is None:
        raise ProtocolError("a stream has no header")
    return decode(header["result"], "the header of a stream") if set(header) == {"result"} else header


def note_logs(logs: list[Log]) -> None:
    for log in logs:
        LOGGER.log(_LEVELS.get(log.level.upper(), logging.ERROR), "%s", log.message)
