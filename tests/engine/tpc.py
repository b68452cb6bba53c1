"""TPC-H and TPC-DS: data and queries from DuckDB's extensions, as they are on PyPI, and the comparison of answers."""

from __future__ import annotations

import importlib
import math
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa

from pinakes.core.names import Name
from pinakes.engine.session import Session

GENERATORS = {"tpch": "dbgen", "tpcds": "dsdgen"}


def peer(benchmark: str) -> duckdb.DuckDBPyConnection:
    """A DuckDB with the extension. Its file is loaded from where pip put it: nothing is fetched."""
    package = importlib.import_module(f"duckdb_extension_{benchmark}")
    found = next(Path(package.__path__[0]).rglob(f"v{duckdb.__version__}/{benchmark}.duckdb_extension"))
    connection = duckdb.connect()
    connection.execute(f"LOAD '{found}'")
    return connection


def queries(connection: duckdb.DuckDBPyConnection, benchmark: str) -> dict[int, str]:
    found = connection.execute(f"SELECT query_nr, query FROM {benchmark}_queries()").fetchall()
    return {number: text.strip().rstrip(";") for number, text in found}


def generate(connection: duckdb.DuckDBPyConnection, benchmark: str, scale: float, directory: Path) -> list[str]:
    """The tables, in the connection and as one Parquet file each; their names."""
    connection.execute(f"CALL {GENERATORS[benchmark]}(sf={scale})")
    names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    for name in names:
        connection.execute(f"COPY {name} TO '{directory / name}.parquet'")
    return names


def add_table(session: Session, name: str, file: Path) -> None:
    """The file as an Iceberg table, without copying it."""
    session.run(f"CREATE TABLE {name} AS SELECT * FROM '{file}' LIMIT 0").read_all()
    session.resolver.table(Name.of(name))[1].handle.add_files([str(file)])
    session.resolver.table(Name.of(name))  # what is remembered of it goes


# --- answers -----------------------------------------------------------------------------------------------------

Row = tuple[object, ...]


def difference(ours: pa.Table, theirs: pa.Table) -> str:
    """What is not the same in two answers, in whatever order their rows are; empty if they agree.

    Numbers may differ as decimals and floating numbers do when they are divided.
    """
    if ours.num_columns != theirs.num_columns or ours.num_rows != theirs.num_rows:
        return f"{ours.num_rows} x {ours.num_columns}, not {theirs.num_rows} x {theirs.num_columns}"
    unmatched = defaultdict(list)
    for row in _rows(theirs):
        unmatched[_words(row)].append(row)
    for row in _rows(ours):
        candidates = unmatched[_words(row)]
        match = next((c for c in candidates if _is_close(row, c)), None)
        if match is None:
            return f"{row} is not there; like it are: {candidates[:3]}"
        candidates.remove(match)
    return ""


def _rows(table: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal)


def _words(row: Row) -> Row:
    """What must be the same to the letter; which places hold numbers must be, too."""
    return tuple("#" if _is_number(v) else str(v).strip() for v in row)


def _is_close(one: Row, other: Row) -> bool:
    pairs = [(float(a), float(b)) for a, b in zip(one, other, strict=True) if _is_number(a)]  # type: ignore[arg-type]
    return all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) or (a != a and b != b) for a, b in pairs)
