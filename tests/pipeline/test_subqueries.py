"""Random subqueries that refer to the outer row, on Spark: the rows of the local engine, or refused."""

from __future__ import annotations

from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.subqueries import Query, tables
from tests.engine.support import chance, do, how_many, in_order, rows, seed_of


def test_random_subqueries_give_the_rows_of_the_local_engine(session: Session) -> None:
    seed = seed_of("subqueries on Spark")
    for sql in tables(chance(seed, "subquery tables")):
        do(session, sql)
    equal = 0
    for number in range(how_many(6, 300)):
        sql = Query(chance(seed, "subquery", number)).outer()
        do(session, "SET engine = 'local'")
        try:
            expected = in_order(rows(session, sql))
        except PinakesError:
            continue
        do(session, "SET engine = 'spark'")
        try:
            found = in_order(rows(session, sql))
        except PinakesError:  # refused by us or by Spark
            continue
        assert found == expected, sql
        equal += 1
    assert equal > how_many(0, 30)
