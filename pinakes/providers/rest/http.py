"""Requests to a REST catalog, with timeouts, bounded retries, and Pinakes errors that name the host and a remedy.

Responses about tables and namespaces (404, 409, …) are left to pyiceberg. A commit differs from all other requests:
once it is sent, a missing response means that its outcome is unknown.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from pyiceberg.exceptions import CommitStateUnknownException
from requests import PreparedRequest, RequestException, Response, Session
from requests import exceptions as theirs
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
)
from urllib3.util.retry import Retry

from pinakes.core.access.outbound import Destination, Outbound, destination_of
from pinakes.core.errors import CatalogUnavailable, InvalidArgument, PermissionDenied, PinakesError
from pinakes.core.secrets import STORAGE, Secret, covers
from pinakes.core.waiting import BREAKS, waited
from pinakes.providers.answers import AnswerTooLarge, check_json
from pinakes.providers.rest.login import Login

LARGEST_ANSWER = 256 << 20
"""The maximum size of a response, decompressed, in bytes. The metadata of a table with very many snapshots has some ten
million.
"""
_CHUNK = 1 << 16
LONGEST_WAIT = 10
"""The maximum Retry-After that is honoured, in seconds; after a longer one the request is retried after this time."""


class Retries(Retry):
    """Retries if nothing was sent, if a kept-alive connection was closed, and if the server requests it. It does not
    retry after a timeout, which has already taken long, and retries a change only if the server did not process it
    (429).
    """

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        return status_code == 429 or (status_code == 503 and method in ("GET", "HEAD"))

    def increment(self, *args: Any, **kwargs: Any) -> Retries:
        error = kwargs.get("error")
        if isinstance(error, ReadTimeoutError):
            raise error
        if isinstance(error, ConnectTimeoutError) and not isinstance(error, NewConnectionError):
            raise MaxRetryError(kwargs["_pool"], args[1], error)
        return super().increment(*args, **kwargs)


_CREDENTIALS = ("Authorization", "Cookie", "X-Amz-Security-Token", "X-Amz-Date", "X-Amz-Content-Sha256")
"""Headers that are removed on a redirect to another origin."""


class BreakableConnection(HTTPConnection):
    """Hangs up when the statement that waits for the answer is stopped."""

    def request(self, *args: Any, **kwargs: Any) -> None:
        breaks = BREAKS.get()
        if breaks is not None:
            breaks.add(self._hang_up)
        super().request(*args, **kwargs)

    def _hang_up(self) -> None:
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)


class BreakableTlsConnection(BreakableConnection, HTTPSConnection):
    """The same with TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = BreakableConnection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = BreakableTlsConnection


class CatalogAdapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}


class LimitedAdapter(HTTPAdapter):
    """Connects only where the outbound policy allows, to an address that was checked: the name is not resolved again,
    so it can't change in between. A proxy resolves names itself; then the name is checked before each request.
    """

    def __init__(self, outbound: Outbound, **options: Any) -> None:
        self._outbound = outbound
        super().__init__(**options)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        http, https = _limited_pools(self._outbound)
        self.poolmanager.pool_classes_by_scheme = {"http": http, "https": https}

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        if kwargs.get("proxies"):
            self._outbound.addresses(destination_of(str(request.url)))
        return super().send(request, *args, **kwargs)


def _limited_pools(outbound: Outbound) -> tuple[type[HTTPConnectionPool], type[HTTPSConnectionPool]]:
    class Limited(BreakableConnection):
        def _new_conn(self) -> Any:
            return _connect(self, outbound, super()._new_conn)

    class LimitedTls(BreakableTlsConnection):
        def _new_conn(self) -> Any:
            return _connect(self, outbound, super()._new_conn)

    class Pool(HTTPConnectionPool):
        ConnectionCls = Limited

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = LimitedTls

    return Pool, TlsPool


def _connect(connection: HTTPConnection, outbound: Outbound, connect: Callable[[], Any]) -> Any:
    """Connects to the first allowed address that responds. The certificate is still checked against the host's name."""
    host = connection.host
    try:
        addresses = outbound.addresses(Destination(host, connection.port or 0))
    except socket.gaierror as error:
        raise NameResolutionError(host, connection, error) from error
    failure: Exception | None = None
    try:
        for address in addresses:
            connection._dns_host = address
            try:
                return connect()
            except NewConnectionError as error:
                failure = error
    finally:
        connection._dns_host = host
    raise failure or NewConnectionError(connection, "no address")


