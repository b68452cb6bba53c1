"""Translates pyiceberg's exceptions. Imported only when one was raised: see `translated` in `adapter.py`."""

from __future__ import annotations

from dataclasses import dataclass

from pyiceberg import exceptions as theirs

from pinakes.core import errors as ours
from pinakes.core.names import Namespace, dotted
from pinakes.providers.foreign_errors import summarize, translate_foreign


@dataclass(frozen=True, slots=True)
class Subject:
    """The object of a request: a table or view ("table", namespace, name), or a namespace if the name is empty."""

    what: str
    namespace: Namespace
    name: str = ""

    @property
    def full(self) -> str:
        return dotted((*self.namespace, self.name) if self.name else self.namespace)

    def __str__(self) -> str:
        return f"{self.what} {self.full}".rstrip()


def translate(error: Exception, subject: Subject, target: Subject) -> ours.PinakesError:
    """Returns the corresponding error. `target` is the new name of a rename, else the same as `subject`."""
    error = summarize(error)
    return (
        _missing_or_taken(error, subject, target)
        or translate_foreign(error, subject)
        or _about_state(error, subject)
        or _about_request(error, subject)
    )


def _missing_or_taken(error: Exception, subject: Subject, target: Subject) -> ours.PinakesError | None:
    match error:
        case theirs.NoSuchTableError() if not subject.full:  # in a transaction, only the error names the table
            return ours.TableNotFound(str(error))
        case theirs.TableAlreadyExistsError() if not target.full:
            return ours.TableExists(str(error))
        case theirs.NoSuchTableError():
            return ours.TableNotFound(f"table {subject.full} does not exist")
        case theirs.NoSuchViewError():
            return ours.ViewNotFound(f"view {subject.full} does not exist")
        case theirs.NoSuchNamespaceError():
            return ours.NamespaceNotFound(f"namespace {dotted(target.namespace)} does not exist")
        case theirs.NoSuchIdentifierError():
            return ours.NotFoundError(f"{subject} does not exist")
        case theirs.TableAlreadyExistsError():
            return ours.TableExists(f"a table named {target.full} already exists")
        case theirs.ViewAlreadyExistsError():
            return ours.ViewExists(f"a view named {target.full} already exists")
        case theirs.NamespaceAlreadyExistsError():
            return ours.NamespaceExists(f"namespace {dotted(subject.namespace)} already exists")
        case theirs.NamespaceNotEmptyError():
            return ours.NamespaceNotEmpty(f"namespace {dotted(subject.namespace)} is not empty")
    return None


def _about_state(error: Exception, subject: Subject) -> ours.PinakesError | None:
    """Translates errors about the state of the catalog or its files: changed meanwhile, unreachable, damaged."""
    match error:
        case theirs.CommitFailedException() | theirs.ValidationException() | theirs.WaitingForLockException():
            return ours.CommitConflict(f"{subject} was changed by another writer: {error}. Run the statement again.")
        case theirs.CommitStateUnknownException():
            return ours.CommitUnknown(
                f"{subject}: it is unknown whether the change happened; check before you repeat it. {error}".rstrip(
                    " ."
                )
            )
        case theirs.UnauthorizedError() | theirs.ForbiddenError() | theirs.AuthorizationExpiredError():
            return ours.PermissionDenied(f"{subject}: the catalog refused: {error}")
        case theirs.OAuthError() | theirs.SignError() | PermissionError():
            return ours.PermissionDenied(f"{subject}: access was refused: {error}")
        case theirs.BadRequestError():
            said = str(error).removeprefix("BadRequestError: RestError: ")
            return ours.InvalidArgument(f"{subject}: the catalog refused the request: {said}")
        case theirs.RESTError() | theirs.DynamoDbError():
            return ours.CatalogUnavailable(f"{subject}: the catalog failed: {error}")
        case FileNotFoundError():
            return ours.DataCorrupt(f"{subject} is damaged: a file of it is missing: {error}")
        case OSError():  # including the errors of `requests`
            return ours.CatalogUnavailable(f"{subject}: {error}")
    return None


def _about_request(error: Exception, subject: Subject) -> ours.PinakesError:
    """Translates errors about the request: it is invalid or not supported, or the error is unexpected."""
    match error:
        case NotImplementedError():
            return ours.NotSupportedError(f"{subject}: {error or 'this kind of catalog does not support it'}")
        case theirs.NotInstalledError() | ModuleNotFoundError():
            return ours.NotSupportedError(f"{subject}: a package is missing: {error}")
        case theirs.ValidationError() | theirs.ResolveError() | theirs.NoSuchPropertyException() | ValueError():
            return ours.InvalidArgument(f"{subject}: {error}")
    return ours.InternalError(f"{subject}: {type(error).__name__}: {error}")
