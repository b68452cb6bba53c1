"""CommandGetImportedKeys: the foreign keys of a table."""

from __future__ import annotations

from pinakes.flight.commands.foreign_keys import ForeignKeys


class GetImportedKeys(ForeignKeys):
    """Returns no rows, see `foreign_keys.py`."""
