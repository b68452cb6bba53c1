"""The steps of the demo: a short explanation and a statement each."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    says: str
    sql: str


def steps(partner: str) -> tuple[Step, ...]:
    return (
        Step("Mount a second catalog with one statement.",
             f"ATTACH '{partner}' AS partner (TYPE sqlite);"),
        Step("List the mounted catalogs.",
             "SHOW CATALOGS;"),
        Step("List the tables of all catalogs. Predicates are pushed down to the catalogs.",
             "SELECT table_catalog, table_schema, table_name FROM information_schema.tables\n"
             "WHERE table_type = 'BASE TABLE' ORDER BY 1, 2, 3;"),
        Step("Search names and comments in all catalogs.",
             "SEARCH 'supplier';"),
        Step("Join tables of both catalogs.",
             "SELECT r.stars, count(DISTINCT s.s_suppkey) AS suppliers,\n"
             "       round(sum(l.l_extendedprice * (1 - l.l_discount))) AS revenue\n"
             "FROM lake.tpch.lineitem l\n"
             "JOIN lake.tpch.supplier s ON s.s_suppkey = l.l_suppkey\n"
             "JOIN partner.ratings.suppliers r ON r.supplier_id = s.s_suppkey\n"
             "WHERE l.l_shipdate >= DATE '1998-01-01'\n"
             "GROUP BY r.stars ORDER BY r.stars DESC;"),
        Step("EXPLAIN FULL shows which files a query reads and why: here one year of seven.",
             "EXPLAIN FULL SELECT count(*) FROM lake.tpch.lineitem\n"
             "WHERE l_shipdate >= DATE '1998-01-01' AND l_quantity < 10;"),
        Step("Each change is one commit. Earlier versions of a table stay readable.",
             "CREATE TABLE lake.default.best AS SELECT * FROM partner.ratings.suppliers WHERE stars = 5;\n"
             "DELETE FROM lake.default.best WHERE supplier_id > 100;\n"
             "SELECT operation, summary['total-records'] AS rows\n"
             'FROM lake.default."best$snapshots" ORDER BY committed_at;'),
        Step("List the most recent statements with their times.",
             "SELECT state, execution_time_ms AS ms, statement_kind AS kind, query\n"
             "FROM system.runtime.queries ORDER BY created DESC LIMIT 5;"),
    )  # fmt: skip
