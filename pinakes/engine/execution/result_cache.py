"""The result cache (`SET result_cache = on`): results of queries over Iceberg tables at known snapshots.

The key has the version of every table that was read, and the text of every view. So a result is never stale: after a
change of a table, the next query has another key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.names import TEMP
from pinakes.engine.result import Result

if TYPE_CHECKING:
    from pinakes.caches.statements import PlanKey, ResultCache
    from pinakes.engine.binding.relation import Relation

Versions = tuple[tuple[object, ...], ...]

SHARE = 4
"""A result may take up to one part in so many of what the cache may hold: one alone is not to empty it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A whole result."""

    schema: pa.Schema
    batches: tuple[pa.RecordBatch, ...]
    mounts: frozenset[str]
    """What it was read from."""

    @property
    def nbytes(self) -> int:
        return 1000 + sum(int(batch.nbytes) for batch in self.batches)


def versions_of(relations: Iterable[Relation]) -> Versions | None:
    """What the rows of a query depend on, in the order of its names; None if also on something else."""
    found: list[tuple[object, ...]] = []
    for relation in relations:
        if relation.table is not None and relation.table.handle.metadata_location and relation.key[0] != TEMP:
            from pinakes.engine.iceberg.scan.snapshot import version_of  # `select 1` does without

            found.append((relation.key, *version_of(relation.table)))
        elif relation.view is not None and relation.is_steady:
            view = relation.view
            names = () if view.schema is None else tuple(f.name for f in view.schema.fields)
            found.append((relation.key, view.sql, view.default_catalog, view.default_namespace, names))
        elif relation.shared is None:  # a subquery of the statement itself, over relations that stand here
            return None
    return tuple(found)


def cached_result(cache: ResultCache, key: PlanKey, versions: Versions) -> Result | None:
    found = cache.find(key, versions)
    return Result(found.schema, found.batches) if isinstance(found, Rows) else None


def cache_result(
    result: Result, cache: ResultCache, key: PlanKey, versions: Versions, mounts: frozenset[str]
) -> Result:
    """The same result; once it was read to its end, it is kept."""
    most = cache.stats().capacity // SHARE

    def kept(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: list[pa.RecordBatch] = []
        taken = 0
        for batch in batches:
            taken += batch.nbytes
            if taken <= most:
                found.append(batch)
            else:
                found.clear()
            yield batch
        if taken <= most:
            cache.put(key, versions, Rows(result.schema, tuple(found), mounts))

    return result.through(kept)
