"""EXPLAIN FULL as rows for people: one fact per row, planned and actual values, in 80 columns.

Long text is wrapped, since a terminal would truncate it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

import pyarrow as pa

from pinakes.engine.execution.query import PHASES
from pinakes.engine.explain.facts import CacheUse, Explained, Operator, Scan, Shared

SCHEMA = pa.schema([("item", pa.string()), ("planned", pa.string()), ("actual", pa.string())])
WIDTH = 24
"""The width of the column `planned`."""

Row = tuple[str, str, str]


def rows(explained: Explained) -> list[Row]:
    return [*_head(explained), *_scans(explained.scans), *_plans(explained)]


# --- statement ---------------------------------------------------------------------------------------------------


def _head(explained: Explained) -> Iterator[Row]:
    yield "engine", _wrapped(f"{explained.engine}: {explained.why_engine}"), ""
    if explained.result_cache is not None:
        yield "result cache", _wrapped(explained.result_cache.why), ""
    for phase in PHASES:
        if phase in explained.seconds:
            yield f"time to {phase}", "", _time(explained.seconds[phase])
    shown = {name for scan in explained.scans for name in scan.caches}
    yield from ((f"cache {name}", "", _cache(use)) for name, use in explained.caches.items() if name not in shown)
    if explained.result_rows is not None:
        yield "result", "", _rows(explained.result_rows)


# --- scans -------------------------------------------------------------------------------------------------------


def _scans(scans: Iterable[Scan]) -> Iterator[Row]:
    for scan in scans:
        yield _KINDS[scan.kind], _wrapped(scan.table), ""
        yield from (_indented(row) for row in _facts(scan))


_KINDS = {"iceberg": "table", "files": "files", "memory": "rows in memory", "view": "view"}


def _indented(row: Row) -> Row:
    return f"  {row[0]}", row[1], row[2]


def _facts(scan: Scan) -> Iterator[Row]:
    if scan.snapshot_id is not None:
        yield "snapshot", str(scan.snapshot_id), ""
    if scan.scans is not None and scan.scans > 1:
        yield "scans", str(scan.scans), ""
    if not scan.is_read:
        yield "read", _wrapped("no: no row is needed" if scan.scans == 0 else "no: the metadata answers"), ""
    if scan.files is not None:
        yield "files", f"{scan.files.total:,}", ""
    if scan.files is not None and scan.kind == "iceberg":
        yield "  after partitions", f"{scan.files.after_partitions:,}", ""
        yield "  after bounds", f"{scan.files.after_bounds:,}", ""
    if scan.pruning is not None:
        yield "pruning", _wrapped(scan.pruning), ""
    yield from _amounts(scan)
    yield from (("filter", _wrapped(text or "none"), "") for text in dict.fromkeys(scan.filters or ()))
    yield from _ways(scan)
    yield from ((f"cache {name}", "", _cache(use)) for name, use in scan.caches.items())


def _amounts(scan: Scan) -> Iterator[Row]:
    if scan.rows is not None:
        yield "rows", f"{scan.rows:,}", ""
    if scan.bytes_planned is not None:
        yield "bytes", _bytes(scan.bytes_planned), "" if scan.bytes_read is None else f"{_bytes(scan.bytes_read)} read"
    if scan.row_groups is not None:
        yield "row groups", f"{scan.row_groups.total:,}", f"{scan.row_groups.matched:,} read"


def _ways(scan: Scan) -> Iterator[Row]:
    if scan.delete_files:
        yield "delete files", f"{scan.delete_files:,}", ""
    if scan.native_files:
        yield "native", f"{_files(scan.native_files)}, {_count(scan.schema_groups or 0, 'schema group')}", ""
    for why, count in (scan.plain_files or {}).items():
        yield "plain reader", _wrapped(f"{_files(count)}: {why}"), ""


# --- operators ---------------------------------------------------------------------------------------------------


def _plans(explained: Explained) -> Iterator[Row]:
    for shared in explained.shared:
        yield from _shared(shared)
    yield from _operators("plan", explained.root, explained.analyzed)


def _shared(shared: Shared) -> Iterator[Row]:
    yield "computed once", _wrapped(f"{shared.name}, for {shared.uses} uses"), ""
    yield from _operators("  plan", shared.root, shared.rows is not None)


def _operators(title: str, root: Operator, analyzed: bool) -> Iterator[Row]:
    yield title, "rows, cost", "rows, time" if analyzed else ""
    indent = " " * (len(title) - len(title.lstrip()))
    for before, operator in _tree(root, f"{indent}  ", f"{indent}  "):
        yield before + _name(operator), _planned(operator), _actual(operator)


def _tree(operator: Operator, first: str, rest: str) -> Iterator[tuple[str, Operator]]:
    """Yields each operator with the prefix of its name. Inputs follow below; if there are several, each begins with a
    dash. Indenting every level would need too much width.
    """
    yield first, operator
    for one in operator.inputs:
        several = len(operator.inputs) > 1
        yield from _tree(one, f"{rest}- " if several else rest, f"{rest}  " if several else rest)


def _name(operator: Operator) -> str:
    """Returns the name without the suffix Exec, with the table of a scan and the mode of aggregates and joins."""
    mode = operator.detail.partition(",")[0].partition("mode=")[2]
    table = (operator.table or "").rpartition(".")[2]
    return " ".join(filter(None, (operator.name.removesuffix("Exec"), mode, table)))


def _planned(operator: Operator) -> str:
    estimate = operator.estimate
    if estimate is None:
        return "not known"
    rows = _short(estimate.rows) if estimate.is_exact else f"~{_short(estimate.rows)}"
    cost = operator.estimated_cost
    return rows if cost is None else f"{rows}, {_short(cost)}"


def _actual(operator: Operator) -> str:
    actual = operator.actual
    if actual is None:
        return ""
    spilled = f", {_bytes(actual.spilled_bytes)} spilled" if actual.spilled_bytes else ""
    return f"{_short(actual.rows)}, {_time(actual.seconds)}{spilled}"


# --- figures -----------------------------------------------------------------------------------------------------


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False)) or text


def _cache(use: CacheUse) -> str:
    said = [_count(use.hits, "hit")] if use.hits else []
    return ", ".join([*said, _count(use.misses, "miss", "misses")] if use.misses else said)


def _files(count: int) -> str:
    return _count(count, "file")


def _rows(count: int) -> str:
    return _count(count, "row")


def _count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _time(seconds: float) -> str:
    """Formats a duration with about three digits."""
    if seconds >= 1:
        return f"{seconds:,.2f} s"
    spent = seconds * 1000
    return f"{spent:.2f} ms" if spent < 10 else f"{spent:.1f} ms" if spent < 100 else f"{spent:.0f} ms"


def _bytes(count: int) -> str:
    return _powers(count, 1000, ("bytes", "kB", "MB", "GB", "TB"))


def _short(count: int) -> str:
    """Formats a number of rows; large ones are rounded."""
    return f"{count:,}" if count < 1_000_000 else _powers(count, 1000, ("", "k", "M", "G", "T"))


def _powers(count: int, step: int, units: tuple[str, ...]) -> str:
    size, at = float(count), 0
    while size >= step and at < len(units) - 1:
        size, at = size / step, at + 1
    return f"{count:,} {units[0]}" if at == 0 else f"{size:.1f} {units[at]}"
