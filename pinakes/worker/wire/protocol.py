"""Names and versions of the protocol, as they stand in the metadata of Arrow batches."""

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
"""Given out once, when a stream begins over HTTP, and sent with every further request of it."""
POINTERS = (b"vgi_rpc.location", b"vgi_rpc.shm_offset")
"""What a batch of no rows has that says where its rows are instead."""

REQUEST = "1"
NAME = "vgi.v2"
VERSION = "2.2.0"
EXCEPTION = "EXCEPTION"

CONTENT_TYPE = "application/vnd.apache.arrow.stream"
ERROR_HEADER = "X-VGI-RPC-Error"
BUDGET_HEADER = "VGI-Accept-Max-Response-Bytes"
"""How many bytes of an answer a client takes."""


def speaks(version: str) -> bool:
    """Whether a version is ours: major and minor must be the same, the patch does not matter."""
    return version.split(".")[:2] == VERSION.split(".")[:2]
