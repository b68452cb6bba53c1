"""The shell backend for an engine in this process: used by the embedded shell, and by the server for remote shells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.api.shell_backend import SessionPosition, TransactionState, Work
from pinakes.core.names import Name

if TYPE_CHECKING:
    from pinakes.api.completion import Completer
    from pinakes.engine.execution.query import Query
    from pinakes.engine.result import Result
    from pinakes.engine.session import Session


class LocalShellBackend:
    def __init__(self, session: Session) -> None:
        self.session = session

    def run(self, sql: str) -> Result:
        return self.session.run(sql)

    def cancel(self) -> None:
        self.session.cancel()

    def leave(self) -> None:
        """Does nothing: the statement was canceled and ends by itself."""

    def may_be_left(self) -> bool:
        return False  # it would continue in this process, possibly within a commit

    def working(self) -> Work | None:
        found = [query for query in list(self.session.running) if query.ended is None]
        return work_of(max(found, key=lambda query: query.created, default=None))

    def take_warnings(self) -> list[str]:
        taken = list(self.session.warnings)
        del self.session.warnings[: len(taken)]
        return taken

    @property
    def position(self) -> SessionPosition:
        scope = self.session.scope
        return SessionPosition(scope.catalog, scope.namespace, self._transaction())

    def completer(self) -> Completer:
        from pinakes.api.completion import Completer

        return Completer(self.session)

    def greeting(self) -> str:
        return ""

    def about(self) -> list[tuple[str, str]]:
        data = self.session.engine.config.engine.data
        return [("user", self.session.identity.user), *self.facts(), ("data", data)]

    def facts(self) -> list[tuple[str, str]]:
        """Returns the session information that remote users may see, too."""
        mounts = ", ".join(f"{mount.name} ({mount.type})" for mount in self.session.catalogs.attached())
        return [("current", self.position.place), ("catalogs", mounts)]

    def objects(self, place: Name | None, kind: str | None) -> list[tuple[str, str, str]]:
        from pinakes.engine.binding.namespaces import ResolvedNamespace, objects

        resolver = self.session.resolver
        found = resolver.namespace(place)
        if place is not None and not found.namespace:
            found = ResolvedNamespace(found.mount, resolver.home(found.mount))
        own = resolver.temporary_place() if place is None else None
        return sorted(
            (str(each), name, which.lower())
            for each in (found, *([own] if own else []))
            for name, which in objects(each.mount.catalog, each).items()
            if kind in (None, which)
        )

    def functions(self) -> list[tuple[str, str, str, str]]:
        from pinakes.engine.datafusion.functions import functions

        return [(f.name, f.kind, f.syntax, " ".join(f.description.split())) for f in functions()]

    def statement_forms(self) -> list[str]:
        """Returns the syntax of the statements: the first paragraph of each handler's docstring."""
        from inspect import getdoc

        from pinakes.engine.commands.registry import HANDLERS, handler_of

        docs = (getdoc(handler_of(kind)) or "" for kind in HANDLERS)
        return sorted(" ".join(doc.split("\n\n")[0].split()) for doc in docs)

    def _transaction(self) -> TransactionState:
        transaction = self.session.transaction
        return "none" if transaction is None else "aborted" if transaction.is_aborted else "open"


def work_of(query: Query | None) -> Work | None:
    return None if query is None or query.ended is not None else Work(str(query.state), query.rows, query.progress)
