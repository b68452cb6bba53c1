"""CommandGetExportedKeys: the foreign keys of other tables that refer to a table."""

from __future__ import annotations

from pinakes.flight.commands.foreign_keys import ForeignKeys


class GetExportedKeys(ForeignKeys):
    """Returns no rows, see `foreign_keys.py`."""
