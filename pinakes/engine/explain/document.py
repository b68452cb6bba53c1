"""EXPLAIN FULL as a JSON document. Its keys are stable (`docs/how-to/read-explain.md`): keys may be added only."""

from __future__ import annotations

import json
from typing import Any

from pinakes.engine.execution.query import PHASES
from pinakes.engine.explain.facts import CacheUse, Explained, Operator, ResultCacheUse, Scan, Shared

VERSION = 1


def document(explained: Explained) -> str:
    return json.dumps(_document(explained), ensure_ascii=False, indent=2)


def _document(explained: Explained) -> dict[str, Any]:
    return {
        "version": VERSION,
        "analyzed": explained.analyzed,
        "engine": {"name": explained.engine, "why": explained.why_engine},
        "milliseconds": {phase: _milliseconds(explained.seconds.get(phase)) for phase in PHASES},
        "rows": explained.result_rows,
        "result_cache": _result_cache(explained.result_cache),
        "caches": _caches(explained.caches),
        "scans": [_scan(scan) for scan in explained.scans],
        "shared": [_shared(shared) for shared in explained.shared],
        "plan": _operator(explained.root),
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def _result_cache(use: ResultCacheUse | None) -> dict[str, Any] | None:
    return None if use is None else {"answers": use.answers, "why": use.why}


def _caches(found: dict[str, CacheUse]) -> dict[str, Any]:
    return {name: {"hits": use.hits, "misses": use.misses} for name, use in found.items()}


def _scan(scan: Scan) -> dict[str, Any]:
    files, groups = scan.files, scan.row_groups
    return {
        "table": scan.table,
        "kind": scan.kind,
        "scans": scan.scans,
        "snapshot_id": scan.snapshot_id,
        "files": files
        and {
            "total": files.total,
            "after_partitions": files.after_partitions,
            "after_bounds": files.after_bounds,
        },
        "pruning": scan.pruning,
        "is_read": scan.is_read,
        "rows": scan.rows,
        "bytes": {"total": scan.bytes_total, "planned": scan.bytes_planned, "read": scan.bytes_read},
        "row_groups": groups and {"total": groups.total, "matched": groups.matched},
        "filters": None if scan.filters is None else list(scan.filters),
        "delete_files": scan.delete_files,
        "native": _native(scan),
        "plain": _plain(scan),
        "caches": _caches(scan.caches),
    }


def _shared(shared: Shared) -> dict[str, Any]:
    return {"name": shared.name, "uses": shared.uses, "rows": shared.rows, "plan": _operator(shared.root)}


def _native(scan: Scan) -> dict[str, Any] | None:
    if scan.native_files is None:
        return None
    return {"files": scan.native_files, "schema_groups": scan.schema_groups}


def _plain(scan: Scan) -> dict[str, Any] | None:
    if scan.plain_files is None:
        return None
    return {"files": sum(scan.plain_files.values()), "reasons": scan.plain_files}


def _operator(operator: Operator) -> dict[str, Any]:
    estimate, actual = operator.estimate, operator.actual
    return {
        "operator": operator.name,
        "detail": operator.detail,
        "table": operator.table,
        "estimated": {
            "rows": estimate.rows if estimate is not None else None,
            "exact": estimate.is_exact if estimate is not None else None,
            "cost": operator.estimated_cost,
        },
        "actual": actual
        and {
            "rows": actual.rows,
            "cost": operator.actual_cost,
            "milliseconds": _milliseconds(actual.seconds),
            "spilled_bytes": actual.spilled_bytes,
        },
        "inputs": [_operator(one) for one in operator.inputs],
    }
