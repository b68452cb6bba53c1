"""The exceptions of PEP 249, and how they join the errors of the engine.

An error of the engine (`core/errors.py`) tells by its code what went wrong; PEP 249 asks for a few broad classes, so
that code written for any database can tell a wrong statement from wrong data. What leaves the API is both:

    try:
        con.execute("SELECT * FROM nowhere")
    except pinakes.ProgrammingError as error:      # or pinakes.Error, or core.errors.TableNotFound
        error.code                                 # 'TABLE_NOT_FOUND'

It is the engine's own error, with its message, position, cause and traceback; `raising` only changes its class to one
that derives from both, which is made once per kind and named like the engine's. `KINDS` says which class of PEP 249
each kind of error belongs to; a kind that is not in it belongs to where its parent does.

    Warning
    Error
    ├── InterfaceError
    └── DatabaseError
        ├── DataError            the data and the query do not go together
        ├── OperationalError     canceled, out of time or memory, unreachable, a conflict: may work another time
        ├── IntegrityError       a constraint does not hold
        ├── InternalError        a bug of ours
        ├── ProgrammingError     the statement is wrong, or names what is not there
        └── NotSupportedError
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from pinakes.core import errors as core


class Warning(builtins.Warning):
    """What a statement wants to be known although it was carried out; given through Python's `warnings`."""


class Error(Exception):
    """The base of all errors. Those of the engine have a `code`, a `message` and where there is one a `position`."""


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
    """Errors of the engine leave this as errors of PEP 249, too."""
    try:
        yield
    except core.PinakesError as error:
        if not isinstance(error, Error):
            error.__class__ = joined(type(error))
        raise


def joined(kind: type[core.PinakesError]) -> type[core.PinakesError]:
    """The class that is both this kind of error and PEP 249's class for it."""
    if kind not in _joined:
        _joined[kind] = _made(kind)
    return _joined[kind]


def _made(kind: type[core.PinakesError]) -> type[core.PinakesError]:
    broad = next(KINDS[parent] for parent in kind.__mro__ if parent in KINDS)
    names = {"__module__": __name__, "__qualname__": kind.__name__, "__doc__": kind.__doc__, "__reduce__": _reduce}
    return type(kind.__name__, (kind, broad), names)


def _reduce(error: core.PinakesError) -> tuple[object, ...]:
    """How pickle keeps it: classes that are made at run time cannot be found by their name."""
    return _restored, (type(error).__mro__[1], error.message, error.position)


def _restored(kind: type[core.PinakesError], message: str, position: core.Position | None) -> core.PinakesError:
    return joined(kind)(message, position=position)
