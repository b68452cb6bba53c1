"""Resolves a path of an object store to files: one file, a prefix, or a pattern with * ? [ ] or **.

Object stores have no directories; here the word means the part of a key before a slash. Each listed prefix and each
file is accessed with the secret that has the longest matching scope (`stores.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from typing import TYPE_CHECKING

from pinakes.core.errors import FileNotFound, InvalidArgument
from pinakes.engine.files.object_stores.errors import no_bucket
from pinakes.engine.files.object_stores.stores import SCHEME, Remote, Stores
from pinakes.engine.files.path_errors import check_directory, is_wanted, missing, refuse_table, unmatched
from pinakes.parser.redaction import masked_address

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

_MAGIC = re.compile(r"[*?\[]")


def key_of(written: str) -> str:
    """Returns `bucket/a/b` of s3://bucket/a/b. Steps such as .. are rejected: they would leave the scope of a
    secret.
    """
    steps = written[len(SCHEME) :].removesuffix("/").split("/")
    if re.search(r"[@:]", steps[0]):
        raise InvalidArgument(
            f"'{masked_address(written)}': a path has no keys in it. CREATE SECRET … (TYPE s3, KEY_ID …, SECRET …)"
        )
    if not all(steps) or {".", ".."} & set(steps) or _MAGIC.search(steps[0]) or "\0" in written:
        raise InvalidArgument(
            f"'{_redact(written)}' is not a path of an object store: write a path such as "
            f"'s3://bucket/data/*.parquet', without empty steps, . and .., and without a NUL character"
        )
    return "/".join(steps)


class StoreFinder:
    """Finds files. `check` is called between requests, and raises if the statement was cancelled."""

    def __init__(self, stores: Stores, check: Callable[[], None]) -> None:
        self._stores, self._check = stores, check

    def files(self, written: str, format: str | None) -> list[Remote]:
        """Returns the files of one path, sorted by name."""
        from pyarrow.fs import FileType

        key = key_of(written)
        info = self._info(key)
        if info.type == FileType.NotFound and _MAGIC.search(key):
            return self._matching(key, written)
        if info.type == FileType.NotFound:
            raise self._missing(key, written)
        if info.type == FileType.Directory:
            return self._directory(key, written, format)
        return [self._stores.remote(key)]

    def _info(self, key: str) -> FileInfo:
        self._check()
        return self._stores.of(key).info(key)

    def _entries(self, key: str, *, recursive: bool = False) -> list[FileInfo]:
        self._check()
        return self._stores.of(key).entries(key, recursive=recursive)

    # --- patterns -------------------------------------------------------------------------------------------------

    def _matching(self, key: str, written: str) -> list[Remote]:
        steps = key.split("/")
        first = next(i for i, step in enumerate(steps) if _MAGIC.search(step))
        base = "/".join(steps[:first])
        keys = sorted(set(self._walk(base, steps[first:])))
        if not keys:
            self._check_bucket(base)
            raise unmatched(_redact(written), SCHEME + base, [entry.base_name for entry in self._entries(base)] or None)
        return [self._stores.remote(found) for found in keys]

    def _walk(self, base: str, pattern: Sequence[str]) -> Iterator[str]:
        """Yields the matching files below `base`. For ** everything is listed at once, otherwise one level at a
        time.
        """
        head, rest = pattern[0], pattern[1:]
        if head == "**":
            for entry in self._entries(base, recursive=True):
                if entry.is_file and _fits(_steps(entry, base), pattern):
                    yield entry.path
        elif _MAGIC.search(head):
            for entry in self._entries(base):
                if _fits([entry.base_name], [head]) and entry.is_file is not bool(rest):
                    yield from self._walk(entry.path, rest) if rest else (entry.path,)
        elif rest:
            yield from self._walk(f"{base}/{head}", rest)
        elif self._info(f"{base}/{head}").is_file:
            yield f"{base}/{head}"

    # --- directories ----------------------------------------------------------------------------------------------

    def _directory(self, key: str, written: str, format: str | None) -> list[Remote]:
        """Returns the files of one format in a directory and below; names that start with . or _ are skipped."""
        entries = self._entries(key, recursive=True)
        paths = [_steps(entry, key) for entry in entries]
        refuse_table(
            SCHEME + key,
            iceberg=any(p[0] == "metadata" and len(p) == 2 and p[1].endswith(".metadata.json") for p in paths),
            delta=any(p[0] == "_delta_log" for p in paths),
        )
        files = [
            entry.path
            for entry, steps in zip(entries, paths, strict=True)
            if entry.is_file and is_wanted(steps[-1], format) and not any(s.startswith((".", "_")) for s in steps)
        ]
        check_directory(written, files, format, {steps[0] for steps in paths})
        return [self._stores.remote(found) for found in sorted(files)]

    # --- errors ---------------------------------------------------------------------------------------------------

    def _missing(self, key: str, written: str) -> FileNotFound:
        """Returns the error for a missing file, with similar names if a secret permits listing."""
        self._check_bucket(key)
        parent, _, name = key.rpartition("/")
        store = self._stores.find(parent)
        near = [] if store is None else [entry.base_name for entry in store.entries(parent)]
        return missing(written, name, near, SCHEME + parent, exists=store is None or bool(near))

    def _check_bucket(self, key: str) -> None:
        from pyarrow.fs import FileType

        bucket, store = key.partition("/")[0], self._stores.of(key)
        if store.info(bucket).type == FileType.NotFound:
            raise no_bucket(bucket, store.secret)


def _steps(entry: FileInfo, base: str) -> list[str]:
    return str(entry.path)[len(base) + 1 :].split("/")


def _fits(steps: Sequence[str], pattern: Sequence[str]) -> bool:
    """Returns whether names match a pattern step by step; wildcards do not match names that start with a dot."""
    if not pattern or not steps:
        return not pattern and not steps
    head, rest = pattern[0], pattern[1:]
    hidden = steps[0].startswith(".")
    if head == "**":
        return _fits(steps, rest or ["*"]) or (not hidden and _fits(steps[1:], pattern))
    if hidden and not head.startswith("."):
        return False
    return re.match(translate(head), steps[0]) is not None and _fits(steps[1:], rest)


def _redact(written: str) -> str:
    """Redacts text after a ?, which may be the signature of a web URL."""
    return masked_address(written) if "?" in written else written
