"""The calls to one server. They may come from several threads; in the main thread Ctrl-C interrupts them. gRPC connects
and reconnects automatically."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.api.interruptible import leaving
from pinakes.client.address import Address
from pinakes.client.errors import FAILURES, translated
from pinakes.client.headers import Headers
from pinakes.client.login import Login
from pinakes.core.errors import NotSupportedError
from pinakes.core.portable_errors import from_values

_OPTIONS = [("grpc.use_local_subchannel_pool", 1)]
"""A new client opens a new connection; gRPC would otherwise reuse a broken one."""


class Wire:
    def __init__(self, address: Address, login: Login) -> None:
        self.address = address
        self._headers = Headers(login)
        self._client = self._connected()

    def _connected(self) -> fl.FlightClient:
        """Creates the client. Nothing is sent before the first call."""
        return fl.FlightClient(
            self.address.uri,
            tls_root_certs=self.address.authority,
            disable_server_verification=self.address.tls and not self.address.checked,
            middleware=[self._headers],
            generic_options=_OPTIONS,
        )

    def request(self, action: str, body: Mapping[str, object] | None = None, timeout: float | None = None) -> Any:
        """Calls a shell action of the server and returns its answer. Raises the errors that the server reports."""
        try:
            payload = leaving(lambda: self._answer(fl.Action(action, json.dumps(body or {}).encode()), timeout))
        except FAILURES as error:
            raise translated(error, self.address) from error
        try:
            answer = json.loads(payload)
        except ValueError as error:
            raise NotSupportedError(
                f"{self.address.uri} is not a Pinakes server: it answers {payload[:50]!r}"
            ) from error
        if "error" in answer:
            raise from_values(answer["error"])
        return answer["answer"]

    def rows(self, ticket: bytes) -> fl.FlightStreamReader:
        try:
            return self._client.do_get(fl.Ticket(ticket))
        except FAILURES as error:
            raise translated(error, self.address) from error

    def close(self, timeout: float) -> None:
        """Ends the session. A server that can't be reached lets the session expire."""
        try:
            list(self._client.do_action(fl.Action("CloseSession", b""), fl.FlightCallOptions(timeout=timeout)))
        except FAILURES:
            return
        finally:
            self._client.close()

    def _answer(self, action: fl.Action, timeout: float | None) -> bytes:
        options = fl.FlightCallOptions(timeout=timeout)
        try:
            return self._first(action, options)
        except fl.FlightUnavailableError:
            self._client = self._connected()  # gRPC would back off before it reconnects, and reject calls until then
            raise
        except fl.FlightUnauthenticatedError:
            if not self._headers.forget_login():  # the server no longer accepts the token
                raise
            return self._first(action, options)

    def _first(self, action: fl.Action, options: fl.FlightCallOptions) -> bytes:
        results = list(self._client.do_action(action, options))
        if len(results) != 1:
            raise pa.ArrowInvalid(f"{len(results)} answers came to {action.type}, and one was expected")
        body: bytes = results[0].body.to_pybytes()
        return body
