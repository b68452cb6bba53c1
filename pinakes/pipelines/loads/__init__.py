"""Loads of a pipeline: files and tables of other databases into Iceberg tables, each exactly once.
Transformations belong to `pipelines/runs`. Start at `run.py`.

    check_load(load)                     returns its problems, without Spark and without opening a file
    new_files(session, load)             returns the files that it would load
    run_load(context, load, run_id)      loads them

How loads stay exactly-once after a crash: docs/adr/0030-loads-exactly-once.md.
"""

from __future__ import annotations

from pinakes.pipelines.loads.check import check_load
from pinakes.pipelines.loads.context import LoadContext, open_context
from pinakes.pipelines.loads.discovery import new_files
from pinakes.pipelines.loads.model import FilePlan, FileSource, JdbcSource, Load, LoadResult, Problem
from pinakes.pipelines.loads.run import jars_for, run_load

__all__ = [
    "FilePlan",
    "FileSource",
    "JdbcSource",
    "Load",
    "LoadContext",
    "LoadResult",
    "Problem",
    "check_load",
    "jars_for",
    "new_files",
    "open_context",
    "run_load",
]
