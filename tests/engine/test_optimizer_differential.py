"""Random queries with all rules of DataFusion's logical optimiser, and with each of them taken away: the same rows.

A rule is to change how rows are found, never which. Where rows differ, PostgreSQL decides: those with all rules have
to be right; without one, a defect of DataFusion may show that the rule hides, and the query is written to the output.
What a rule gets wrong is rewritten or refused before (`parser/workarounds`,
`engine/datafusion/workarounds/join_filter_columns.py`,
`engine/datafusion/workarounds/correlated_subqueries.py`); what is new shows here. A query that can't be planned without
some rule is left out for that rule. PINAKES_LONG=1 runs 1,500 queries. The same queries are asked of PostgreSQL, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.hard_queries import SETUP, Hard
from tests.engine.support import Row, an_engine, chance, do, how_many, rows, seed_of
from tests.servers.base import Facts

RULES = (
    "rewrite_set_comparison optimize_unions unions_to_filter simplify_expressions replace_distinct_aggregate "
    "eliminate_join decorrelate_predicate_subquery scalar_subquery_to_join decorrelate_lateral_join "
    "extract_equijoin_predicate eliminate_duplicated_expr eliminate_filter eliminate_cross_join eliminate_limit "
    "propagate_empty_relation filter_null_join_keys eliminate_outer_join push_down_limit push_down_filter "
    "single_distinct_aggregation_to_group_by eliminate_group_by_constant common_sub_expression_eliminate "
    "extract_leaf_expressions push_down_leaf_projections optimize_projections"
).split()
"""Those of DataFusion 55 (optimizer/src/optimizer.rs)."""
NEEDED = {"decorrelate_predicate_subquery", "scalar_subquery_to_join", "decorrelate_lateral_join"} | {
    "replace_distinct_aggregate", "rewrite_set_comparison", "simplify_expressions",
}  # fmt: skip
"""Without these, many queries have no plan at all: they stay when all others are taken away at once."""


class Without:
    """Sessions of one engine over the same tables, by the rules that they lack."""

    def __init__(self, sessions: dict[str, Session], peer: psycopg.Connection) -> None:
        self.sessions = sessions
        self.ordinary = sessions[""]
        self.peer = peer

    def compare(self, sql: str) -> int:
        """How many sessions gave rows; a difference is an assertion."""
        right = outcome(self.ordinary, sql)
        if isinstance(right, PinakesError):
            return 0
        answered = 0
        for lacking, session in self.sessions.items():
            found = outcome(session, sql)
            if not isinstance(found, PinakesError):
                answered += 1
                if found != right:
                    theirs = plain(self.peer.execute(sql).fetchall())
                    assert right == theirs, f"{sql}\nwith all: {right[:8]}\nPostgreSQL: {theirs[:8]}"
                    sys.stdout.write(f"wrong without {lacking} only: {sql}\n")
        return answered


def outcome(session: Session, sql: str) -> list[Row] | PinakesError:
    try:
        return plain(rows(session, sql))
    except PinakesError as error:
        return error


def plain(found: list[Row]) -> list[Row]:
    """In an order of their own, with whole numbers of any type alike."""
    return sorted((tuple(int(v) if isinstance(v, Decimal) else v for v in row) for row in found), key=repr)


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory, postgres_server: Facts) -> Iterator[Without]:
    engines = an_engine(tmp_path_factory.mktemp("rules"), target_partitions=2)
    with engines as engine, psycopg.connect(postgres_server["uri"]) as peer:
        peer.execute("CREATE SCHEMA optimizer_differential")
        peer.execute("SET search_path = optimizer_differential")
        for statement in SETUP:
            peer.execute(statement)
        sessions = {lacking: engine.session() for lacking in ("", *RULES, "all that can be")}
        for statement in SETUP:
            do(sessions[""], statement)
        for rule in RULES:
            assert sessions[rule].context.remove_optimizer_rule(rule), f"DataFusion has no rule {rule} any more"
        for rule in set(RULES) - NEEDED:
            sessions["all that can be"].context.remove_optimizer_rule(rule)
        yield Without(sessions, peer)
        peer.rollback()


@pytest.mark.slow
@pytest.mark.parametrize("group", range(how_many(20, 1500) // 20))
def test_no_rule_changes_rows(without: Without, group: int) -> None:
    seed = seed_of("optimizer differential")
    answered = [without.compare(Hard(chance(seed, number)).query()) for number in range(group * 20, group * 20 + 20)]
    assert sum(answered) > 100, "hardly any query could be planned: nothing was compared"


def test_every_rule_is_known(tmp_path: Path) -> None:
    """A rule that an upgrade brings is to be compared, too."""
    with an_engine(tmp_path) as engine:
        session = engine.session()
        text = "\n".join(f"{kind}" for kind, _ in rows(session, "EXPLAIN VERBOSE SELECT 1 AS one"))
    found = [line.removeprefix("logical_plan after ") for line in text.splitlines() if "logical_plan after" in line]
    assert set(RULES) <= set(found)
    analyzers = {"resolve_grouping_function", "type_coercion", "apply_function_rewrites", "inline_table_scan"}
    analyzers |= {"resolve_lambda_variables"}
    assert set(found) - set(RULES) - analyzers == set()


@pytest.mark.slow
@pytest.mark.parametrize("group", range(how_many(200, 5000) // 100))
def test_postgres_gives_the_same_rows(without: Without, postgres_server: Facts, group: int) -> None:
    seed = seed_of("postgres differential")
    same = refused = 0
    with psycopg.connect(postgres_server["uri"]) as peer:
        peer.execute(f"CREATE SCHEMA hard_queries_{group}")
        peer.execute(f"SET search_path = hard_queries_{group}")
        for statement in SETUP:
            peer.execute(statement)
        for number in range(group * 100, group * 100 + 100):
            sql = Hard(chance(seed, "postgres", number)).query()
            ours = outcome(without.ordinary, sql)
            if isinstance(ours, PinakesError):
                refused += 1
                continue
            theirs = plain(peer.execute(sql).fetchall())
            assert ours == theirs, f"#{number}\n{sql}\nhere:       {ours[:8]}\nPostgreSQL: {theirs[:8]}"
            same += 1
        peer.rollback()
    assert same > 2 * refused, f"{refused} of 100 queries are refused"
