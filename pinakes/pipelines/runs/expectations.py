"""Expectations about rows, checked in the same pass that writes them.

A row passes if the predicate is true, so not if it is NULL. Failed rows are counted by Spark's observed metrics; `drop`
leaves them out; `fail` stops the write at the first one, before any row is visible.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinakes.pipelines.project.model import Expectation

_STOPPED = "PINAKES_EXPECTATION:"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one expectation in one run."""

    expectation: Expectation
    passed: int
    failed: int


@dataclass(slots=True)
class Checked:
    """The rows to write, and the metrics of the write."""

    frame: Any
    source: Any = field(repr=False)
    """The rows before any are dropped."""
    expectations: tuple[Expectation, ...] = ()
    _observation: Any = field(default=None, repr=False)

    def outcomes(self, written: int) -> list[Outcome]:
        """Returns the outcomes after the write. Spark counts the rows of a repeated task again (after the loss of an
        executor), and can lose its metrics. The number of written rows shows this, and then a query counts them."""
        if not self.expectations:
            return []
        found = dict(self._observation.get)
        if found.get("kept") != written:
            found = self.count()
        return self._outcomes(found)

    def failures(self) -> list[Outcome]:
        """Returns the outcomes after the write was stopped: a query counts them."""
        return self._outcomes(self.count())

    def count(self) -> dict[str, int]:
        row = self.source.agg(*_metrics(self.expectations)).collect()[0]
        return {key: int(value) for key, value in row.asDict().items()}

    def _outcomes(self, found: dict[str, int]) -> list[Outcome]:
        total = int(found["total"])
        failed = [int(found[f"failed_{at}"]) for at in range(len(self.expectations))]
        return [Outcome(e, total - n, n) for e, n in zip(self.expectations, failed, strict=True)]


def checked(frame: Any, expectations: tuple[Expectation, ...], name: str) -> Checked:
    if not expectations:
        return Checked(frame, frame)
    from pinakes.spark.dataframes import Observation

    observation = Observation(name)
    observed = frame.observe(observation, *_metrics(expectations))
    return Checked(_kept(observed, expectations), frame, expectations, observation)


def broken(error: BaseException, expectations: tuple[Expectation, ...]) -> Expectation | None:
    """Returns the expectation that stopped a write; None if the error has another cause."""
    return next((e for e in expectations if f"{_STOPPED}{e.name}:" in str(error.__cause__ or error)), None)


def _passes(expectation: Expectation) -> Any:
    from pinakes.spark.dataframes import functions as f

    return f.coalesce(f.expr(expectation.predicate), f.lit(False))


def _metrics(expectations: tuple[Expectation, ...]) -> list[Any]:
    from pinakes.spark.dataframes import functions as f

    kept = f.lit(True)
    for expectation in expectations:
        if expectation.action == "drop":
            kept = kept & _passes(expectation)
    failed = [f.count_if(~_passes(e)).alias(f"failed_{at}") for at, e in enumerate(expectations)]
    return [f.count(f.lit(1)).alias("total"), f.count_if(kept).alias("kept"), *failed]


def _kept(frame: Any, expectations: tuple[Expectation, ...]) -> Any:
    """Filters the rows by one CASE, which is evaluated in order: a dropped row never fails the write."""
    from pinakes.spark.dataframes import functions as f

    drops = [e for e in expectations if e.action == "drop"]
    fails = [e for e in expectations if e.action == "fail"]
    if not drops and not fails:
        return frame
    condition: Any = None
    for expectation in drops:
        condition = _when(condition, ~_passes(expectation), f.lit(False))
    for expectation in fails:
        stop = f.raise_error(f.lit(f"{_STOPPED}{expectation.name}:")).cast("boolean")
        condition = _when(condition, ~_passes(expectation), stop)
    return frame.where(condition.otherwise(f.lit(True)))


def _when(before: Any, condition: Any, value: Any) -> Any:
    from pinakes.spark.dataframes import functions as f

    return f.when(condition, value) if before is None else before.when(condition, value)
