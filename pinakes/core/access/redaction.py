"""Redaction of error messages for users without access to the server: local paths are cut to the file name, and an
internal error, whose text may contain anything, is replaced by a fixed message.
"""

from __future__ import annotations

import re

from pinakes.core.errors import InternalError

FAULT = "internal error of the server: its log has the details; contact its administrator"
_PATH = re.compile(r"(?:\bfile:/{0,2}(?=/)|(?<![\w:/.\-~)\]}])(?=/))(?:/[^/\s'\"`<>|*?,;:()\[\]{}]+)+/(?=[^/\s'\"`])")
"""The directories of an absolute path, also in a file: URI. Paths of other URIs follow a colon or a host."""


_QUOTED = re.compile(r"(['\"`])(?:file:/{0,2})?/[^'\"`\n]*/([^/'\"`\n]+/?)\1")
"""A quoted path, which may contain any character."""


def without_paths(text: str) -> str:
    """`'/srv/lake/t/data.parquet' is damaged` becomes `'…/data.parquet' is damaged`."""
    return _PATH.sub("…/", _QUOTED.sub(r"\1…/\2\1", text))


def about(code: str, message: str) -> str:
    """Returns the redacted message of an error."""
    return FAULT if code == InternalError.code else without_paths(message)
