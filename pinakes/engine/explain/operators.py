"""The operators of DataFusion's physical plan, with estimates and, after execution, measurements.

DataFusion shows its estimates only in the text of EXPLAIN. That is planned separately over the same files, and matched
with the plan by operator names and depth; if they differ, there are no estimates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from datafusion import DataFrame, SessionContext
from datafusion.plan import ExecutionPlan, MetricsSet

from pinakes.engine.explain.facts import Actual, Estimate, Operator

_STATISTICS = "datafusion.explain.show_statistics"
_HEAD = re.compile(r"^((?:  )*)([A-Z]\w*)(?=[:,]|$)", re.MULTILINE)
_ROWS = re.compile(r"statistics=\[Rows=(Exact|Inexact)\((\d+)\)")


_FILE = re.compile(r"file_groups=\{\d+ groups?: \[\[(.+?)(?::\d+\.\.\d+)?(?:, |\])")


class _Line(NamedTuple):
    depth: int
    name: str


@contextmanager
def showing_statistics(context: SessionContext) -> Iterator[None]:
    """Makes EXPLAIN show estimates within the block."""
    context.sql(f"SET {_STATISTICS} = 'true'")
    try:
        yield
    finally:
        context.sql(f"SET {_STATISTICS} = 'false'")


def estimates_of(explained: DataFrame, run: Callable[[Callable[[], object]], object]) -> str:
    """Returns the text of the physical plan of an EXPLAIN; `run` stops waiting if the query is cancelled."""
    found: list[str] = []

    def collect() -> None:
        for batch in explained.collect():
            rows = batch.to_pydict()
            kinds = zip(rows["plan_type"], rows["plan"], strict=True)
            found.extend(plan for kind, plan in kinds if kind == "physical_plan")

    run(collect)
    return found[0] if found else ""


def operators_of(plan: ExecutionPlan, estimates: str, tables: Mapping[str, str], *, analyzed: bool) -> Operator:
    """Converts a plan. `tables` maps files, by DataFusion's name, to tables."""
    lines = [line for line, _ in _walk(plan)]
    rows_estimate = _estimated(estimates)
    estimated = [e for _, e in rows_estimate] if [line for line, _ in rows_estimate] == lines else [None] * len(lines)
    return _operator(plan, iter(estimated), tables, analyzed=analyzed)


def _operator(
    plan: ExecutionPlan, estimated: Iterator[Estimate | None], tables: Mapping[str, str], *, analyzed: bool
) -> Operator:
    name, _, detail = plan.display().strip().partition(": ")
    estimate = next(estimated)  # before those of the inputs, as in the text
    inputs = tuple(_operator(child, estimated, tables, analyzed=analyzed) for child in plan.children())
    actual = _actual(plan.metrics()) if analyzed else None
    return Operator(name, detail, inputs, estimate, actual, _table(detail, tables))


def _table(detail: str, tables: Mapping[str, str]) -> str | None:
    """Returns the table of a scan, by the first file that it names."""
    first = _FILE.search(detail)
    return None if first is None else tables.get(file_key(first[1]))


def file_key(path: str) -> str:
    """Returns a file's path without its store, as in DataFusion's metrics."""
    parts = urlsplit(path)
    return unquote(parts.path if parts.scheme else path).lstrip("/")


def _actual(metrics: MetricsSet | None) -> Actual | None:
    """Returns None for an operator without metrics."""
    if metrics is None or metrics.output_rows is None:
        return None
    # Scans decode outside of elapsed_compute.
    nanoseconds = (metrics.elapsed_compute or 0) + (metrics.sum_by_name("time_elapsed_processing") or 0)
    return Actual(metrics.output_rows, nanoseconds / 1e9, metrics.spilled_bytes or 0)


def _walk(plan: ExecutionPlan, depth: int = 0) -> Iterator[tuple[_Line, ExecutionPlan]]:
    yield _Line(depth, plan.display().strip().partition(":")[0].partition(",")[0]), plan
    for child in plan.children():
        yield from _walk(child, depth + 1)


def _estimated(text: str) -> list[tuple[_Line, Estimate | None]]:
    """Returns the estimate of each operator in the text. Predicates may contain line breaks, so the text of an operator
    extends to the start of the next one.
    """
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)][: len(heads)]
    return [
        (_Line(len(head[1]) // 2, head[2]), _estimate(_ROWS.findall(text, head.end(), end)))
        for head, end in zip(heads, ends, strict=True)
    ]


def _estimate(found: list[tuple[str, str]]) -> Estimate | None:
    """Uses the last match: a predicate may contain text that looks like an estimate."""
    if not found:
        return None
    precision, rows = found[-1]
    return Estimate(int(rows), precision == "Exact")


# --- file metrics -------------------------------------------------------------------------------------------------


class Read(NamedTuple):
    """The metrics of one file."""

    file: str
    row_groups: int
    matched: int
    bytes: int


_PRUNED = re.compile(r"([\d.]+)(?: ([KMBT]))? total → ([\d.]+)(?: ([KMBT]))? matched")
_POWERS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def files_read(plan: ExecutionPlan) -> list[Read]:
    """Returns the file metrics of a plan that was run; a file may occur several times."""
    return [read for _, node in _walk(plan) for read in _files(node.metrics())]


def _files(metrics: MetricsSet | None) -> Iterable[Read]:
    for metric in metrics.metrics() if metrics is not None else ():
        file = metric.labels().get("filename")
        if file is not None and metric.name == "bytes_scanned":
            yield Read(file, 0, 0, int(metric.value) if isinstance(metric.value, int) else 0)
        elif file is not None and metric.name == "row_groups_pruned_statistics":
            total, matched = _pruned(repr(metric))
            yield Read(file, total, matched, 0)


def _pruned(text: str) -> tuple[int, int]:
    """Parses a metric that DataFusion's Python API only prints: `10 total → 5 matched`."""
    found = _PRUNED.match(text)
    if found is None:
        return 0, 0
    return _number(found[1], found[2]), _number(found[3], found[4])


def _number(digits: str, power: str | None) -> int:
    return round(float(digits) * _POWERS[power or ""])
