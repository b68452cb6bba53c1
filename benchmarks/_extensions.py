"""DuckDB as generator and as contestant: its extensions are files of packages from PyPI; nothing is fetched."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import duckdb

_GENERATORS = {"tpch": "dbgen", "tpcds": "dsdgen"}


def with_extensions(names: Sequence[str]) -> duckdb.DuckDBPyConnection | None:
    """A DuckDB with these extensions; None if their packages, or those for its version, are not installed."""
    connection = duckdb.connect()
    for name in names:
        file = _file(name)
        if file is None:
            return None
        connection.execute(f"LOAD '{file}'")
    return connection


def _file(name: str) -> Path | None:
    try:
        package = importlib.import_module(f"duckdb_extension_{name}")
    except ModuleNotFoundError:
        return None
    return next(Path(package.__path__[0]).rglob(f"v{duckdb.__version__}/{name}.duckdb_extension"), None)


def generated(benchmark: str, scale: str, directory: Path) -> Path | None:
    """A directory with a Parquet file for each table; None without the extension. TPC-H is made by `tpchgen-cli` (from
    PyPI) where that is on the PATH, which is quicker."""
    generator = shutil.which("tpchgen-cli") if benchmark == "tpch" else None
    if generator is not None:
        subprocess.run(
            [generator, "parquet", "-s", scale, f"--output-dir={directory}"], check=True, capture_output=True
        )
        return directory
    connection = with_extensions([benchmark])
    if connection is None:
        return None
    directory.mkdir(parents=True)
    connection.execute(f"CALL {_GENERATORS[benchmark]}(sf={scale})")
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        connection.execute(f"COPY {table} TO '{directory / table}.parquet'")
    return directory


def queries(benchmark: str) -> dict[int, str]:
    """The queries as the extension has them; none without it."""
    connection = with_extensions([benchmark])
    if connection is None:
        return {}
    found = connection.execute(f"SELECT query_nr, query FROM {benchmark}_queries() ORDER BY 1").fetchall()
    return {number: text.strip().rstrip(";") for number, text in found}
