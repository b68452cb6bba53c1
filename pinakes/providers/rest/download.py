"""Files on the web: http://, https:// and hf://datasets/owner/name/path, downloaded to temporary files.

No credentials are sent. The outbound policy is checked for each connection, hence also for each redirect (`http.py`).
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from requests import PreparedRequest, RequestException, Response, Session
from requests import exceptions as theirs

from pinakes.core.access.outbound import Outbound
from pinakes.core.errors import CatalogUnavailable, FileNotFound, InvalidArgument, PermissionDenied
from pinakes.core.version import __version__
from pinakes.core.waiting import waited
from pinakes.providers.rest.http import adapter
from pinakes.providers.rest.login import Login

MOST_BYTES = 4 << 30
"""The largest file that is downloaded."""
_MOST_REDIRECTS = 5
_SECONDS = 30
"""The longest wait for a connection, and for the next bytes."""
_CHUNK = 1 << 18


class Download:
    """A downloaded file: `path` exists until `remove` is called, or this object is forgotten. `shown` is the address
    without its query, which may be confidential.
    """

    def __init__(self, shown: str, path: Path) -> None:
        self.shown, self.path = shown, path
        self.remove = weakref.finalize(self, path.unlink, missing_ok=True)


def address_of(written: str) -> str:
    """Returns the address of a file to request; raises InvalidArgument for one that can't be right."""
    scheme, _, rest = written.partition("://")
    if scheme.lower() == "hf":
        return _address_of_dataset(written, rest)
    try:
        parts = urlsplit(written)
        right = bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right or any(c.isspace() or not c.isprintable() for c in written):
        raise InvalidArgument("a web address must look like 'https://example.com/data/orders.csv'")
    if parts.username is not None or parts.password is not None:
        raise InvalidArgument(f"'{_shown(written)}': no credentials are sent to web addresses. Leave them out.")
    return written


def _address_of_dataset(written: str, rest: str) -> str:
    kind, *steps = rest.split("/")
    if kind != "datasets" or len(steps) < 3 or not all(steps) or {".", ".."} & set(steps) or "*" in rest:
        raise InvalidArgument(
            f"'{written}' can't be read: write hf://datasets/owner/name/path/file.parquet, or owner/name@revision; "
            f"patterns are not supported"
        )
    owner, (name, _, revision) = steps[0], steps[1].partition("@")
    path = "/".join(map(quote, steps[2:]))
    place = f"{quote(owner)}/{quote(name)}/resolve/{quote(revision or 'main', safe='')}"
    return f"https://huggingface.co/datasets/{place}/{path}"


def _shown(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def download(
    written: str, outbound: Outbound | None, directory: str | None, prefix: str, check: Callable[[], None]
) -> Download:
    """Downloads a file. `check` is called between parts, and raises if the statement was cancelled."""
    address = address_of(written)
    shown = _shown(address) if written.lower().startswith("http") else written
    opened, path = tempfile.mkstemp(prefix=prefix, dir=directory)
    found = Download(shown, Path(path))
    try:
        with os.fdopen(opened, "wb") as file, _Web(outbound) as web:
            waited(lambda: web.save(address, shown, file, check))
    except BaseException as error:
        found.remove()
        if isinstance(error, RequestException):
            raise _unreachable(error, shown) from None
        raise
    return found


class _Web(Session):
    """A session without credentials."""

    def __init__(self, outbound: Outbound | None) -> None:
        super().__init__()
        self.auth = Login()  # otherwise a .netrc file would be read
        self.max_redirects = _MOST_REDIRECTS
        self.headers.update({"User-Agent": f"pinakes/{__version__}", "Accept": "*/*", "Accept-Encoding": "identity"})
        self.hooks["response"].append(_drop_body_of_redirect)
        self.mount("https://", adapter(outbound))
        self.mount("http://", adapter(outbound))

    def rebuild_auth(self, prepared_request: PreparedRequest, response: Response) -> None:
        """Refuses redirects from TLS to plain text. There are no credentials to keep."""
        before, after = str(response.request.url), str(prepared_request.url)
        if before.startswith("https://") and not after.startswith("https://"):
            raise theirs.InvalidSchema("a redirect away from https")

    def save(self, address: str, shown: str, file: IO[Any], check: Callable[[], None]) -> None:
        with self.get(address, stream=True, timeout=_SECONDS) as response:
            _check_status(response, shown)
            size = 0
            announced = response.headers.get("Content-Length", "")
            if announced.isdecimal():
                _check_size(int(announced), shown)
            for chunk in response.iter_content(_CHUNK):
                size += len(chunk)
                _check_size(size, shown)
                file.write(chunk)
                check()
            if announced.isdecimal() and "Content-Encoding" not in response.headers and size != int(announced):
                raise CatalogUnavailable(f"'{shown}' broke off after {size:,} bytes: run the statement again")


def _drop_body_of_redirect(response: Response, *_: Any, **__: Any) -> None:
    """`requests` would read it as a whole."""
    if response.is_redirect:
        response.close()
        response._content, response._content_consumed = b"", True


def _check_size(size: int, shown: str) -> None:
    if size > MOST_BYTES:
        raise InvalidArgument(
            f"'{shown}' has more than {MOST_BYTES >> 30} GB, the most that is downloaded: save it yourself, and name "
            f"the local path"
        )


def _check_status(response: Response, shown: str) -> None:
    code = response.status_code
    if code in (404, 410):
        raise FileNotFound(f"file '{shown}' does not exist (HTTP {code})")
    if code in (401, 403, 407):
        raise PermissionDenied(f"'{shown}' is not public (HTTP {code}), and no credentials are sent to web addresses")
    if code != 200:
        raise CatalogUnavailable(f"'{shown}' can't be read: its server answered with HTTP {code}")


def _unreachable(error: RequestException, shown: str) -> CatalogUnavailable:
    match error:
        case theirs.SSLError():
            reason = "TLS failed"
        case theirs.Timeout():
            reason = f"no answer within {_SECONDS} seconds"
        case theirs.TooManyRedirects():
            reason = f"more than {_MOST_REDIRECTS} redirects"
        case theirs.InvalidSchema() | theirs.InvalidURL():
            reason = "it redirects to an address that is not followed"
        case theirs.ChunkedEncodingError() | theirs.ContentDecodingError():
            reason = "the answer broke off"
        case _:
            reason = "its server can't be reached"
    return CatalogUnavailable(f"'{shown}' can't be read: {reason}")
