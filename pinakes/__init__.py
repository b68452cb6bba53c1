"""Pinakes: a SQL query engine whose catalog is its API.

Start reading at `pinakes/engine/run.py`; `docs/architecture.md` draws the whole flow.
"""

__version__ = "0.1.0"
