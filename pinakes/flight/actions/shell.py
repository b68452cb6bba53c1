"""The protocol of the remote shell: Flight actions whose bodies and answers are JSON.

Each answer is `{"answer": …}` or `{"error": …}`. An error carries its code and its position, for which a gRPC status
has no fields. The client is `pinakes/client/wire.py`; rows are fetched by DoGet, as by every client.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pinakes.core.errors import InvalidArgument, PinakesError
from pinakes.core.portable_errors import as_values
from pinakes.flight.errors import for_caller
from pinakes.flight.request import FlightRequest

Body = Mapping[str, Any]


def answering(act: Callable[[Body, FlightRequest], object]) -> Callable[[bytes, FlightRequest], bytes]:
    """Wraps a function into an action with a JSON body and a JSON answer."""

    def run(body: bytes, request: FlightRequest) -> bytes:
        try:
            answer: dict[str, object] = {"answer": act(_read(body), request)}
        except PinakesError as error:
            answer = {"error": as_values(for_caller(error, request.identity))}
        return json.dumps(answer).encode()

    return run


def _read(body: bytes) -> Body:
    try:
        read = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"malformed JSON ({len(body)} bytes): {error}") from error
    if not isinstance(read, dict):
        raise InvalidArgument(f"a JSON object is expected, not a {type(read).__name__}")
    return read


T = TypeVar("T", str, int)


def text(body: Body, name: str) -> str:
    return _typed(body, name, str)


def number(body: Body, name: str) -> int:
    return _typed(body, name, int)


def _typed(body: Body, name: str, kind: type[T]) -> T:
    value = body.get(name)
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name!r} must be a {kind.__name__}, not {type(value).__name__}")
    return value
