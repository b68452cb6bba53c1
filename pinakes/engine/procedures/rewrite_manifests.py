"""rewrite_manifests(table, [use_caching], [spec_id], [dry_run]): fewer manifests, each with files of few partitions."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, listing
from pinakes.engine.iceberg.maintenance.manifests import rewrite_manifests
from pinakes.engine.procedures.base import DRY_RUN, TABLE, Parameter, Procedure, Rows, Work


def _run(work: Work) -> Rows:
    """Ignores `use_caching`, which is specific to Spark."""
    metadata, spec = work.table.handle.metadata, work["spec_id"]
    if spec is None:
        spec = metadata.default_spec_id
    if spec not in metadata.specs():
        known = [str(number) for number in metadata.specs()]
        raise InvalidArgument(f"{work.found} has no partitioning {spec}; it has: {listing(known)}")
    done = rewrite_manifests(work.table, work.found, spec, dry=bool(work["dry_run"]))
    return [(done.replaced, done.added)]


PROCEDURE = Procedure(
    "rewrite_manifests",
    (TABLE, Parameter("use_caching", "boolean"), Parameter("spec_id", "integer"), DRY_RUN),
    pa.schema([("rewritten_manifests_count", pa.int32()), ("added_manifests_count", pa.int32())]),
    _run,
    on_remote_engine="selected",
    in_transactions=False,
)
