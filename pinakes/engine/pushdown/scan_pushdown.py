"""The answers to the placeholder scans of a plan: an Iceberg table is pruned to the files that can match, a system
table is read, a worker is called, each with the predicates that DataFusion pushed to its scan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pinakes.caches.lookups import asking_about
from pinakes.engine.pushdown.scan_requests import ScanRequest, scan_requests

if TYPE_CHECKING:
    from datafusion import DataFrame, SessionContext
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.iceberg.scan.table import IcebergScan, Narrowed


@dataclass(frozen=True, slots=True)
class Pruned:
    """How a table was pruned, for EXPLAIN FULL."""

    scan: IcebergScan
    request: ScanRequest
    narrowed: Narrowed


@dataclass(frozen=True, slots=True)
class ScanAnswers:
    relations: Mapping[Key, Relation]
    """Those to read in place of placeholders."""
    pruned: Mapping[Key, Pruned] = field(default_factory=dict)


NO_ANSWERS = ScanAnswers({})


def answer(
    relations: Mapping[Key, Relation],
    known: Mapping[Key, Relation],
    optimized: LogicalPlan,
    context: SessionContext,
    *,
    explain: bool,
    is_part: bool,
) -> ScanAnswers:
    """Answers the scans of an optimised plan. `known` are the answers that are there already. If the plan `is_part` of
    a statement, tables that it does not read are left to the other parts."""
    unanswered = {key: r for key, r in relations.items() if r.placeholder is not None and key not in known}
    requests = scan_requests(optimized, [r.placeholder for r in unanswered.values() if r.placeholder], context)
    found: dict[Key, Relation] = {}
    pruned: dict[Key, Pruned] = {}
    for key, relation in unanswered.items():
        assert relation.placeholder is not None
        request = requests[relation.placeholder]
        if relation.scan is not None:
            if is_part and request.scans == ():
                continue
            with asking_about(key):
                narrowed = relation.scan.answered(request)
            if explain:
                pruned[key] = Pruned(relation.scan, request, narrowed)
            watched, is_plain = tuple(narrowed.watched), bool(narrowed.plain)
            found[key] = replace(relation, provider=narrowed.provider, scan=None, watched=watched, is_plain=is_plain)
        if relation.system is not None:
            found[key] = replace(relation, provider=relation.system.answered(request), system=None)
        if relation.worker is not None:
            found[key] = replace(relation, provider=relation.worker.answered(request), worker=None)
    return ScanAnswers({**found, **known}, pruned)


def answer_from_metadata(relations: Mapping[Key, Relation], optimized: LogicalPlan) -> DataFrame | None:
    """The result of the query itself, where the metadata of a table has it."""
    scans = [relation.scan for relation in relations.values() if relation.scan is not None]
    # those that are not worth it are there to be explained
    found = (scan.aggregates(optimized) for scan in scans if scan.is_worth_narrowing)
    return next((frame for frame in found if frame is not None), None)
