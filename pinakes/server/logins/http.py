"""JSON requests to an identity provider. Every failure raises `Unreachable`; details are logged only."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pinakes.config.server_section import is_safe_issuer
from pinakes.server.logins.base import Unreachable

log = logging.getLogger(__name__)

SECONDS = 10.0
MOST_BYTES = 1 << 20


def get_json(address: str) -> dict[str, Any]:
    status, answer = _response(address, None)
    if status != 200:
        log.warning("the identity provider answers %s with %s", address, status)
        raise Unreachable
    return answer


def post_form(address: str, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    """Sends a form and returns status and answer. An error response of the provider is an answer, too."""
    return _response(address, urlencode(form).encode())


def _response(address: str, form: bytes | None) -> tuple[int, dict[str, Any]]:
    try:
        _check_address(address)
        with _opened(Request(address, form, headers={"Accept": "application/json"})) as response:
            content, status = response.read(MOST_BYTES), response.status
        answer = json.loads(content or b"{}")
    except (OSError, ValueError, HTTPException) as error:
        log.warning("the identity provider does not answer at %s: %s", address, error)
        raise Unreachable from error
    if not isinstance(answer, dict):
        raise Unreachable
    return status, answer


def _opened(request: Request) -> Any:
    try:
        return build_opener(_Redirects).open(request, timeout=SECONDS)
    except HTTPError as error:
        return error


class _Redirects(HTTPRedirectHandler):
    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        try:
            _check_address(newurl)
        except URLError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_address(address: str) -> None:
    """Raises unless an address that the issuer names is safe: passwords, the client secret and keys travel there, and
    urllib reads local files and ftp, too."""
    if not is_safe_issuer(address):
        raise URLError("the address of an issuer must use https")