def adapter(outbound: Outbound | None = None) -> HTTPAdapter:
    logger = logging.getLogger("urllib3.connectionpool")
    if _drop_retry_warnings not in logger.filters:
        logger.addFilter(_drop_retry_warnings)
    retries = Retries(
        total=4,
        connect=2,
        read=1,
        status=3,
        other=0,  # including TLS errors, which are permanent
        allowed_methods=("GET", "HEAD"),
        backoff_factor=0.1,
        raise_on_status=False,
        retry_after_max=LONGEST_WAIT,
    )
    if outbound is not None:
        return LimitedAdapter(outbound, pool_maxsize=16, max_retries=retries)
    return CatalogAdapter(pool_maxsize=16, max_retries=retries)


def _drop_retry_warnings(record: logging.LogRecord) -> bool:
    """Drops urllib3's warnings of our retries, which end in a response or in an error with the details."""
    return not (isinstance(record.args, tuple) and record.args and isinstance(record.args[0], Retries))


class RestSession(Session):
    """The HTTP session with one catalog."""

    def __init__(
        self,
        uri: str,
        *,
        timeout: float,
        verify: bool | str,
        secret: Secret | None = None,
        outbound: Outbound | None = None,
    ) -> None:
        super().__init__()
        self._secret = secret
        self.place = urlsplit(uri).netloc
        self.login = Login()
        self._trust: dict[str, Any] = {} if verify is True else {"verify": verify}
        self._timeout = timeout
        self._environment: dict[tuple[str, ...], Any] = {}
        self.hooks["response"].append(_read_bounded)
        self.mount("https://", adapter(outbound))
        self.mount("http://", adapter(outbound))

    def post_form(self, url: str, form: dict[str, str]) -> Response:
        """Posts to a token server, without our credentials, since it issues them."""
        with self._reaching(urlsplit(url).netloc, "token server"):
            return super().request(
                "POST",
                url,
                data=form,
                headers={"Content-type": "application/x-www-form-urlencoded"},
                auth=Login(),
                timeout=self._timeout,
                allow_redirects=False,
                **self._trust,
            )

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> Response:
        """Sends a request as `requests` does; raises PermissionDenied if it was refused, CatalogUnavailable without a
        response.
        """
        with self._reaching(self.place):
            response = self._send_cancellable(str(method), str(url), *args, **kwargs)
        self._check(response)
        return response

    def rebuild_auth(self, prepared_request: PreparedRequest, response: Response) -> None:
        """Keeps the credentials on a redirect only within the origin and the secret's scope. `requests` would also read
        the .netrc file of the user who runs this process.
        """
        before, after = str(response.request.url), str(prepared_request.url)
        in_scope = self._secret is None or self._secret.type in STORAGE or covers(self._secret.scope, after)
        if origin(before) != origin(after) or not in_scope:
            for name in _CREDENTIALS:
                prepared_request.headers.pop(name, None)

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
        """Returns the environment's proxy and certificate settings, looked up once per host, since the lookup takes as
        long as a good part of a request.
        """
        key = (*urlsplit(str(url))[:2], repr((proxies, stream, verify, cert)))
        if key not in self._environment:
            self._environment[key] = super().merge_environment_settings(url, proxies, stream, verify, cert)
        return dict(self._environment[key])

    def commit(self, url: str, data: bytes, headers: dict[str, str]) -> Response:
        """Sends a request that must not be repeated. Raises CommitStateUnknown unless its outcome is certain."""
        try:
            response = self._send("POST", url, data=data, headers=headers)
        except RequestException as error:
            if _was_sent(error):
                raise CommitStateUnknownException(f"{self.place} did not answer: {self._reason(error)}") from error
            raise self._unreachable(error, self.place) from error
        if response.status_code >= 500 and not _is_refusal(response):
            raise CommitStateUnknownException(f"{self.place} failed with HTTP {response.status_code}: {said(response)}")
        self._check(response)
        return response

    def close(self) -> None:
        super().close()
        self.login.close()

    def _send_cancellable(self, method: str, url: str, *args: Any, **kwargs: Any) -> Response:
        """Sends a request. One that only reads is abandoned when its statement is cancelled."""
        if method.upper() not in ("GET", "HEAD"):
            return self._send(method, url, *args, **kwargs)
        return waited(lambda: self._send(method, url, *args, **kwargs))

    def _send(self, method: str, url: str, *args: Any, **kwargs: Any) -> Response:
        if self._secret is not None:
            self._secret.check_scope(url)
        # Our settings are passed with each request: otherwise environment variables take precedence in `requests`.
        kwargs = {"timeout": self._timeout, "auth": self.login, **self._trust, **kwargs}
        response = super().request(method, url, *args, **kwargs)
        if response.status_code in (401, 419) and self.login.renew():
            response = super().request(method, url, *args, **kwargs)
        for value in self.login.confidential():  # a server may repeat the values that it refuses
            response._content = response.content.replace(value.encode(), b"***")
        return response

    @contextmanager
    def _reaching(self, place: str, what: str = "catalog") -> Iterator[None]:
        try:
            yield
        except RequestException as error:
            raise self._unreachable(error, place, what) from error

    def _check(self, response: Response) -> None:
        if response.status_code in (401, 403, 419) or _is_refusal(response):
            raise self._refused(response)
        if response.status_code >= 500 and response.status_code != 501:
            raise CatalogUnavailable(f"{self.place} failed with HTTP {response.status_code}: {said(response)}")
        if response.status_code == 400 and _is_page(response):
            raise InvalidArgument(
                f"{self.place} refused the request as malformed (HTTP 400): some servers refuse names with '/' or '%'"
            )
        if _is_page(response):
            raise CatalogUnavailable(
                f"{self.place} answered with HTTP {response.status_code} and {_kind(response)}, not as an Iceberg REST "
                f"catalog does. Check the location: it often ends in /iceberg or /api/catalog."
            )

    def _refused(self, response: Response) -> PinakesError:
        words = said(response)
        if response.status_code in (401, 419):
            return PermissionDenied(f"{self.place}: the token was refused ({words}): {self.login.hint}")
        return PermissionDenied(f"{self.place}: the catalog refused: {words}. If it should not have: {self.login.hint}")

    def _unreachable(self, error: RequestException, place: str, what: str = "catalog") -> PinakesError:
        return CatalogUnavailable(
            f"the {what} at {place} can't be reached: {self._reason(error)}. "
            f"Check that it is running and that its address is correct."
        )

    def _reason(self, error: RequestException) -> str:
        cause = _innermost(error)
        match error, cause:
            case theirs.SSLError(), _:
                return f"TLS failed ({cause}). CA_BUNDLE 'file' names the certificates to trust"
            case theirs.Timeout(), _:
                return f"no answer within {self._timeout:g} seconds"
            case _, NameResolutionError():
                return "no host has this name"
            case _, NewConnectionError():
                return "the connection was refused"
        return f"the connection broke ({type(cause).__name__})"


