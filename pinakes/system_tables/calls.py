"""One call of a catalog on behalf of a query: on the catalog's lane, with a time-out, and with what becomes of errors.

What went wrong is a row of system.metadata.errors, and the rest is still answered; with `metadata_errors` set to 'fail'
it is raised. What is gone since it was listed is no error, nor is what the user may not load: it is not there for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from pinakes.caches.catalog import remembered
from pinakes.core.errors import (
    CatalogUnavailable,
    InternalError,
    NotFoundError,
    PermissionDenied,
    PinakesError,
    QueryCanceled,
    QueryTimeout,
)
from pinakes.system_tables.catalog_executor import Job, TooSlow
from pinakes.system_tables.context import MountedCatalog, World
from pinakes.system_tables.metadata_errors import Fault

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class CatalogLost(Exception):
    """Nothing more is to be had of a catalog for this query."""


class Question(NamedTuple):
    """What a catalog is asked for, in words for a row of errors."""

    operation: str
    schema: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    world: World
    mount: MountedCatalog
    question: Question
    known: T | None
    """The answer, where it is remembered."""
    job: Job[T] | None

    def answer(self, default: T) -> T:
        """What the catalog said; `default` where it has nothing to say, or something went wrong."""
        if self.job is None:
            return default if self.known is None else self.known
        try:
            return self.job.result(self.world.timeout, self.world.check)
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
        except Exception as error:  # noqa: BLE001 - a catalog type of somebody's own may raise anything
            self._failed(InternalError(f"{type(error).__name__}: {error}"), cause=error)
        return default

    def _failed(self, error: PinakesError, cause: BaseException | None = None) -> None:
        operation, schema, table = self.question
        if self.world.strict:
            said = f"{error.message} (while asked to {operation}; metadata_errors is 'fail')"
            raise type(error)(said) from (cause or error)
        who = self.world.identity
        names = (self.mount.name, schema, table)
        now = datetime.now(UTC)
        fault = Fault(now, who.user, who.fingerprint, *names, operation, error.code, error.message)
        self.world.faults.add(fault)
        self.world.failed.append(fault)
        log.info("catalog %s did not %s (%s): %s", self.mount.name, operation, error.code, error.message)

    def _slow(self, slow: TooSlow) -> CatalogUnavailable:
        name, limit = self.mount.name, f"the metadata_timeout of {self.world.timeout:g} s"
        if slow.stuck:
            return CatalogUnavailable(f"catalog '{name}' answered nothing any more within {limit} and was left out")
        operation, schema, table = self.question
        where = ".".join(part for part in (schema, table) if part)
        asked = f"{operation} {where}" if table else f"{operation} of {where}" if where else operation
        return CatalogUnavailable(f"catalog '{name}' took longer than {limit} to {asked}")


def ask(
    world: World,
    mount: MountedCatalog,
    question: Question,
    method: Callable[P, T],
    *arguments: P.args,
    **named: P.kwargs,
) -> Call[T]:
    """Ask a catalog, by a method of it, on its lane; what is remembered is not asked for. `answer` waits."""
    known = remembered(method, *arguments, **named)
    if known is not None:
        return Call(world, mount, question, known, None)
    return Call(world, mount, question, None, world.lanes.submit(mount.lane, partial(method, *arguments, **named)))
