"""The location of a table, a directory or a file of Iceberg data: the one parser for all of them.

A location names an object store (`s3://bucket/path` and the like) or a file of this machine by an absolute path, which
may be written as a `file:` URI. The path is taken literally: `%`, `#` and `?` have no meaning of their own. Whatever
two readers could understand differently is refused, so that the part that checks a location and the part that opens
it agree on the file.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

from pinakes.core.errors import InvalidArgument

_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}
STORES = frozenset(("s3", "gs", "abfs", "wasb", "oss", *_SAME))
"""Object stores that pyarrow reads. `hdfs` and `viewfs` are left out: what they lead to is decided by the files of a
Hadoop configuration, and without one that is this machine."""
_WITH_ACCOUNT = frozenset(("abfs", "abfss", "wasb", "wasbs"))

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PARENT = re.compile(r"/(?:\.|%2[eE]){2}(?:/|\Z)")
_AUTHORITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ACCOUNT = re.compile(r"[A-Za-z0-9$][A-Za-z0-9_-]*(?:@[A-Za-z0-9][A-Za-z0-9._-]*)?")


class Location(NamedTuple):
    """Made by `parse` only."""

    scheme: str
    """`file` for a path of this machine."""
    authority: str
    """The bucket or container; empty for a path of this machine."""
    path: str
    """What follows, with its leading slash."""
    text: str
    """As it was written."""

    @classmethod
    def parse(cls, text: str) -> Location:
        """The location that a text is; InvalidArgument for anything else. Cheap: a scan parses each of its files."""
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
        """The path as pyarrow's file systems take it."""
        return self.path if self.scheme == "file" else f"{self.authority}{self.path}"

    @property
    def identity(self) -> str:
        """The same text for all spellings of one file: schemes that mean one store, and on this machine links and
        doubled slashes. In an object store each path is an object of its own."""
        if self.scheme != "file":
            return f"{_SAME.get(self.scheme, self.scheme)}://{self.authority}{self.path}"
        directory, _, name = self.path.rpartition("/")
        found = f"{_real_directory(directory or '/').rstrip('/')}/{name}"
        return os.path.realpath(found) if name in ("", ".") or os.path.islink(found) else found  # noqa: PTH114

    def is_below(self, other: Location) -> bool:
        """Whether this is the other one, or in the directory that it is."""
        ours, theirs = self.identity, other.identity.rstrip("/")
        return ours.rstrip("/") == theirs or ours.startswith(f"{theirs}/")


def _is_known(scheme: str, authority: str, path: str) -> bool:
    if scheme == "file":
        return not authority and path[:1] == "/"
    allowed = _ACCOUNT if scheme in _WITH_ACCOUNT else _AUTHORITY
    return scheme in STORES and allowed.fullmatch(authority) is not None


@lru_cache(maxsize=10_000)
def _real_directory(path: str) -> str:
    """Where a directory really is; many files share one."""
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
