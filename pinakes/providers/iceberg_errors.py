"""Translates pyiceberg's exceptions. Imported only when one was raised: see `translated` in `iceberg.py`."""

from __future__ import annotations

from dataclasses import dataclass

from pyiceberg import exceptions as theirs

from pinakes.core import errors as ours
from pinakes.core.names import Namespace, dotted
from pinakes.providers.foreign_errors import translate_foreign


@dataclass(frozen=True, slots=True)
class Asked:
    """The object of a request: a table or view ("table", namespace, name), or a namespace if the name is empty."""

    what: str
    namespace: Namespace
    name: str = ""

    @property
    def full(self) -> str:
        return dotted((*self.namespace, self.name) if self.name else self.namespace)

    def __str__(self) -> str:
        return f"{self.what} {self.full}".rstrip()


def translate(error: Exception, asked: Asked, target: Asked) -> ours.PinakesError:
    """Returns the corresponding error. `target` is the new name of a rename, else the same as `asked`."""
    return (
        _missing_or_taken(error, asked, target)
        or translate_foreign(error, asked)
        or _about_state(error, asked)
        or _about_request(error, asked)
    )


def _missing_or_taken(error: Exception, asked: Asked, target: Asked) -> ours.PinakesError | None:
    match error:
        case theirs.NoSuchTableError() if not asked.full:  # in a transaction, only the error names the table
            return ours.TableNotFound(str(error))
        case theirs.TableAlreadyExistsError() if not target.full:
            return ours.TableExists(str(error))
        case theirs.NoSuchTableError():
            return ours.TableNotFound(f"table {asked.full} does not exist")
        case theirs.NoSuchViewError():
            return ours.ViewNotFound(f"view {asked.full} does not exist")
        case theirs.NoSuchNamespaceError():
            return ours.NamespaceNotFound(f"namespace {dotted(target.namespace)} does not exist")
        case theirs.NoSuchIdentifierError():
            return ours.NotFoundError(f"{asked} does not exist")
        case theirs.TableAlreadyExistsError():
            return ours.TableExists(f"a table named {target.full} already exists")
        case theirs.ViewAlreadyExistsError():
            return ours.ViewExists(f"a view named {target.full} already exists")
        case theirs.NamespaceAlreadyExistsError():
            return ours.NamespaceExists(f"namespace {dotted(asked.namespace)} already exists")
        case theirs.NamespaceNotEmptyError():
            return ours.NamespaceNotEmpty(f"namespace {dotted(asked.namespace)} is not empty")
    return None


def _about_state(error: Exception, asked: Asked) -> ours.PinakesError | None:
    """Translates errors about the state of the catalog or its files: changed meanwhile, unreachable, damaged."""
    match error:
        case theirs.CommitFailedException() | theirs.ValidationException() | theirs.WaitingForLockException():
            return ours.CommitConflict(
                f"{asked} was changed by somebody else meanwhile: {error}. Run the statement again."
            )
        case theirs.CommitStateUnknownException():
            return ours.CommitUnknown(
                f"{asked}: nobody said whether the change happened; look before you repeat it. {error}".rstrip(" .")
            )
        case theirs.UnauthorizedError() | theirs.ForbiddenError() | theirs.AuthorizationExpiredError():
            return ours.PermissionDenied(f"{asked}: the catalog refused: {error}")
        case theirs.OAuthError() | theirs.SignError() | PermissionError():
            return ours.PermissionDenied(f"{asked}: access was refused: {error}")
        case theirs.BadRequestError():
            said = str(error).removeprefix("BadRequestError: RestError: ")
            return ours.InvalidArgument(f"{asked}: the catalog refused the request: {said}")
        case theirs.RESTError() | theirs.DynamoDbError():
            return ours.CatalogUnavailable(f"{asked}: the catalog failed: {error}")
        case FileNotFoundError():
            return ours.DataCorrupt(f"{asked} is damaged: a file of it is missing: {error}")
        case OSError():  # including the errors of `requests`
            return ours.CatalogUnavailable(f"{asked}: {error}")
    return None


def _about_request(error: Exception, asked: Asked) -> ours.PinakesError:
    """Translates errors about the request: it is invalid or not supported, or the error is unexpected."""
    match error:
        case NotImplementedError():
            return ours.NotSupportedError(f"{asked}: {error or 'this kind of catalog does not support it'}")
        case theirs.NotInstalledError() | ModuleNotFoundError():
            return ours.NotSupportedError(f"{asked}: a package is missing: {error}")
        case theirs.ValidationError() | theirs.ResolveError() | theirs.NoSuchPropertyException() | ValueError():
            return ours.InvalidArgument(f"{asked}: {error}")
    return ours.InternalError(f"{asked}: {type(error).__name__}: {error}")
