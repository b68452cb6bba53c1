"""One call of a catalog on behalf of a query: on the catalog's executor, with a timeout and error handling.

An error becomes a row of system.metadata.errors, and the other rows are still returned; with `metadata_errors` set to
'fail' it is raised. An object that was dropped since it was listed is not an error, nor is one that the user may not
load: it is not visible to them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from pinakes.caches.caching_catalog import peek_cached
from pinakes.core.errors import (
    CatalogUnavailable,
    InternalError,
    NotFoundError,
    PermissionDenied,
    PinakesError,
    QueryCanceled,
    QueryTimeout,
)
from pinakes.system_tables.catalog_metadata.errors import Fault
from pinakes.system_tables.catalog_metadata.executor import Job, TooSlow
from pinakes.system_tables.context import MountedCatalog, SystemContext

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class CatalogLost(Exception):
    """The catalog is not used any more for this query."""


class Question(NamedTuple):
    """The description of a call, for a row of system.metadata.errors."""

    operation: str
    schema: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    context: SystemContext
    mount: MountedCatalog
    question: Question
    known: T | None
    """The result, if it is cached."""
    job: Job[T] | None

    def answer(self, default: T) -> T:
        """Returns the result; `default` if the object does not exist or an error occurred."""
        if self.job is None:
            return default if self.known is None else self.known
        try:
            return self.job.result(self.context.timeout, self.context.check)
        except TooSlow as slow:
            self._failed(self._slow(slow))
            if slow.stuck:
                raise CatalogLost from None
        except (QueryCanceled, QueryTimeout):
            raise
        except NotFoundError:
            pass
        except PermissionDenied as error:
            if self.question.table is None:
                self._failed(error)
        except PinakesError as error:
            self._failed(error)
        except Exception as error:  # noqa: BLE001 - a third-party catalog type may raise anything
            self._failed(InternalError(f"{type(error).__name__}: {error}"), cause=error)
        return default

    def _failed(self, error: PinakesError, cause: BaseException | None = None) -> None:
        operation, schema, table = self.question
        if self.context.strict:
            said = f"{error.message} (while trying to {operation}; metadata_errors is 'fail')"
            raise type(error)(said) from (cause or error)
        who = self.context.identity
        names = (self.mount.name, schema, table)
        now = datetime.now(UTC)
        fault = Fault(now, who.user, who.fingerprint, *names, operation, error.code, error.message)
        self.context.faults.add(fault)
        self.context.failed.append(fault)
        log.info("catalog %s did not %s (%s): %s", self.mount.name, operation, error.code, error.message)

    def _slow(self, slow: TooSlow) -> CatalogUnavailable:
        name, limit = self.mount.name, f"the metadata_timeout of {self.context.timeout:g} s"
        if slow.stuck:
            return CatalogUnavailable(f"catalog '{name}' answered nothing any more within {limit} and was left out")
        operation, schema, table = self.question
        where = ".".join(part for part in (schema, table) if part)
        work = f"{operation} {where}" if table else f"{operation} of {where}" if where else operation
        return CatalogUnavailable(f"catalog '{name}' took longer than {limit} to {work}")


def start_call(
    context: SystemContext,
    mount: MountedCatalog,
    question: Question,
    method: Callable[P, T],
    *arguments: P.args,
    **named: P.kwargs,
) -> Call[T]:
    """Calls a method of a catalog on its executor, unless the result is cached. `answer` waits for the result."""
    known = peek_cached(method, *arguments, **named)
    if known is not None:
        return Call(context, mount, question, known, None)
    return Call(
        context,
        mount,
        question,
        None,
        context.executor.submit(mount.executor_key, partial(method, *arguments, **named)),
    )
