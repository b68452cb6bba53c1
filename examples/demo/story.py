"""The story that the demo tells: what a person would type, in the order in which they would."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    says: str
    sql: str


def steps(partner: str) -> tuple[Step, ...]:
    return (
        Step("Mount a second catalog. One statement, and it is there for every client.",
             f"ATTACH '{partner}' AS partner (TYPE sqlite);"),
        Step("Look: catalogs, then tables, over everything that is mounted.",
             "SHOW CATALOGS;"),
        Step("information_schema without a catalog spans all of them; conditions reach the catalogs.",
             "SELECT table_catalog, table_schema, table_name FROM information_schema.tables\n"
             "WHERE table_type = 'BASE TABLE' ORDER BY 1, 2, 3;"),
        Step("Search names and comments, whichever catalog has them.",
             "SEARCH 'supplier';"),
        Step("Query across both catalogs, as if they were one.",
             "SELECT r.stars, count(DISTINCT s.s_suppkey) AS suppliers,\n"
             "       round(sum(l.l_extendedprice * (1 - l.l_discount))) AS revenue\n"
             "FROM lake.tpch.lineitem l\n"
             "JOIN lake.tpch.supplier s ON s.s_suppkey = l.l_suppkey\n"
             "JOIN partner.ratings.suppliers r ON r.supplier_id = s.s_suppkey\n"
             "WHERE l.l_shipdate >= DATE '1998-01-01'\n"
             "GROUP BY r.stars ORDER BY r.stars DESC;"),
        Step("EXPLAIN FULL tells which files that reads, and why: of seven years, one.",
             "EXPLAIN FULL SELECT count(*) FROM lake.tpch.lineitem\n"
             "WHERE l_shipdate >= DATE '1998-01-01' AND l_quantity < 10;"),
        Step("A change is one commit; the table as it was stays readable.",
             "CREATE TABLE lake.default.best AS SELECT * FROM partner.ratings.suppliers WHERE stars = 5;\n"
             "DELETE FROM lake.default.best WHERE supplier_id > 100;\n"
             "SELECT operation, summary['total-records'] AS rows\n"
             'FROM lake.default."best$snapshots" ORDER BY committed_at;'),
        Step("Everything that ran is a row, with its times.",
             "SELECT state, execution_time_ms AS ms, statement_kind AS kind, query\n"
             "FROM system.runtime.queries ORDER BY created DESC LIMIT 5;"),
    )  # fmt: skip
