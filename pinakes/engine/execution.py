"""One statement on its way: who runs it, its tracker record, its parameters. Handlers get this and their statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.engine.errors import translated
from pinakes.engine.narrowing import Plans
from pinakes.engine.result import Result
from pinakes.engine.schemas import schema_of_plan

if TYPE_CHECKING:
    from datafusion import DataFrame

    from pinakes.engine.files.paths import File, Finder
    from pinakes.engine.files.stores import Stores
    from pinakes.engine.planner import Planner
    from pinakes.engine.session import Session
    from pinakes.engine.temporary import Lookup
    from pinakes.engine.tracker import Query


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

    def planner(self) -> Planner:
        from pinakes.engine.planner import Planner

        return Planner(self, self.session.resolver)

    def finder(self) -> Finder:
        """Finds files; those that it finds are checked when rows were read (`engine/files/stamps.py`)."""
        from pinakes.engine.files.paths import Finder

        return Finder(self.session.engine.files, self.query.check, self.files, self.stores)

    def stores(self) -> Stores:
        """The object stores that the session's user has secrets for, as these are now."""
        from pinakes.engine.files.stores import Stores

        return Stores(self.session.engine.secrets, self.session.identity)

    def stream(self, frame: DataFrame) -> Result:
        """The rows of a plan as they come."""
        frame, schema = self._ready(frame)
        return Result(schema, self._batches(frame, schema))

    def batches(self, frame: DataFrame) -> Iterator[pa.RecordBatch]:
        """The batches of a plan; each wait can be interrupted by cancel or by the statement's time-out."""
        yield from self._batches(*self._ready(frame))

    def _ready(self, frame: DataFrame) -> tuple[DataFrame, pa.Schema]:
        """The plan that is run, and the schema of its rows."""
        with self.query.phase("plan"), translated():
            optimized = frame.optimized_logical_plan()
            return self.plans.narrowed(frame, optimized, self.session), schema_of_plan(optimized)

    def _batches(self, frame: DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        self._check_files()
        with self._blaming_files(), translated():
            stream = [self.query.interruptible(frame.execute_stream).rbs]
        try:
            with self._blaming_files(), translated():
                while (batch := self.query.interruptible(lambda: next(stream[0], None))) is not None:
                    yield _as(batch.to_pyarrow(), schema)
            self._check_files()
        finally:
            # Dropping the stream is what stops DataFusion's work. An error's traceback must not keep it alive: so it
            # stands in a list, and it is the native one, since the frames of the other's methods would hold it, too.
            stream.clear()

    def _check_files(self) -> None:
        """They must be there, and whole, from the first row to the last."""
        self.plans.check()
        if self.files:
            from pinakes.engine.files.stamps import check_unchanged

            check_unchanged(self.files)

    def _blaming_files(self) -> AbstractContextManager[None]:
        if not self.files:
            return nullcontext()
        from pinakes.engine.files.blame import blaming

        return blaming(self.files, self.query.check)

    def collect(self, frame: DataFrame) -> pa.Table:
        frame, schema = self._ready(frame)
        return pa.Table.from_batches(list(self._batches(frame, schema)), schema=schema)


def _as(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch under the planned schema: execution may refine nullability or string representation."""
    if batch.schema.equals(schema):
        return batch
    columns = [c if c.type == f.type else c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
