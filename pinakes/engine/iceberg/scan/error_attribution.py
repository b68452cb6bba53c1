"""Translates object store errors of DataFusion into errors that name the table and the file.

A store may echo the rejected request, including a token: only its codes are shown, and the text is removed from the
error that is kept as the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, PermissionDenied, PinakesError
from pinakes.engine.iceberg.scan.file_integrity import Lookout, Remote

_STORE = re.compile(
    r"Object Store error: |Generic S3 error: |operation lacked the necessary privileges to complete for path "
    r"|Error performing (?:GET|HEAD|list request)\b"
)
_STATUS = re.compile(r"non-2xx status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,100})</Code>")
_NO_FILE = re.compile(r"Object at location .* not found", re.DOTALL)
_REFUSED = re.compile(r"AccessDenied|Forbidden|AccessKey|Signature|Expired|Token|Unauthorized|Suspended|UserNotFound")
_AWAY = re.compile(r"error sending request|HTTP error|body error|timed out|connection", re.IGNORECASE)

_SENSELESS = re.compile(r"Parquet|footer|EOF|[Cc]orrupt|decod|decompress")


@contextmanager
def blaming(files: Iterable[Remote]) -> Iterator[None]:
    """Translates errors while files of object stores are read natively."""
    try:
        yield
    except PinakesError:
        raise
    except Exception as error:
        read = list(files)
        told = told_by_store(error, read) or _found(error, read)
        if told is None:
            raise
        raise told from error


def told_by_store(error: BaseException, files: Sequence[Remote] = ()) -> PinakesError | None:
    """Returns the translated error; None if it does not come from an object store."""
    text = str(error)
    if not _STORE.search(text):
        return None
    asked = _asked(text, files)
    status, code = _STATUS.search(text), _CODE.search(text)
    codes = [found[1] for found in (code, status) if found is not None]
    said = f" ({', '.join(codes)})" if codes else ""
    error.args = (f"the object store failed{said}",)
    if (status is not None and status[1] in ("401", "403")) or (code is not None and _REFUSED.search(code[1])):
        return PermissionDenied(
            f"{asked} cannot be read: the object store refused{said}. Keys that a catalog lends may have ended: run "
            f"the statement again. Else look whether the catalog's STORAGE_SECRET, or its SECRET, has keys that may "
            f"do this."
        )
    if (status is not None and status[1] == "404") or _NO_FILE.search(text):
        return DataCorrupt(f"{asked} cannot be read: the object store has no such file{said}")
    if codes or _AWAY.search(text):
        return CatalogUnavailable(
            f"{asked} cannot be read: the object store can't be reached or failed{said}. Look whether ENDPOINT and "
            f"REGION of the catalog's STORAGE_SECRET are right, and try again."
        )
    return DataCorrupt(f"{asked} cannot be read: the object store's answer is no part of a Parquet file")


def _found(error: Exception, files: Sequence[Remote]) -> PinakesError | None:
    """Checks the files when DataFusion cannot decode one and does not report which."""
    if not files or not _SENSELESS.search(str(error)):
        return None
    lookout = Lookout(files)
    try:
        lookout.wait()
    except PinakesError as found:
        return found
    finally:
        lookout.close()
    return None


def _asked(text: str, files: Sequence[Remote]) -> str:
    """Returns the file that an error names: the one with the longest key that occurs in the text."""
    named = [f for f in files if _key(f) in text or quote(_key(f)) in text]
    if named:
        found = max(named, key=lambda f: len(f.source))
        return f"table {found.table}: {found.path}"
    tables = ", ".join(sorted({f.table for f in files}))
    return f"table {tables}: a file of it" if tables else "a file that this statement reads"


def _key(file: Remote) -> str:
    return file.source.partition("/")[2]
