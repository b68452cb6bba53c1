"""dbt on Pinakes: what dbt looks for when a profile says `type: pinakes`.

`credentials.py` is the profile, `handle.py` a connection, `connections.py` what dbt does with connections, `impl.py`
the adapter. SQL is in the macros, `dbt/include/pinakes`.
"""

from __future__ import annotations

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.pinakes.column import PinakesColumn
from dbt.adapters.pinakes.connections import PinakesConnectionManager
from dbt.adapters.pinakes.credentials import PinakesCredentials
from dbt.adapters.pinakes.impl import PinakesAdapter
from dbt.adapters.pinakes.relation import PinakesRelation
from dbt.include import pinakes

__all__ = [
    "PinakesAdapter",
    "PinakesColumn",
    "PinakesConnectionManager",
    "PinakesCredentials",
    "PinakesRelation",
    "Plugin",
]

Plugin = AdapterPlugin(adapter=PinakesAdapter, credentials=PinakesCredentials, include_path=pinakes.PACKAGE_PATH)
