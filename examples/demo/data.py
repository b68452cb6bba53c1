"""What the demo looks at: TPC-H at scale 0.1 as Iceberg tables of the embedded catalog, and a partner's catalog."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import duckdb_extension_tpch

import pinakes

SCALE = 0.1
FORMS = {"lineitem": "PARTITIONED BY (year(l_shipdate)) ", "orders": "PARTITIONED BY (year(o_orderdate)) "}
COMMENTS = {
    "lake.tpch.lineitem": "One row for each line of an order",
    "lake.tpch.supplier": "Who delivers parts, with address and balance",
    "partner.ratings.suppliers": "What the partner thinks of our suppliers, one to five stars",
}


def make_lake(data: Path, partner: Path) -> Iterator[tuple[str, int]]:
    """Make both catalogs, and tell each table with its rows as soon as it is there."""
    generator = _generator()
    with pinakes.connect(data=str(data)) as lake:
        lake.execute("CREATE SCHEMA tpch")
        for (name,) in generator.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall():
            rows = generator.execute(f"SELECT * FROM {name}").to_arrow_table()
            lake.register("made", rows)
            lake.execute(f"CREATE TABLE tpch.{name} {FORMS.get(name, '')}AS SELECT * FROM made")
            yield f"lake.tpch.{name}", rows.num_rows
        yield "partner.ratings.suppliers", _make_partner(lake, partner)
        for table, comment in COMMENTS.items():
            lake.execute(f"COMMENT ON TABLE {table} IS '{comment}'")


def _generator() -> duckdb.DuckDBPyConnection:
    found = Path(duckdb_extension_tpch.__path__[0]).rglob(f"v{duckdb.__version__}/tpch.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{next(found)}'")
    connection.execute(f"CALL dbgen(sf={SCALE})")
    return connection


def _make_partner(lake: pinakes.Connection, partner: Path) -> int:
    lake.execute(f"ATTACH '{partner}' AS partner (TYPE sqlite)")
    lake.execute("CREATE SCHEMA partner.ratings")
    lake.execute(
        "CREATE TABLE partner.ratings.suppliers AS "
        "SELECT s_suppkey AS supplier_id, s_suppkey * 7 % 5 + 1 AS stars FROM tpch.supplier"
    )
    (rows,) = lake.execute("SELECT count(*) FROM partner.ratings.suppliers").fetchone()
    return int(rows)
