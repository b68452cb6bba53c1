"""JSON requests to an identity provider. Every failure raises `Unreachable`; details are logged only."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from pinakes.server.logins.base import Unreachable

log = logging.getLogger(__name__)

SECONDS = 10.0
MOST_BYTES = 1 << 20


def get_json(address: str) -> dict[str, Any]:
    status, answer = _response(Request(address, headers={"Accept": "application/json"}))
    if status != 200:
        log.warning("the identity provider answers %s with %s", address, status)
        raise Unreachable
    return answer


def post_form(address: str, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    """Sends a form and returns status and answer. An error response of the provider is an answer, too."""
    return _response(Request(address, urlencode(form).encode(), headers={"Accept": "application/json"}))


def _response(request: Request) -> tuple[int, dict[str, Any]]:
    try:
        with _opened(request) as response:
            content, status = response.read(MOST_BYTES), response.status
        answer = json.loads(content or b"{}")
    except (OSError, ValueError, HTTPException) as error:
        log.warning("the identity provider does not answer at %s: %s", request.full_url, error)
        raise Unreachable from error
    if not isinstance(answer, dict):
        raise Unreachable
    return status, answer


def _opened(request: Request) -> Any:
    try:
        return urlopen(request, timeout=SECONDS)  # the address comes from the configuration or from the issuer
    except HTTPError as error:
        return error
