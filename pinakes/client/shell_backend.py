"""The shell backend of `pinakes --uri`: statements and metadata requests run on a server."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from pinakes.api.shell_backend import SessionPosition, Work
from pinakes.client.errors import broken
from pinakes.client.rows import ANSWER, Statement
from pinakes.client.wire import Wire
from pinakes.core.errors import PinakesError, SessionLost
from pinakes.core.names import Name
from pinakes.core.portable_errors import from_values
from pinakes.engine.result import Result

if TYPE_CHECKING:
    from pinakes.api.completion import Completer
    from pinakes.client.address import Address
    from pinakes.client.login import Login

log = logging.getLogger(__name__)

CONNECTING = 15.0
"""Maximum seconds for the first answer."""


class RemoteShellBackend:
    """Connects in the constructor, or raises."""

    def __init__(self, address: Address, login: Login) -> None:
        self._wire = Wire(address, login)
        self._statement: Statement | None = None
        self._numbers = count(1)
        self._warnings: list[str] = []
        self._stale = False
        """Whether a statement has ended since the server last sent the session state."""
        self._update_state(self._wire.request("PinakesSession", timeout=CONNECTING))

    def close(self) -> None:
        self._wire.close(ANSWER)

    # --- statements -----------------------------------------------------------------------------------------------

    def run(self, sql: str) -> Result:
        statement = self._statement = Statement(next(self._numbers), sql, self._wire)
        try:
            answer = self._begun(statement)
            if answer["kind"] != "rows":
                statement.over = True
                return Result.done(answer["kind"], answer["count"])
            return self._rows(statement, base64.b64decode(answer["ticket"]))
        except BaseException:
            statement.over = True
            raise

    def _begun(self, statement: Statement) -> dict[str, Any]:
        try:
            request_body = {"session": self._id, "id": statement.number, "sql": statement.sql}
            answer: dict[str, Any] = self._wire.request("PinakesRun", request_body)
        except SessionLost as error:
            raise self._lost() from error
        except PinakesError as error:
            self._stale = True
            raise broken(error, self._wire.address) from error
        if "session" in answer:
            self._update_state(answer["session"])
        if "failed" in answer:
            raise from_values(answer["failed"], statement.sql)
        return answer

    def _rows(self, statement: Statement, ticket: bytes) -> Result:
        self._stale = True
        result = Result(statement.fetch(ticket), statement.batches())
        return result.watch(on_batch=statement.count, on_end=lambda _: statement.end(), stop=statement.stop)

    def _lost(self) -> SessionLost:
        """Starts a new session and returns the error that describes the loss of the old one."""
        self._update_state(self._wire.request("PinakesSession", timeout=CONNECTING))
        return SessionLost(
            f"the session on {self._wire.address.uri} has ended: the server was restarted or has closed it. With it "
            f"went what USE and SET had chosen, temporary tables, and a transaction that was open. The statement was "
            f"not run; a new session has begun."
        )

    def cancel(self) -> None:
        if self._statement is not None:
            self._statement.cancel()

    def leave(self) -> None:
        if self._statement is not None:
            self._statement.stop("the client no longer waits for it")
        self._stale = False  # the prompt does not wait either: the state is requested after the next statement

    def may_be_left(self) -> bool:
        return True

    def working(self) -> Work | None:
        return None if self._statement is None else self._statement.work()

    # --- the session ----------------------------------------------------------------------------------------------

    @property
    def position(self) -> SessionPosition:
        self._refresh()
        return self._position

    def take_warnings(self) -> list[str]:
        self._refresh()
        taken, self._warnings = self._warnings, []
        return taken

    def _refresh(self) -> None:
        """Re-reads the session state after rows were read: an error among them may have aborted the transaction."""
        if not self._stale:
            return
        self._stale = False
        try:
            state = self._wire.request("PinakesSession", timeout=ANSWER)
        except PinakesError as error:  # the next statement reports it
            log.debug("the server did not tell how the session stands", exc_info=error)
            return
        if state["id"] == self._id:  # otherwise it is a new session, which the next statement reports
            self._update_state(state)

    def _update_state(self, state: Mapping[str, Any]) -> None:
        catalog, namespace, transaction = state["standing"]
        self._id, self._user, self._version = state["id"], state["user"], state["version"]
        self._position = SessionPosition(catalog, tuple(namespace), transaction)
        self._warnings += state["warnings"]
        self._stale = False

    # --- metadata -----------------------------------------------------------------------------------------------------

    def completer(self) -> Completer:
        from pinakes.api.completion import Completer
        from pinakes.client.completion_source import RemoteCompletionSource

        return Completer(RemoteCompletionSource(self._wire, lambda: self._position))

    def greeting(self) -> str:
        return f"Connected to {self._wire.address.uri} as {self._user}."

    def about(self) -> list[tuple[str, str]]:
        server = f"{self._wire.address.uri} (Pinakes {self._version})"
        return [("user", self._user), ("server", server), *self._look("about")]

    def objects(self, place: Name | None, kind: str | None) -> list[tuple[str, str, str]]:
        parts = [] if place is None else [(part.text, part.quoted) for part in place.parts]
        return self._look("objects", parts=parts, kind=kind)

    def functions(self) -> list[tuple[str, str, str, str]]:
        return self._look("functions")

    def statement_forms(self) -> list[str]:
        return [str(form) for form in self._wire.request("PinakesLook", {"what": "forms"})]

    def _look(self, what: str, **body: object) -> list[Any]:
        return [tuple(row) for row in self._wire.request("PinakesLook", {"what": what, **body})]
