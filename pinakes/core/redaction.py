"""Texts for people whom the insides of the server do not concern: paths of its machine are cut to the last name, and
of a fault that nobody foresaw, whose text may hold anything, they are told that it happened."""

from __future__ import annotations

import re

from pinakes.core.errors import InternalError

FAULT = "the server failed by a fault of its own, which its log tells of: ask who runs it"
_PATH = re.compile(r"(?:\bfile:/{0,2}(?=/)|(?<![\w:/.\-~)\]}])(?=/))(?:/[^/\s'\"`<>|*?,;:()\[\]{}]+)+/(?=[^/\s'\"`])")
"""The directories of an absolute path, also of a file: address. Those of other addresses follow a colon or a host."""


_QUOTED = re.compile(r"(['\"`])(?:file:/{0,2})?/[^'\"`\n]*/([^/'\"`\n]+/?)\1")
"""A path that stands in quotes may have anything in it."""


def without_paths(text: str) -> str:
    """`'/srv/lake/t/data.parquet' is damaged` becomes `'…/data.parquet' is damaged`."""
    return _PATH.sub("…/", _QUOTED.sub(r"\1…/\2\1", text))


def about(code: str, message: str) -> str:
    """What they are told of an error."""
    return FAULT if code == InternalError.code else without_paths(message)
