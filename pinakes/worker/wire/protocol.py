"""Names and versions of the protocol, as used in the metadata of Arrow batches."""

from __future__ import annotations

METHOD = b"vgi_rpc.method"
REQUEST_VERSION = b"vgi_rpc.request_version"
PROTOCOL = b"vgi_rpc.protocol"
PROTOCOL_VERSION = b"vgi_rpc.protocol_version"
LOG_LEVEL = b"vgi_rpc.log_level"
LOG_MESSAGE = b"vgi_rpc.log_message"
LOG_EXTRA = b"vgi_rpc.log_extra"
ERROR_KIND = b"vgi_rpc.error_kind"
ERROR_CODE = b"vgi_rpc.error_code"
CANCEL = b"vgi_rpc.cancel"
STREAM_STATE = b"vgi_rpc.stream_state#b64"
CALL_STATE = b"vgi_rpc.call_state#b64"
"""Sent once, when a stream begins over HTTP, and returned with every further request of it."""
POINTERS = (b"vgi_rpc.location", b"vgi_rpc.shm_offset")
"""Keys of an empty batch whose rows are stored in another location."""

REQUEST = "1"
NAME = "vgi.v2"
VERSION = "2.2.0"
EXCEPTION = "EXCEPTION"

CONTENT_TYPE = "application/vnd.apache.arrow.stream"
ERROR_HEADER = "X-VGI-RPC-Error"
BUDGET_HEADER = "VGI-Accept-Max-Response-Bytes"
"""The maximum size of a response that a client accepts, in bytes."""


def speaks(version: str) -> bool:
    """Whether a version is compatible: major and minor must be equal, the patch version does not matter."""
    return version.split(".")[:2] == VERSION.split(".")[:2]
