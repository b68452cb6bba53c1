"""rewrite_manifests(table, [use_caching], [spec_id]): fewer manifests, with the files of a partition together."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, listing
from pinakes.engine.maintenance.manifests import rewrite_manifests
from pinakes.engine.procedures.base import TABLE, Parameter, Procedure, Rows, Work


def _run(work: Work) -> Rows:
    """`use_caching` is how Spark goes about it, and no matter here."""
    metadata, spec = work.table.handle.metadata, work["spec_id"]
    if spec is None:
        spec = metadata.default_spec_id
    if spec not in metadata.specs():
        known = [str(number) for number in metadata.specs()]
        raise InvalidArgument(f"{work.found} has no partitioning {spec}; it has: {listing(known)}")
    done = rewrite_manifests(work.table, work.found, spec)
    return [(done.replaced, done.added)]


PROCEDURE = Procedure(
    "rewrite_manifests",
    (TABLE, Parameter("use_caching", "boolean"), Parameter("spec_id", "integer")),
    pa.schema([("rewritten_manifests_count", pa.int32()), ("added_manifests_count", pa.int32())]),
    _run,
    elsewhere="asked",
    in_transactions=False,
)
