"""The procedures by name; each is imported when it is called."""

from __future__ import annotations

from importlib import import_module

from pinakes.core.errors import ProcedureNotFound, listing
from pinakes.engine.procedures.base import MakingProcedure, Procedure, RuntimeProcedure

NAMES = (
    "add_files",
    "cherrypick_snapshot",
    "compute_table_stats",
    "expire_snapshots",
    "fast_forward",
    "migrate",
    "remove_orphan_files",
    "rewrite_data_files",
    "rewrite_manifests",
    "rewrite_position_delete_files",
    "rollback_to_snapshot",
    "rollback_to_timestamp",
    "set_current_snapshot",
)
"""Procedures on tables: each is a module in this package with a PROCEDURE."""

RUNTIME = ("flush_cache", "kill_query")
"""Procedures of the engine, `system.runtime.x`: modules in `runtime/`."""


def procedure(name: str) -> Procedure | MakingProcedure:
    if name not in NAMES:
        raise ProcedureNotFound(f"there is no procedure {name!r}; available: {listing(NAMES)}")
    found: Procedure | MakingProcedure = import_module(f"pinakes.engine.procedures.{name}").PROCEDURE
    return found


def runtime_procedure(name: str) -> RuntimeProcedure:
    if name not in RUNTIME:
        raise ProcedureNotFound(f"there is no procedure 'system.runtime.{name}'; available: {listing(RUNTIME)}")
    found: RuntimeProcedure = import_module(f"pinakes.engine.procedures.runtime.{name}").PROCEDURE
    return found
