"""A pyiceberg transaction on one table with cached metadata.

pyiceberg applies all updates and copies the metadata on each access, about ten times in a commit: with a thousand
snapshots that takes longer than the rest of the commit.
"""

from __future__ import annotations

from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import TableUpdate

from pinakes.providers.iceberg.metadata_updates import apply_updates


class Pending(Transaction):
    _seen: tuple[TableMetadata, tuple[TableUpdate, ...], TableMetadata] | None = None

    @property
    def table_metadata(self) -> TableMetadata:
        base, updates = self._table.metadata, self._updates
        if not updates:
            return base
        if self._seen is None or self._seen[0] is not base or self._seen[1] is not updates:
            self._seen = base, updates, apply_updates(base, updates)
        return self._seen[2]
