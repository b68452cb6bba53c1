"""One statement on its way: who runs it, its tracker record, its parameters. Handlers get this and their statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pinakes.core.errors import InvalidArgument, OutOfMemory, PermissionDenied, listing
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_metrics import summary_of, work_of
from pinakes.engine.planning.plan_schema import schema_of_plan
from pinakes.engine.pushdown.scan_pushdown import Plans
from pinakes.engine.result import Result

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.binding.resolver import Resolver
    from pinakes.engine.binding.session_relations import Lookup
    from pinakes.engine.execution.tracker import Query
    from pinakes.engine.files.paths import File, Finder
    from pinakes.engine.files.stores import Stores
    from pinakes.engine.iceberg.scan.file_integrity import Lookout, Remote
    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.session import Session


MOST_BYTES = 1 << 26
"""Of texts in a batch of a result."""
MOST_OF_ROW = 1 << 30


@dataclass(slots=True)
class Execution:
    session: Session
    query: Query
    text: str
    """The user's text; never logged."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lookup: Lookup | None = None
    """Asked for names that neither the session nor a catalog has."""
    files: list[File] = field(default_factory=list)
    """The files that the statement reads by their paths."""
    statistics: bool = True
    """Whether DataFusion may use the statistics of files (`engine/files/parquet.py`)."""
    plans: Plans = field(default_factory=Plans)
    """The plans that are narrowed to the files that can match, before they are run."""
    unbound: bool = False
    """The statement is only described: its parameters have no values."""

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

    def finder(self) -> Finder:
        """Finds files; those that it finds are checked when rows were read (`engine/files/stamps.py`)."""
        from pinakes.engine.files.paths import Finder

        return Finder(self.session.guard.files, self.query.check, self.files, self.stores)

    def stores(self) -> Stores:
        """The object stores that the session's user has secrets for, as these are now."""
        from pinakes.engine.files.stores import Stores

        return Stores(self.session.engine.secrets, self.session.guard)

    def stream(self, frame: DataFrame) -> Result:
        """The rows of a plan as they come."""
        frame, schema = self.ready(frame)
        return Result(schema, self.read(frame, schema))

    def batches(self, frame: DataFrame) -> Iterator[pa.RecordBatch]:
        """The batches of a plan; each wait can be interrupted by cancel or by the statement's time-out."""
        yield from self.read(*self.ready(frame))

    def ready(self, frame: DataFrame) -> tuple[DataFrame, pa.Schema]:
        """The plan that is run, and the schema of its rows."""
        with self.query.phase("plan"), translated():
            optimized = frame.optimized_logical_plan()
            self.query.planned(summary_of(optimized))
            frame = self.plans.stoppable(frame, optimized, self.session)
        computed = self._computed(frame, optimized)
        with self.query.phase("plan"), translated():
            narrowed = self.plans.narrowed(frame, optimized, self.session, self.query, computed)
            return narrowed, schema_of_plan(optimized)

    def _computed(self, frame: DataFrame, optimized: LogicalPlan) -> dict[Key, Relation]:
        """The subqueries that a plan reads several times and that are computed once, now."""
        relations = self.plans.sharing(frame)
        if relations is None:
            return {}
        from pinakes.engine.planning.optimize.compute import compute

        return compute(self, relations, optimized)

    def read(self, frame: DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The batches of a plan that is ready."""
        self._check_files(first=True)
        with self._blaming_files(), translated():
            stream = [self._started(frame)]
        measure = partial(work_of, frame)
        self.query.works(measure)
        remote = self.plans.remote()
        lookout = self._lookout(remote)
        try:
            with self._blaming_files(), translated(), self._blaming_stores(remote):
                while (batch := self.query.interruptible(lambda: next(stream[0], None))) is not None:
                    yield from _as(batch.to_pyarrow(), schema)
                if lookout is not None:
                    self.query.interruptible(lookout.wait)
            self._check_files()
        finally:
            if lookout is not None:
                lookout.close()
            # Dropping the stream is what stops DataFusion's work. An error's traceback must not keep it alive: so it
            # stands in a list, and it is the native one, since the frames of the other's methods would hold it, too.
            stream.clear()
            self.query.worked(measure)

    def _started(self, frame: DataFrame) -> Any:
        """The native stream of a plan that runs. Keys that a catalog lent and that ended are asked for anew, once."""
        try:
            with self._blaming_stores(self.plans.remote()):
                return self.query.interruptible(frame.execute_stream).rbs
        except PermissionDenied:
            again = self.plans.renewed(frame, self.session, self.query)
            if again is None:
                raise
        with self._blaming_stores(self.plans.remote()):
            return self.query.interruptible(again.execute_stream).rbs

    def _lookout(self, remote: list[Remote]) -> Lookout | None:
        if not remote:
            return None
        from pinakes.engine.iceberg.scan.file_integrity import Lookout

        return Lookout(remote)

    def _blaming_stores(self, remote: list[Remote]) -> AbstractContextManager[None]:
        if not remote:
            return nullcontext()
        from pinakes.engine.iceberg.scan.error_attribution import blaming

        return blaming(remote)

    def _check_files(self, *, first: bool = False) -> None:
        """They must be there, and whole, from the first row to the last."""
        self.plans.check_first() if first else self.plans.check()
        if self.files:
            from pinakes.engine.files.stamps import check_unchanged

            check_unchanged(self.files)

    def _blaming_files(self) -> AbstractContextManager[None]:
        """Errors of files that DataFusion reads name the file, be it of a table or in the query itself."""
        if self.files:
            from pinakes.engine.files import blame

            return blame.blaming(self.files, self.query.check)
        if not self.plans.has_local:
            return nullcontext()
        from pinakes.engine.iceberg.scan import damaged_files as damaged

        return damaged.blaming(self.plans.local, self.query.check)

    def collect(self, frame: DataFrame) -> pa.Table:
        frame, schema = self.ready(frame)
        return pa.Table.from_batches(list(self.read(frame, schema)), schema=schema)


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
