"""The location of a table, directory or file of Iceberg data, and its only parser.

A location names an object store (`s3://bucket/path` and the like) or a local file by an absolute path, which may be
written as a `file:` URI. The path is literal: `%`, `#` and `?` have no special meaning. Ambiguous texts are refused, so
that the code that checks a location and the code that opens it agree on the file.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

from pinakes.core.errors import InvalidArgument

_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}
STORES = frozenset(("s3", "gs", "abfs", "wasb", "oss", *_SAME))
"""Object stores that pyarrow reads. `hdfs` and `viewfs` are excluded: a Hadoop configuration decides their target,
which without one is the local machine.
"""
_WITH_ACCOUNT = frozenset(("abfs", "abfss", "wasb", "wasbs"))

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PARENT = re.compile(r"/(?:\.|%2[eE]){2}(?:/|\Z)")
_AUTHORITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ACCOUNT = re.compile(r"[A-Za-z0-9$][A-Za-z0-9_-]*(?:@[A-Za-z0-9][A-Za-z0-9._-]*)?")


class Location(NamedTuple):
    """A parsed location; created by `parse` only."""

    scheme: str
    """`file` for a local path."""
    authority: str
    """The bucket or container; empty for a local path."""
    path: str
    """The path with its leading slash."""
    text: str
    """The original text."""

    @classmethod
    def parse(cls, text: str) -> Location:
        """Parses a location; raises InvalidArgument for other texts. Cheap, since a scan parses the location of each
        file.
        """
        if text[:1] == "/":
            scheme, authority, path, marks = "file", "", text, 0
        else:
            scheme, colon, rest = text.partition(":")
            authority, marks = "", 0
            if rest[:2] == "//":
                authority, slash, path = rest[2:].partition("/")
                path, marks = slash + path, 1
            else:
                path = rest if scheme == "file" else ""
            if not colon or not _is_known(scheme, authority, path):
                raise _refusal(text)
        if (
            (not text.isprintable() and _CONTROL.search(text))
            or text.strip() != text
            or text.count("://") != marks
            or (("/.." in text or "%2" in text) and _PARENT.search(text))
        ):
            raise _refusal(text)
        return cls(scheme, authority, path, text)

    def __str__(self) -> str:
        return self.text

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"

    @property
    def arrow_path(self) -> str:
        """The path in the form of pyarrow's file systems."""
        return self.path if self.scheme == "file" else f"{self.authority}{self.path}"

    @property
    def identity(self) -> str:
        """The same text for all spellings of one file: normalizes schemes of the same store and, for local files,
        links and doubled slashes. In an object store each path is a separate object.
        """
        if self.scheme != "file":
            return f"{_SAME.get(self.scheme, self.scheme)}://{self.authority}{self.path}"
        directory, _, name = self.path.rpartition("/")
        found = f"{_real_directory(directory or '/').rstrip('/')}/{name}"
        return os.path.realpath(found) if name in ("", ".") or os.path.islink(found) else found  # noqa: PTH114

    def is_below(self, other: Location) -> bool:
        """Returns whether this location is equal to the other or below it."""
        ours, theirs = self.identity, other.identity.rstrip("/")
        return ours.rstrip("/") == theirs or ours.startswith(f"{theirs}/")


def _is_known(scheme: str, authority: str, path: str) -> bool:
    if scheme == "file":
        return not authority and path[:1] == "/"
    allowed = _ACCOUNT if scheme in _WITH_ACCOUNT else _AUTHORITY
    return scheme in STORES and allowed.fullmatch(authority) is not None


@lru_cache(maxsize=10_000)
def _real_directory(path: str) -> str:
    """Resolves a directory; cached, since many files share one."""
    return os.path.realpath(path)


def _refusal(text: str) -> InvalidArgument:
    shown = repr(text if len(text) <= 300 else f"{text[:300]}…")
    if odd := _CONTROL.search(text):
        why = f"it has the control character {odd.group()!r} in it"
    elif text.strip() != text:
        why = "it begins or ends with a blank"
    elif _PARENT.search(text):
        why = "it has a '..' in it"
    elif text.count("://") > 1:
        why = "it has '://' twice"
    elif text.startswith("/"):
        why = "a path has no '://' in it"
    elif ":" in text and not text.startswith(("./", "~")):
        why = "this is neither an absolute path, nor file:///…, nor the address of an object store that is known"
    else:
        why = "it is not absolute"
    known = ", ".join(f"{scheme}://" for scheme in sorted(STORES))
    return InvalidArgument(
        f"{shown} can't be the location of Iceberg data: {why}. "
        f"Write an absolute path, file:///path, or a bucket and a path with one of: {known}"
    )
