"""`pinakes.connect`: a session of an engine in this process, as a PEP 249 connection with Arrow extensions.

One connection is one session, with its own current namespace, settings and temporary relations; threads may share it,
each with its own cursors. Every statement commits by itself, unless BEGIN has opened a transaction, which `commit` and
`rollback` end.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from pinakes.api import errors
from pinakes.api.cursor import Cursor
from pinakes.api.engines import acquire
from pinakes.api.interruptible import undisturbed
from pinakes.api.parameters import Parameters, bound, check_count
from pinakes.api.relation import Relation
from pinakes.api.variables import Scopes, scopes_of, variables
from pinakes.config.model import MEMORY, Config, load_config
from pinakes.config.settings import Settings
from pinakes.core.errors import ConfigError, InvalidArgument, NotSupportedError
from pinakes.core.identity import local_identity
from pinakes.core.names import quote
from pinakes.engine.binding.session_relations import Source
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.parser.one_name import read_name


def connect(
    config: str | os.PathLike[str] | Config | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    user: str | None = None,
    token: str | None = None,
    **settings: object,
) -> Connection:
    """Opens a connection to an engine in this process.

    `config` is the path of a configuration file (default: the file that the command would read) or a `Config`; `data`
    is the directory of the embedded catalog, or `:memory:` for one that is removed when the connection closes. `user`
    and `token` are the identity of the session. Each further argument is a setting of the session:
    `connect(time_zone="Europe/Berlin")`.
    """
    with errors.raising():
        loaded = _config(config, data)
        defaults = Settings.of(loaded.engine)
        for name, value in settings.items():
            defaults = defaults.with_value(name, value)
        engine, release = acquire(loaded)
        session = engine.session(replace(local_identity(user), token=token), source="python")
        session.defaults = defaults
        if settings:
            session.change_settings(defaults)
        return Connection(session, weakref.finalize(session, release))


def _config(config: str | os.PathLike[str] | Config | None, data: str | os.PathLike[str] | None) -> Config:
    directory = None if data is None else os.fspath(data)
    if not isinstance(config, Config):
        if config is not None and (os.fspath(config) == MEMORY or Path(config).is_dir()):
            given = os.fspath(config)
            raise ConfigError(f"{given!r} is not a configuration file. To name a data directory, use data={given!r}.")
        return load_config(None if config is None else Path(config), data=directory)
    if directory is None:
        return config
    return replace(config, engine=replace(config.engine, data=directory))


def _source(data: Any, what: str) -> Source:
    from pinakes.api.inputs import source_of  # lazy: loads Arrow's datasets, which is slow

    return source_of(data, what)


class Connection:
    # PEP 249, optional: the exceptions as attributes, for code that uses several database modules.
    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, session: Session, ending: weakref.finalize[[], Session]) -> None:
        self.session = session
        self._ending = ending

    # --- running --------------------------------------------------------------------------------------------------

    def sql(self, query: str, parameters: Parameters | None = None) -> Relation:
        """Returns the rows of a query, which runs when they are read; any other statement runs immediately."""
        with errors.raising():
            return Relation(self.run(query, parameters, scopes_of(sys._getframe(1))), self)

    def execute(self, operation: str, parameters: Parameters | None = None) -> Cursor:
        """Runs a statement with a new cursor, and returns the cursor."""
        with errors.raising():
            cursor = Cursor(self)
            cursor._show(self.run(operation, parameters, scopes_of(sys._getframe(1))))
            return cursor

    def executemany(self, operation: str, seq_of_parameters: Iterable[Parameters]) -> Cursor:
        return self.cursor().executemany(operation, seq_of_parameters)

    def cursor(self) -> Cursor:
        with errors.raising():
            self._check_open()
            return Cursor(self)

    def run(
        self,
        sql: str,
        parameters: Parameters | None = None,
        scopes: Scopes | None = None,
        *,
        session: Session | None = None,
    ) -> Result:
        """Runs a statement and returns the engine's result; the other methods use it. Variables of `scopes` may be used
        as tables. `session` runs the statement in another session than the connection's own."""
        result = self.run_quietly(sql, parameters, scopes, session=session)
        while self.session.warnings:
            warnings.warn(self.session.warnings.pop(0), errors.Warning, stacklevel=3)
        return result

    def run_quietly(
        self,
        sql: str,
        parameters: Parameters | None = None,
        scopes: Scopes | None = None,
        *,
        session: Session | None = None,
    ) -> Result:
        """Runs a statement like `run`, but leaves `session.warnings` to the caller."""
        self._check_open()
        if not isinstance(sql, str):
            raise InvalidArgument(f"a statement is a text, not a {type(sql).__name__}")
        values = bound(parameters)
        if parameters and not isinstance(parameters, Mapping):
            check_count(self.session.read(sql)[0], len(parameters))
        scan = scopes is not None and self.session.settings.python_scan
        with variables(scopes) if scopes is not None and scan else nullcontext() as lookup:
            run = (session or self.session).run
            return undisturbed(lambda: run(sql, values, lookup=lookup), self.cancel, Result.close)

    def cancel(self) -> None:
        """Cancels all running statements of this connection; call it from another thread."""
        self.session.cancel()

    # --- data of Python -------------------------------------------------------------------------------------------

    def register(self, name: str, data: Any) -> None:
        """Registers data as a table of this session: an Arrow table, reader or dataset, a pandas or polars frame, or
        any object with `__arrow_c_stream__`. It takes precedence over a table of the same name in the current
        namespace."""
        with errors.raising():
            self._check_open()
            self.session.temporary.put(name, _source(data, f"the data for {quote(name)}"))

    def unregister(self, name: str) -> None:
        with errors.raising():
            self._check_open()
            self.session.temporary.remove(name)

    def append(self, table: str, data: Any) -> int:
        """Appends rows to a table in one commit, and returns their number. Columns are matched by name; missing ones
        get their default."""
        with errors.raising():
            self._check_open()
            name = read_name(table)
            with self.session.temporary.brought(_source(data, "the data")) as source:
                insert = f"INSERT INTO {name} BY NAME SELECT * FROM {quote(source)}"
                return self.run(insert, session=self.session.in_our_dialect()).count or 0

    # --- transactions and closing -------------------------------------------------------------------------------------

    @property
    def autocommit(self) -> bool:
        """Always true: a transaction starts with BEGIN."""
        return True

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if not value:
            with errors.raising():
                raise NotSupportedError("autocommit can't be switched off: start a transaction with execute('BEGIN')")

    def commit(self) -> None:
        """Commits a transaction that was opened with BEGIN. Outside of a transaction it does nothing, since every
        statement commits by itself."""
        with errors.raising():
            self._check_open()
            if self.session.transaction is not None:
                self.run("COMMIT")

    def rollback(self) -> None:
        with errors.raising():
            self._check_open()
            if self.session.transaction is None:
                raise NotSupportedError(
                    "nothing can be rolled back: every statement is its own commit, unless BEGIN came before it"
                )
            self.run("ROLLBACK")

    def close(self) -> None:
        """Cancels running statements and releases the engine. Further calls do nothing."""
        if self._ending.alive:
            self.session.close()
            self._ending()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self.session.engine.config.engine.data if self._ending.alive else "closed"
        return f"<pinakes.Connection: {state}>"

    def _check_open(self) -> None:
        if not self._ending.alive:
            raise InvalidArgument("this connection was closed: pinakes.connect() opens another")
