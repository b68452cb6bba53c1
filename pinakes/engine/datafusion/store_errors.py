"""Translates errors of object stores, as DataFusion reports them, into errors that name the table and the file.

A store may repeat the request that it refused, token included. Only its error codes are shown, and the text is removed
from the error that is kept as the cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import quote

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, PermissionDenied, PinakesError

_STORE = re.compile(
    r"Object Store error: |Generic S3 error: |operation lacked the necessary privileges to complete for path "
    r"|Error performing (?:GET|HEAD|list request)\b"
)
_STATUS = re.compile(r"non-2xx status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,100})</Code>")
_NO_FILE = re.compile(r"Object at location .* not found", re.DOTALL)
_REFUSED = re.compile(r"AccessDenied|Forbidden|AccessKey|Signature|Expired|Token|Unauthorized|Suspended|UserNotFound")
_AWAY = re.compile(r"error sending request|HTTP error|body error|timed out|connection", re.IGNORECASE)


class StoreFile(Protocol):
    """A file of a table in an object store."""

    @property
    def table(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def source(self) -> str: ...


def store_error(error: BaseException, files: Sequence[StoreFile] = ()) -> PinakesError | None:
    """The typed error; None when the error is not one of a store."""
    text = str(error)
    if not _STORE.search(text):
        return None
    subject = _file_named_in(text, files)
    status, code = _STATUS.search(text), _CODE.search(text)
    codes = [found[1] for found in (code, status) if found is not None]
    said = f" ({', '.join(codes)})" if codes else ""
    error.args = (f"the object store failed{said}",)
    if (status is not None and status[1] in ("401", "403")) or (code is not None and _REFUSED.search(code[1])):
        return PermissionDenied(
            f"{subject} cannot be read: the object store refused{said}. Vended credentials may have expired: run the "
            f"statement again. Otherwise check that the catalog's STORAGE_SECRET, or its SECRET, has keys with this "
            f"permission."
        )
    if (status is not None and status[1] == "404") or _NO_FILE.search(text):
        return DataCorrupt(f"{subject} cannot be read: the object store has no such file{said}")
    if codes or _AWAY.search(text):
        return CatalogUnavailable(
            f"{subject} cannot be read: the object store is unreachable or failed{said}. Check ENDPOINT and REGION of "
            f"the catalog's STORAGE_SECRET, and try again."
        )
    return DataCorrupt(f"{subject} cannot be read: the object store did not return Parquet data")


def _file_named_in(text: str, files: Sequence[StoreFile]) -> str:
    """The file that the text names: of several, the one with the longest key."""
    named = [f for f in files if _key(f) in text or quote(_key(f)) in text]
    if named:
        found = max(named, key=lambda f: len(f.source))
        return f"table {found.table}: {found.path}"
    tables = ", ".join(sorted({f.table for f in files}))
    return f"table {tables}: a file of it" if tables else "a file that this statement reads"


def _key(file: StoreFile) -> str:
    return file.source.partition("/")[2]
