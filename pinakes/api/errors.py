"""The exceptions of PEP 249, and their combination with the errors of the engine.

An error of the engine (`core/errors.py`) is identified by its code; PEP 249 requires a few broad classes, so that code
for any database can distinguish a wrong statement from wrong data. An error of the API is both:

    try:
        con.execute("SELECT * FROM nowhere")
    except pinakes.ProgrammingError as error:      # or pinakes.Error, or core.errors.TableNotFound
        error.code                                 # 'TABLE_NOT_FOUND'

It is the engine's own error, with its message, position, cause and traceback; `raising` only changes its class to one
that derives from both, which is created once per kind and has the name of the engine's class. `KINDS` maps each kind of
error to its PEP 249 class; a kind that is not listed uses the entry of its parent.

    Warning
    Error
    ├── InterfaceError
    └── DatabaseError
        ├── DataError            the data does not fit the query
        ├── OperationalError     canceled, out of time or memory, unreachable, conflict: a retry may succeed
        ├── IntegrityError       a constraint is violated
        ├── InternalError        a bug in Pinakes
        ├── ProgrammingError     the statement is wrong, or names an object that does not exist
        └── NotSupportedError
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from pinakes.core import errors as core


class Warning(builtins.Warning):
    """A warning of a statement that was executed; issued through Python's `warnings`."""


class Error(Exception):
    """The base class of all errors. Errors of the engine have a `code`, a `message` and, where known, a `position`."""


class InterfaceError(Error):
    pass


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    pass


class OperationalError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


class InternalError(DatabaseError):
    pass


class ProgrammingError(DatabaseError):
    pass


class NotSupportedError(DatabaseError):
    pass


KINDS: dict[type[core.PinakesError], type[DatabaseError]] = {
    core.PinakesError: DatabaseError,
    core.ParseError: ProgrammingError,
    core.NotSupportedError: NotSupportedError,
    core.NotFoundError: ProgrammingError,
    core.AlreadyExistsError: ProgrammingError,
    core.AmbiguousName: ProgrammingError,
    core.InvalidArgument: ProgrammingError,
    core.TypeMismatch: ProgrammingError,
    core.ConstraintViolation: IntegrityError,
    core.NamespaceNotEmpty: IntegrityError,
    core.SecretInUse: IntegrityError,
    core.SecretUnreadable: OperationalError,
    core.CommitConflict: OperationalError,
    core.CommitUnknown: OperationalError,
    core.TransactionAborted: OperationalError,
    core.PermissionDenied: ProgrammingError,
    core.ServerBusy: OperationalError,
    core.QueryCanceled: OperationalError,
    core.QueryTimeout: OperationalError,
    core.OutOfMemory: OperationalError,
    core.ExecutionError: DataError,
    core.CatalogUnavailable: OperationalError,
    core.DataCorrupt: OperationalError,
    core.WriteFailed: OperationalError,
    core.ServerUnavailable: OperationalError,
    core.SessionLost: OperationalError,
    core.NotAuthenticated: OperationalError,
    core.ConfigError: OperationalError,
    core.PipelineInvalid: ProgrammingError,
    core.PipelineFailed: OperationalError,
    core.InternalError: InternalError,
}


_joined: dict[type[core.PinakesError], type[core.PinakesError]] = {}


@contextmanager
def raising() -> Iterator[None]:
    """Converts errors of the engine within the block, so that they are also PEP 249 errors."""
    try:
        yield
    except core.PinakesError as error:
        if not isinstance(error, Error):
            error.__class__ = joined(type(error))
        raise


def joined(kind: type[core.PinakesError]) -> type[core.PinakesError]:
    """Returns the class that is both this kind of error and its PEP 249 class."""
    if kind not in _joined:
        _joined[kind] = _made(kind)
    return _joined[kind]


def _made(kind: type[core.PinakesError]) -> type[core.PinakesError]:
    broad = next(KINDS[parent] for parent in kind.__mro__ if parent in KINDS)
    names = {"__module__": __name__, "__qualname__": kind.__name__, "__doc__": kind.__doc__, "__reduce__": _reduce}
    return type(kind.__name__, (kind, broad), names)


def _reduce(error: core.PinakesError) -> tuple[object, ...]:
    """Supports pickle: classes that are created at run time can't be found by name."""
    return _restored, (type(error).__mro__[1], error.message, error.position)


def _restored(kind: type[core.PinakesError], message: str, position: core.Position | None) -> core.PinakesError:
    return joined(kind)(message, position=position)
