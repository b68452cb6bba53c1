"""Runs a load. Read this first.

List the files; those that the ledger does not contain form a batch, which is recorded as planned -> stage its rows and
its bad records -> record the snapshots -> publish the rows, then the bad records -> record the batch as done.

After a crash at any point the next run finds the open batch and resumes it. docs/adr/0030 explains why no row is loaded
twice or lost.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from pinakes.core.errors import CommitConflict, CommitUnknown, DataCorrupt
from pinakes.pipelines.loads.context import LoadContext
from pinakes.pipelines.loads.jdbc import Database, jdbc_jars
from pinakes.pipelines.loads.ledger import (
    ABANDONED,
    APPEND,
    DONE,
    PLANNED,
    REPLACE,
    STAGED,
    Batch,
    Event,
    History,
    Ledger,
    Staged,
)
from pinakes.pipelines.loads.model import FileSource, JdbcSource, Load, LoadResult
from pinakes.pipelines.loads.sources import Files, NewBatch, Source
from pinakes.pipelines.loads.staging import Staging, create_target, stage_batch
from pinakes.pipelines.loads.tables import Landed, Target
from pinakes.spark.jars import Jar, Jars

_ROUNDS = 5
"""Maximum number of attempts to stage a batch because something changed meanwhile."""


def run_load(context: LoadContext, load: Load, run_id: str, *, full_refresh: bool = False) -> LoadResult:
    """Loads new records, or with `full_refresh` replaces all rows of the table."""
    return _Run(context, load, run_id, _source(context, load)).run(full_refresh=full_refresh)


def jars_for(loads: Iterable[Load]) -> Jars:
    """Returns the jars that Spark needs for these loads in addition to those of their catalogs."""
    return frozenset[Jar]().union(*(jdbc_jars(load.source) for load in loads if isinstance(load.source, JdbcSource)))


def _source(context: LoadContext, load: Load) -> Source:
    if isinstance(load.source, FileSource):
        return Files(context, load, load.source)
    return Database(context, load, load.source)


class _Run:
    def __init__(self, context: LoadContext, load: Load, run_id: str, source: Source) -> None:
        self._context = context
        self._load = load
        self._run_id = run_id
        self._source = source
        self._ledger = Ledger(context.session, load.target[0])
        self._target = Target(context, load.target)
        self._bad = Target(context, load.bad_target)

    def run(self, *, full_refresh: bool) -> LoadResult:
        done: list[Batch] = []
        abandoned = 0
        while True:
            if not self._make(is_there=self._source.look()):
                return LoadResult(0, 0, 0, None)
            batch = self._planned(refresh=full_refresh and not any(b.mode == REPLACE for b in done))
            if batch is None:
                return self._result(done)
            self._context.reached("planned")
            if self._finished(batch):
                done.append(batch)
                continue
            abandoned += 1
            if abandoned == _ROUNDS:
                raise DataCorrupt(
                    f"table {self._load.name} was not loaded: files of '{self._source.shown}' change while they are "
                    f"read. Writers should rename files into place when they are complete."
                )

    def _make(self, *, is_there: bool) -> bool:
        """Whether there is a table to load; creates it when there is something to infer it from."""
        if self._target.metadata() is not None:
            self._target.ensure("")
            return True
        if not is_there and self._load.columns is None:
            return False
        create_target(self._context, self._load, self._target, self._source)
        return True

    def _result(self, done: list[Batch]) -> LoadResult:
        return LoadResult(
            sum(b.rows for b in done),
            sum(len(b.files) for b in done),
            sum(b.bad_rows for b in done),
            self._target.known().current_snapshot_id,
            tuple(b.batch for b in done),
        )

    # --- the ledger ------------------------------------------------------------------------------------------------

    def _planned(self, *, refresh: bool) -> Batch | None:
        """Returns the open batch, or a new one; None if there is nothing to load."""
        sequence = self._target.last_sequence()

        def decision(history: History) -> tuple[list[Event], Batch | None]:
            events = []
            if history.open is not None:
                if not refresh or history.open.run_id == self._run_id:
                    return [], history.open
                self._fence(history.open)
                events.append(_event(history.open, ABANDONED))
            new = self._source.new(history, self._run_id, refresh=refresh)
            if new is None:
                return [], None
            batch = _batch(new, history, sequence, self._run_id, replaces=refresh or new.replaces)
            files = [{"path": m.path, "size": m.size, "version": m.version} for m in batch.files] or [{}]
            return events + [{**_event(batch, PLANNED), **file} for file in files], batch

        return self._ledger.decide(self._target.key, self._target.uuid(), self._run_id, decision)

    def _fence(self, batch: Batch) -> None:
        """Prevents other processes from publishing an abandoned batch; a published one is replaced later."""
        for table in (self._target, self._bad):
            if table.metadata() is not None and table.landed(batch.batch) is None:
                table.ensure("")
                table.abandon(batch.batch, uuid.uuid4().hex)

    def _add_event(self, batch: Batch, state: str, **more: int | None) -> None:
        """Records a state of a batch, unless the batch has ended."""

        def decision(history: History) -> tuple[list[Event], None]:
            known = next((b for b in history.batches if b.batch == batch.batch), None)
            return ([] if known is None or not known.is_open else [{**_event(batch, state), **more}]), None

        self._ledger.decide(self._target.key, self._target.uuid(), self._run_id, decision)

    # --- a batch ---------------------------------------------------------------------------------------------------

    def _finished(self, batch: Batch) -> bool:
        """Completes a batch; returns False if it was abandoned because its files have changed."""
        for _ in range(_ROUNDS):
            landed = self._target.landed(batch.batch) or self._publish_staged(batch) or self._staged(batch)
            if landed is None:
                continue
            if landed.is_abandoned:
                self._add_event(batch, ABANDONED)
                return False
            self._close(batch)
            return True
        raise CommitConflict(
            f"table {self._load.name} was changed by others each of the {_ROUNDS} times that it was to be replaced. "
            f"Run the pipeline again when there is less going on."
        )

    def _staged(self, batch: Batch) -> Landed | None:
        """Stages a batch for the next round to publish. Abandons a batch whose files have changed."""
        self._check_known(batch)
        if not self._source.is_intact(batch):
            return self._target.abandon(batch.batch, uuid.uuid4().hex)
        staging = Staging(self._context, self._load, self._target, self._bad, batch, self._run_id)
        staged = stage_batch(staging, self._source)
        self._source.look()
        if not self._source.is_intact(batch):
            return self._target.abandon(batch.batch, uuid.uuid4().hex)
        self._context.reached("checked")
        self._record(batch, staged)
        return None

    def _record(self, batch: Batch, staged: Staged) -> None:
        batch.staged.append(staged)
        self._add_event(
            batch,
            STAGED,
            snapshot_id=staged.snapshot_id,
            bad_snapshot_id=staged.bad_snapshot_id,
            rows=staged.rows,
            bad_rows=staged.bad_rows,
        )
        self._context.reached("recorded")

    def _publish_staged(self, batch: Batch) -> Landed | None:
        """Publishes the staged snapshot if it still exists and can be published."""
        for staged in reversed(batch.staged):
            if self._target.has(staged.snapshot_id):
                landed = self._target.publish(staged.snapshot_id, batch.batch)
                if landed is not None:
                    return landed
        return None

    def _close(self, batch: Batch) -> None:
        """Publishes the staged bad records and records the batch as done. Its rows are in the table already."""
        self._context.reached("published")
        self._learn(batch)
        kept = [staged for staged in batch.staged if staged.bad_snapshot_id is not None]
        if kept and self._bad.landed(batch.batch) is None:
            there = next((s for s in kept if self._bad.has(s.bad_snapshot_id)), None)
            if there is None or self._bad.publish(there.bad_snapshot_id or 0, batch.batch) is None:
                raise CommitUnknown(
                    f"the rows of batch {batch.batch} are in {self._load.name}, but its bad records can't be published "
                    f"in {self._bad.shown}: their snapshot was expired, or the table was changed by others. Load all "
                    f"again with --full-refresh."
                )
        self._context.reached("published bad")
        if batch.staged:
            batch.rows, batch.bad_rows = batch.staged[-1].rows, batch.staged[-1].bad_rows
        self._add_event(batch, DONE, rows=batch.rows, bad_rows=batch.bad_rows)
        self._context.reached("done")

    def _learn(self, batch: Batch) -> None:
        """Adds the snapshots that other processes have recorded for the batch: the process that published its rows has
        recorded its bad records before."""
        history = self._ledger.history(self._target.key, self._target.uuid())
        known = next((b for b in history.batches if b.batch == batch.batch), None)
        if known is not None:
            batch.staged += [staged for staged in known.staged if staged not in batch.staged]

    def _check_known(self, batch: Batch) -> None:
        if not self._target.is_whole_since(batch.base_sequence):
            raise CommitUnknown(
                f"a load of {self._load.name} was interrupted (batch {batch.batch}), and snapshots that the table got "
                f"since were expired: it is unknown whether its rows are in the table. Load everything again with "
                f"--full-refresh."
            )


def _batch(new: NewBatch, history: History, sequence: int, run_id: str, *, replaces: bool) -> Batch:
    return Batch(
        uuid.uuid4().hex,
        history.next_number,
        history.generation + 1 if replaces else history.generation,
        REPLACE if replaces else APPEND,
        sequence,
        run_id,
        list(new.files),
        new.cursor_from,
        new.cursor_to,
    )


def _event(batch: Batch, state: str) -> Event:
    return {
        "batch": batch.batch,
        "number": batch.number,
        "generation": batch.generation,
        "mode": batch.mode,
        "state": state,
        "base_sequence": batch.base_sequence,
        "cursor_from": batch.cursor_from,
        "cursor_to": batch.cursor_to,
    }
