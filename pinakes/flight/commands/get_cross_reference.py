"""CommandGetCrossReference: the foreign keys of one table that refer to another."""

from __future__ import annotations

from pinakes.flight.commands.foreign_keys import ForeignKeys


class GetCrossReference(ForeignKeys):
    """Returns no rows, see `foreign_keys.py`."""