def _read_bounded(response: Response, *_: Any, **__: Any) -> None:
    """Reads a response up to `LARGEST_ANSWER`, also a redirect: a small one may decompress to more than the available
    memory.
    """
    chunks, size = [], 0
    for chunk in response.iter_content(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_ANSWER:
            response.close()
            raise CatalogUnavailable(
                f"{urlsplit(str(response.url)).netloc} sent an answer of more than {LARGEST_ANSWER >> 20} MB, the most "
                f"that is read of a catalog"
            )
    content = b"".join(chunks)
    try:
        check_json(content)
    except AnswerTooLarge as error:
        raise CatalogUnavailable(
            f"{urlsplit(str(response.url)).netloc} sent an answer that is not read: {error}"
        ) from error
    response._content = content


def origin(uri: str) -> tuple[str, str | None, int]:
    """Returns scheme, host and port: credentials are not sent to another origin."""
    found = destination_of(uri)
    return urlsplit(uri).scheme.lower(), found.host.removesuffix("."), found.port


def _innermost(error: BaseException) -> BaseException:
    """Returns urllib3's own error, which `requests` and retries wrap."""
    inner = error.args[0] if error.args and isinstance(error.args[0], BaseException) else error
    return inner.reason if isinstance(inner, MaxRetryError) and inner.reason is not None else inner


def _was_sent(error: RequestException) -> bool:
    if isinstance(error, theirs.ConnectTimeout | theirs.SSLError | theirs.ProxyError | theirs.InvalidURL):
        return False
    return not isinstance(_innermost(error), NewConnectionError)


def _is_refusal(response: Response) -> bool:
    """Whether a 500 is a refusal: Nessie 0.99 responds so to a denied request."""
    return response.status_code == 500 and b"AccessCheckException" in response.content


def _is_page(response: Response) -> bool:
    """Whether the response is not a catalog's JSON. Responses without a body (HEAD, 204) are valid."""
    return bool(response.content) and "json" not in _kind(response) and not response.content.lstrip().startswith(b"{")


def _kind(response: Response) -> str:
    return str(response.headers.get("Content-Type", "no content type")).partition(";")[0]


def said(response: Response) -> str:
    """Returns the server's error message in one line."""
    try:
        error = response.json()["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        text = ""
    first = text.strip().partition("\n")[0]
    return first[:300] or f"HTTP {response.status_code}"
