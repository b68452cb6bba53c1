"""Loads of a pipeline: files and tables of other databases into Iceberg tables, each exactly once."""

from __future__ import annotations

from pinakes.pipeline.loads.model import FilePlan, FileSource, JdbcSource, Load, LoadResult, Problem

__all__ = ["FilePlan", "FileSource", "JdbcSource", "Load", "LoadResult", "Problem"]
