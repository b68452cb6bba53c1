"""All errors that users see, each with a stable code.

    PinakesError
    ├── ParseError                PARSE_ERROR              (line, column and the marked text)
    ├── NotSupportedError         NOT_SUPPORTED
    ├── NotFoundError             NOT_FOUND                (the name, and the existing ones)
    │   ├── CatalogNotFound       CATALOG_NOT_FOUND
    │   ├── NamespaceNotFound     NAMESPACE_NOT_FOUND
    │   ├── TableNotFound         TABLE_NOT_FOUND
    │   ├── ViewNotFound          VIEW_NOT_FOUND
    │   ├── ColumnNotFound        COLUMN_NOT_FOUND
    │   ├── FileNotFound          FILE_NOT_FOUND
    │   ├── FunctionNotFound      FUNCTION_NOT_FOUND
    │   ├── TypeNotFound          TYPE_NOT_FOUND
    │   ├── OptionNotFound        OPTION_NOT_FOUND
    │   ├── SettingNotFound       SETTING_NOT_FOUND
    │   ├── SecretNotFound        SECRET_NOT_FOUND
    │   ├── ProcedureNotFound     PROCEDURE_NOT_FOUND
    │   ├── ConstraintNotFound    CONSTRAINT_NOT_FOUND
    │   ├── VersionNotFound       VERSION_NOT_FOUND        (of a table: a snapshot, a branch, a tag, a time)
    │   └── PreparedNotFound      PREPARED_NOT_FOUND
    ├── AlreadyExistsError        ALREADY_EXISTS
    │   ├── CatalogExists         CATALOG_EXISTS
    │   ├── NamespaceExists       NAMESPACE_EXISTS
    │   ├── TableExists           TABLE_EXISTS
    │   ├── ViewExists            VIEW_EXISTS
    │   ├── ColumnExists          COLUMN_EXISTS
    │   ├── FunctionExists        FUNCTION_EXISTS
    │   ├── ConstraintExists      CONSTRAINT_EXISTS
    │   ├── VersionExists         VERSION_EXISTS           (a branch or a tag)
    │   └── SecretExists          SECRET_EXISTS
    ├── AmbiguousName             AMBIGUOUS_NAME
    ├── InvalidArgument           INVALID_ARGUMENT
    ├── TypeMismatch              TYPE_MISMATCH
    ├── ConstraintViolation       CONSTRAINT_VIOLATION
    │   └── CheckViolation        CHECK_VIOLATION          (a row does not satisfy a CHECK)
    ├── NamespaceNotEmpty         NAMESPACE_NOT_EMPTY
    ├── SecretInUse               SECRET_IN_USE            (catalogs are attached with it)
    ├── SecretUnreadable          SECRET_UNREADABLE        (a persistent secret can't be decrypted)
    ├── CommitConflict            COMMIT_CONFLICT
    ├── CommitUnknown             COMMIT_UNKNOWN           (the outcome of the commit is unknown)
    ├── TransactionAborted        TRANSACTION_ABORTED      (a statement failed: only ROLLBACK is allowed)
    ├── PermissionDenied          PERMISSION_DENIED
    ├── QueryCanceled             QUERY_CANCELED
    ├── QueryTimeout              QUERY_TIMEOUT
    ├── OutOfMemory               OUT_OF_MEMORY
    ├── ServerBusy                SERVER_BUSY              (too many statements, or the server is shutting down)
    ├── WriteFailed               WRITE_FAILED             (a file or the output could not be written)
    ├── ExecutionError            EXECUTION_ERROR          (the query failed on the data)
    │   └── NumericOutOfRange     NUMERIC_VALUE_OUT_OF_RANGE (a number does not fit its type)
    ├── CatalogUnavailable        CATALOG_UNAVAILABLE
    ├── DataCorrupt               DATA_CORRUPT
    ├── ServerUnavailable         SERVER_UNAVAILABLE       (unreachable, or the connection broke)
    ├── SessionLost               SESSION_LOST             (the server closed it, or was restarted)
    ├── NotAuthenticated          UNAUTHENTICATED          (unknown user, password or token)
    ├── PipelineInvalid           PIPELINE_INVALID         (its files are invalid: nothing was run)
    ├── PipelineFailed            PIPELINE_FAILED          (a table could not be updated: it keeps its last state)
    ├── ConfigError               CONFIG_ERROR
    └── InternalError             INTERNAL_ERROR           (a bug in pinakes)

A message says what is wrong, what exists and what to do. Exceptions of libraries are translated where the library is
called, with the original kept as `__cause__`; no traceback reaches a user.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pinakes.core.output.terminal_text import printable

WIDEST = 300
"""Maximum characters of the marked line, since statements may be very long lines."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a statement: 1-based line and column, and the line."""

    line: int
    column: int
    text: str

    @classmethod
    def of(cls, sql: str, offset: int) -> Position:
        """Returns the position of a character offset in `sql`."""
        offset = max(0, min(offset, len(sql)))
        start = sql.rfind("\n", 0, offset) + 1
        end = sql.find("\n", offset)
        return cls(sql.count("\n", 0, offset) + 1, offset - start + 1, sql[start : end if end >= 0 else len(sql)])

    def marked(self) -> str:
        """Returns the line with a caret below the column; a long line is shortened around the caret."""
        start = max(0, self.column - 1 - WIDEST // 2) if len(self.text) > WIDEST else 0
        end = start + WIDEST
        text = ("…" if start else "") + self.text[start:end] + ("…" if end < len(self.text) else "")
        before = text[: self.column - 1 - start + (1 if start else 0)]
        pad = "".join("\t" if c == "\t" else " " for c in before)
        return f"{text}\n{pad}^"


LONGEST_MESSAGE = 20_000
"""Characters of a message."""


class PinakesError(Exception):
    """The base class: a stable code, a message and an optional position in the statement."""

    code: ClassVar[str] = "ERROR"

    def __init__(self, message: str, *, position: Position | None = None) -> None:
        if len(message) > LONGEST_MESSAGE:  # a remote catalog may have chosen it; errors are kept and logged
            message = f"{message[:LONGEST_MESSAGE]}…"
        super().__init__(message)
        self.message = message
        self.position = position

    def __str__(self) -> str:
        if self.position is None:
            return self.message
        place = f"line {self.position.line}, column {self.position.column}"
        return f"{self.message} ({place})\n{self.position.marked()}"

    def render(self, start: tuple[int, int] = (1, 1)) -> str:
        """Returns `CODE: message` for a terminal, with the marked line if there is a position. `start` is the line and
        column at which the statement begins, so that positions refer to the script.
        """
        at = self.position
        if at is None:
            return printable(f"{self.code}: {self.message}")
        line, column = start[0] + at.line - 1, at.column + (start[1] - 1 if at.line == 1 else 0)
        return printable(f"{self.code}: {self.message} (line {line}, column {column})\n{at.marked()}")


class ParseError(PinakesError):
    code = "PARSE_ERROR"


class NotSupportedError(PinakesError):
    code = "NOT_SUPPORTED"


class NotFoundError(PinakesError):
    code = "NOT_FOUND"


class CatalogNotFound(NotFoundError):
    code = "CATALOG_NOT_FOUND"


class NamespaceNotFound(NotFoundError):
    code = "NAMESPACE_NOT_FOUND"


class TableNotFound(NotFoundError):
    code = "TABLE_NOT_FOUND"


class ViewNotFound(NotFoundError):
    code = "VIEW_NOT_FOUND"


class ColumnNotFound(NotFoundError):
    code = "COLUMN_NOT_FOUND"


class FileNotFound(NotFoundError):
    code = "FILE_NOT_FOUND"


class FunctionNotFound(NotFoundError):
    code = "FUNCTION_NOT_FOUND"


class TypeNotFound(NotFoundError):
    code = "TYPE_NOT_FOUND"


class OptionNotFound(NotFoundError):
    code = "OPTION_NOT_FOUND"


class SettingNotFound(NotFoundError):
    code = "SETTING_NOT_FOUND"


class SecretNotFound(NotFoundError):
    code = "SECRET_NOT_FOUND"


class ProcedureNotFound(NotFoundError):
    code = "PROCEDURE_NOT_FOUND"


class ConstraintNotFound(NotFoundError):
    code = "CONSTRAINT_NOT_FOUND"


class VersionNotFound(NotFoundError):
    code = "VERSION_NOT_FOUND"


class PreparedNotFound(NotFoundError):
    code = "PREPARED_NOT_FOUND"


class AlreadyExistsError(PinakesError):
    code = "ALREADY_EXISTS"


class CatalogExists(AlreadyExistsError):
    code = "CATALOG_EXISTS"


class NamespaceExists(AlreadyExistsError):
    code = "NAMESPACE_EXISTS"


class TableExists(AlreadyExistsError):
    code = "TABLE_EXISTS"


class ViewExists(AlreadyExistsError):
    code = "VIEW_EXISTS"


class ColumnExists(AlreadyExistsError):
    code = "COLUMN_EXISTS"


class ConstraintExists(AlreadyExistsError):
    code = "CONSTRAINT_EXISTS"


class FunctionExists(AlreadyExistsError):
    code = "FUNCTION_EXISTS"


class VersionExists(AlreadyExistsError):
    code = "VERSION_EXISTS"


class SecretExists(AlreadyExistsError):
    code = "SECRET_EXISTS"


class AmbiguousName(PinakesError):
    code = "AMBIGUOUS_NAME"


class InvalidArgument(PinakesError):
    code = "INVALID_ARGUMENT"


class TypeMismatch(PinakesError):
    code = "TYPE_MISMATCH"


class ConstraintViolation(PinakesError):
    code = "CONSTRAINT_VIOLATION"


class CheckViolation(ConstraintViolation):
    code = "CHECK_VIOLATION"


class NamespaceNotEmpty(PinakesError):
    code = "NAMESPACE_NOT_EMPTY"


class SecretInUse(PinakesError):
    code = "SECRET_IN_USE"


class SecretUnreadable(PinakesError):
    code = "SECRET_UNREADABLE"


class CommitConflict(PinakesError):
    code = "COMMIT_CONFLICT"


class CommitUnknown(PinakesError):
    """The catalog did not report whether a commit succeeded: its files may be live, so none is removed."""

    code = "COMMIT_UNKNOWN"


class TransactionAborted(PinakesError):
    code = "TRANSACTION_ABORTED"


class PermissionDenied(PinakesError):
    code = "PERMISSION_DENIED"


class QueryCanceled(PinakesError):
    code = "QUERY_CANCELED"


class QueryTimeout(PinakesError):
    code = "QUERY_TIMEOUT"


class OutOfMemory(PinakesError):
    code = "OUT_OF_MEMORY"


class ServerBusy(PinakesError):
    code = "SERVER_BUSY"


class WriteFailed(PinakesError):
    code = "WRITE_FAILED"


class ExecutionError(PinakesError):
    code = "EXECUTION_ERROR"


class NumericOutOfRange(ExecutionError):
    code = "NUMERIC_VALUE_OUT_OF_RANGE"


class CatalogUnavailable(PinakesError):
    code = "CATALOG_UNAVAILABLE"


class DataCorrupt(PinakesError):
    code = "DATA_CORRUPT"


class ServerUnavailable(PinakesError):
    code = "SERVER_UNAVAILABLE"


class SessionLost(PinakesError):
    """The statement was not run, because its session no longer exists; the namespace, settings and transaction are
    lost.
    """

    code = "SESSION_LOST"


class NotAuthenticated(PinakesError):
    code = "UNAUTHENTICATED"


class PipelineInvalid(PinakesError):
    code = "PIPELINE_INVALID"


class PipelineFailed(PinakesError):
    code = "PIPELINE_FAILED"


class ConfigError(PinakesError):
    code = "CONFIG_ERROR"


class InternalError(PinakesError):
    code = "INTERNAL_ERROR"


def listing(names: Iterable[str], most: int = 10) -> str:
    """Formats names for an error message: the first few and the number of the remaining ones; "none" for no names."""
    found = sorted(names)
    if not found:
        return "none"
    rest = len(found) - most
    shown = (name if len(name) <= 100 else f"{name[:100]}…" for name in found[:most])
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")
