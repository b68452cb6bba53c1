"""One statement on its way: who runs it, its tracker record, its parameters. Handlers get this and their statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pinakes.core.engines import HERE, Choice
from pinakes.core.errors import InvalidArgument, OutOfMemory, PermissionDenied, listing
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_metrics import work_of
from pinakes.engine.planning.prepare import prepare, renewed
from pinakes.engine.result import Result

if TYPE_CHECKING:
    from pinakes.engine.binding.resolver import Resolver
    from pinakes.engine.binding.session_relations import Lookup
    from pinakes.engine.execution.tracker import Query
    from pinakes.engine.files.object_stores.stores import Stores
    from pinakes.engine.files.paths import File, Finder
    from pinakes.engine.iceberg.scan.file_integrity import Lookout, Remote
    from pinakes.engine.planning.plan import ExecutablePlan, Plan
    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.session import Session
    from pinakes.providers.rest.download import Download


MOST_BYTES = 1 << 26
"""Of texts in a batch of a result."""
MOST_OF_ROW = 1 << 30


@dataclass(frozen=True, slots=True)
class Execution:
    session: Session
    query: Query
    text: str
    """The user's text; never logged."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lookup: Lookup | None = None
    """Asked for names that neither the session nor a catalog has."""
    unbound: bool = False
    """The statement is only described: its parameters have no values."""
    explain: bool = False
    """The statement is explained: small tables get a placeholder, too, and how each table was pruned is recorded."""
    dry: bool = False
    """Nothing is run: subqueries that would be computed first have no rows."""
    wide: int = 0
    """The bytes of the longest value that an earlier run had, after which it is run with smaller batches."""
    engine: Choice = HERE
    """The engine that was selected to run it."""
    scope: ExitStack = field(default_factory=ExitStack)
    """Closed when the statement ends."""

    def parameter(self, name: str) -> Any:
        """The value of a parameter of the statement."""
        if name not in self.parameters:
            raise InvalidArgument(f"parameter ${name} has no value; given: {listing(self.parameters)}")
        return self.parameters[name]

    def planner(self) -> Planner:
        from pinakes.engine.planning.planner import Planner

        return Planner(self, self.resolver)

    @property
    def resolver(self) -> Resolver:
        """Names as the session means them; the tracker is told of the catalogs that are used."""
        return self.session.resolver_for(self.query.touch)

    def finder(self, found: list[File] | None = None) -> Finder:
        """Finds files, and adds them to `found`."""
        from pinakes.engine.files.paths import Finder

        foreign = self.session.engine.admission is not None
        hostile = foreign and not self.session.identity.is_admin
        files = self.session.guard.files
        return Finder(
            files, self.query.check, found, self.stores, foreign=foreign, hostile=hostile, download=self._download
        )

    def _download(self, address: str) -> Download:
        """A file of the web, in a temporary file."""
        from pinakes.engine.files.access import PRIVATE
        from pinakes.providers.rest.download import download

        guard = self.session.guard
        guard.web()
        directory = self.session.engine.config.engine.spill_dir
        found = download(address, guard.outbound, directory, PRIVATE, self.query.check)
        self.scope.callback(found.remove)
        return found

    def stores(self) -> Stores:
        """The object stores that the session's user has secrets for, as these are now."""
        from pinakes.engine.files.object_stores.stores import Stores

        return Stores(self.session.engine.secrets, self.session.guard)

    def stream(self, plan: Plan) -> Result:
        """The rows of a plan as they come."""
        executable = prepare(plan, self)
        return Result(executable.schema, self.read(executable))

    def batches(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        """The batches of a plan; each wait can be interrupted by cancel or by the statement's time-out."""
        yield from self.read(prepare(plan, self))

    def collect(self, plan: Plan) -> pa.Table:
        executable = prepare(plan, self)
        return pa.Table.from_batches(list(self.read(executable)), schema=executable.schema)

    def read(self, plan: ExecutablePlan, *, checked: bool = False) -> Iterator[pa.RecordBatch]:
        """The batches of a plan that can be run; the data files of tables were `checked` or are checked first."""
        _check_files(plan, tables=not checked)
        stream: list[Any] = []
        lookout: Lookout | None = None
        try:
            with self._blaming_files(plan), translated():
                plan = self._start(plan, stream)
                measure = partial(work_of, plan.frame)
                self.query.works(measure)
                remote = plan.remote
                if remote:
                    from pinakes.engine.iceberg.scan.file_integrity import Lookout

                    lookout = Lookout(remote)
                with _blaming_stores(remote):
                    while (batch := self.query.interruptible(lambda: next(stream[0], None))) is not None:
                        yield from _as(batch.to_pyarrow(), plan.schema)
                    if lookout is not None:
                        self.query.interruptible(lookout.wait)
            _check_files(plan)
        finally:
            if lookout is not None:
                lookout.close()
            # Dropping the stream is what stops DataFusion's work. An error's traceback must not keep it alive: so it
            # stands in a list, and it is the native one, since the frames of the other's methods would hold it, too.
            if stream:
                stream.clear()
                self.query.worked(measure)

    def _start(self, plan: ExecutablePlan, stream: list[Any]) -> ExecutablePlan:
        """Runs a plan, and adds its native stream to `stream`. Vended credentials that have expired are renewed, once;
        the plan with them is returned."""
        try:
            with _blaming_stores(plan.remote):
                stream.append(self.query.interruptible(plan.frame.execute_stream).rbs)
                return plan
        except PermissionDenied:
            again = renewed(plan, self)
            if again is None:
                raise
        with _blaming_stores(again.remote):
            stream.append(self.query.interruptible(again.frame.execute_stream).rbs)
        return again

    def _blaming_files(self, plan: ExecutablePlan) -> AbstractContextManager[None]:
        """Errors of files that DataFusion reads name the file, be it of a table or in the query itself."""
        if plan.files:
            from pinakes.engine.files.error_attribution import attribute_errors

            return attribute_errors(plan.files, self.query.check)
        local = plan.local
        if not local:
            return nullcontext()
        from pinakes.engine.iceberg.scan import damaged_files as damaged

        return damaged.blaming(local, self.query.check)


def _blaming_stores(remote: list[Remote]) -> AbstractContextManager[None]:
    if not remote:
        return nullcontext()
    from pinakes.engine.iceberg.scan.error_attribution import blaming

    return blaming(remote)


def _check_files(plan: ExecutablePlan, *, tables: bool = True) -> None:
    """The files of a plan must be there, and whole, from the first row to the last."""
    if tables:
        plan.check()
    if plan.files:
        from pinakes.engine.files.stamps import check_unchanged

        check_unchanged(plan.files)


def _as(batch: pa.RecordBatch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The batch under the planned schema: execution may refine nullability or string representation. Rows of a join
    share their texts until they are copied here: a batch in which these are large is made into several."""
    if batch.schema.equals(schema):
        yield batch
        return
    size = sum(_viewed(column) for column in batch.columns)
    if size > MOST_BYTES:
        if batch.num_rows > 1:
            half = batch.num_rows // 2
            yield from _as(batch.slice(0, half), schema)
            yield from _as(batch.slice(half), schema)
            return
        if size > MOST_OF_ROW:
            raise OutOfMemory(f"a row of {size:,} bytes is larger than the largest allowed, {MOST_OF_ROW:,}")
    columns = [c if c.type == f.type else c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)]
    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _viewed(values: pa.Array) -> int:
    """The bytes of texts that are views, when each has a copy of its own."""
    if pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type):
        views = np.frombuffer(values.buffers()[1], np.int32)[values.offset * 4 :]
        return int(views[: len(values) * 4 : 4].sum(dtype=np.int64))
    if pa.types.is_list(values.type):
        return _viewed(values.flatten())
    if pa.types.is_struct(values.type):
        return sum(_viewed(field) for field in values.flatten())
    return 0
