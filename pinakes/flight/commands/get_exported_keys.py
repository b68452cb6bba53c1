"""CommandGetExportedKeys: the foreign keys of others that refer to a table."""

from __future__ import annotations

from pinakes.flight.commands.foreign_keys import ForeignKeys


class GetExportedKeys(ForeignKeys):
    """None: see `foreign_keys.py`."""
