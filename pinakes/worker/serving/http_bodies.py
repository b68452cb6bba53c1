"""The bodies of HTTP requests and responses: compression and size limits."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

LARGEST = 1 << 30
"""The maximum size of a request in bytes, compressed and decompressed."""
CODINGS = ("zstd", "gzip")
_SMALL = 1_024
"""Responses of fewer bytes are not compressed."""
_LEAST_BUDGET = 65_536


class Refused(Exception):
    """A request whose body is not accepted; `status` is that of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def unpacked(body: bytes, coding: str) -> bytes:
    """Returns the body without its `Content-Encoding`."""
    if coding in ("", "identity"):
        return body
    if coding not in CODINGS:
        raise Refused(415, f"a body may be packed by {' or '.join(CODINGS)}, and this one is by {coding!r}")
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), coding) as stream:
            found = bytes(stream.read(LARGEST + 1))
    except (pa.ArrowException, OSError) as error:
        raise Refused(400, f"the body can't be unpacked by {coding}: {error}") from error
    if len(found) > LARGEST:
        raise Refused(413, "a request must be no longer than 1 GiB")
    return found


def packed(data: bytes, headers: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """Returns a response compressed by the first known encoding that the client offers, and the header that names it.
    The protocol's own header takes precedence over that of HTTP, which libraries set by themselves.
    """
    for asks, says in (("x-vgi-accept-encoding", "X-VGI-Content-Encoding"), ("accept-encoding", "Content-Encoding")):
        if asks in headers:
            offered = (part.split(";")[0].strip().lower() for part in headers[asks].split(","))
            coding = next((name for name in offered if name in (*CODINGS, "identity")), "identity")
            if coding == "identity" or len(data) < _SMALL:
                return data, {}
            return bytes(pa.compress(data, coding, asbytes=True)), {says: coding}
    return data, {}


def budget(headers: Mapping[str, str], name: str) -> int | None:
    """Returns the maximum response size in bytes, if the request has one."""
    text = headers.get(name.lower())
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < _LEAST_BUDGET:
        raise Refused(400, f"{name} must be a number, {_LEAST_BUDGET} at least")
    return int(text)
