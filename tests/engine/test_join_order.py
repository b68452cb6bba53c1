"""The order of joins: in every order the rows are the same, and the one that is chosen has the fewest."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from pinakes.core.errors import ColumnNotFound
from pinakes.engine.engine import Engine
from pinakes.engine.planning.optimize import join_order, probes
from pinakes.engine.planning.optimize.orders import better_order
from pinakes.engine.planning.optimize.sizes import Edge, Sized, Sizes
from pinakes.engine.planning.optimize.table_facts import spread_of
from pinakes.engine.session import Session
from pinakes.parser import classify, locate_from_clauses
from pinakes.parser.statements import Query
from tests.engine.support import an_engine, chance, do, how_many, in_order, rows, seed_of

TABLES = "abcde"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


@pytest.fixture(scope="module")
def session(engine: Engine) -> Session:
    session = engine.session()
    for number, name in enumerate(TABLES):
        do(session, f'CREATE TABLE {name} ({name}_id INT, common INT, "Odd" VARCHAR, {name}_day DATE)')
        do(
            session,
            f"INSERT INTO {name} SELECT CASE WHEN x % 5 = 4 THEN NULL ELSE x % {3 + number} END, x % 4, "
            f"'t' || (x % 3), CAST('2024-01-0' || (1 + x % 3) AS DATE) FROM unnest(range(0, {6 + number})) AS u(x)",
        )
    return session


# --- the same rows in every order --------------------------------------------------------------------------------


def statement(chance: random.Random) -> str:
    """A query over three to five tables, by a list or by JOIN … ON, with what may follow a FROM clause."""
    names = chance.sample(TABLES, chance.randint(3, 5))
    asked = [_pair(names[i], chance.choice(names[:i]), chance) for i in range(1, len(names))]
    outer = chance.choice(("", "", " LEFT JOIN (SELECT 1 AS one) AS o ON a_id = o.one" if "a" in names else ""))
    if chance.random() < 0.5 and not outer:
        source, where = ", ".join(names), asked
    else:
        source = names[0] + "".join(f" JOIN {n} ON ({on})" for n, on in zip(names[1:], asked, strict=True)) + outer
        where = []
    where = [*where, *(_alone(n, chance) for n in names if chance.random() < 0.4)]
    shown = ", ".join(f"{n}_id, {n}.common" for n in chance.sample(names, 2))
    text = f"SELECT {shown} FROM {source}" + (f" WHERE {' AND '.join(where)}" if where else "")
    return chance.choice((text, f"SELECT count(*) FROM ({text}) AS s", f"WITH w AS ({text}) SELECT * FROM w"))


def _pair(one: str, other: str, chance: random.Random) -> str:
    return chance.choice(
        (
            f"{one}_id = {other}_id",
            f"{one}.common = {other}.common AND {one}_id < {other}_id + 3",
            f'{other}."Odd" = {one}."Odd" AND ({one}_id = 1 OR {other}_id BETWEEN 0 AND 2)',
            f"{one}_day = {other}_day",
        )
    )


def _alone(name: str, chance: random.Random) -> str:
    return chance.choice(
        (f"{name}_id > 0", f'"{name}"."Odd" = \'t1\'', f"({name}_id IS NULL OR {name}.common IN (1, 2))")
    )


def test_any_order_gives_the_same_rows(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = seed_of("join order")
    changed = 0
    for number in range(how_many(150, 5000)):
        lot = chance(seed, number)
        text = statement(lot)
        with monkeypatch.context() as patch:
            patch.setattr(join_order, "better_order", lambda sizes: None)
            expected = in_order(rows(session, text))
        with monkeypatch.context() as patch:
            patch.setattr(join_order, "WORTH", 0)
            patch.setattr(join_order, "better_order", lambda sizes, lot=lot: _any_order(sizes, lot))
            assert in_order(rows(session, text)) == expected, (number, text)
        changed += len(locate_from_clauses(_query(text)))
    assert changed > 100


def _any_order(sizes: Sizes, lot: random.Random) -> tuple[int, ...]:
    return tuple(lot.sample(range(len(sizes.tables)), len(sizes.tables)))


# --- clauses whose order is not free -----------------------------------------------------------------------------


def _query(text: str) -> Query:
    found = classify(text)
    assert isinstance(found, Query)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM a, b, c",
        "SELECT 1, * FROM a, b, c",
        "SELECT a_id FROM a JOIN b USING (common) JOIN c USING (common)",
        "SELECT a_id FROM a NATURAL JOIN b NATURAL JOIN c",
        "SELECT a_id FROM a, b, LATERAL (SELECT a_id) AS l",
        "SELECT a_id FROM a, b, c LEFT JOIN d ON c_id = d_id",
        "SELECT a_id FROM a LEFT JOIN b ON a_id = b_id JOIN c ON b_id = c_id",
        "SELECT a_id FROM a, b, unnest(range(0, 3)) AS u(x)",
        "SELECT a_id FROM a, b, (SELECT 1) AS s",
        "SELECT a_id FROM a, b FOR VERSION AS OF 1, c",
        "SELECT a_id FROM a, b",
        "SELECT DISTINCT ON (a_id) * FROM a, b, c",
        "SELECT a_id FROM a, b JOIN c ON b_id = c_id",
        "SELECT a_id FROM a JOIN b ON a_id = b_id JOIN c ON c_id IN (SELECT d_id FROM d WHERE common = 1)",
        "WITH c AS (SELECT 1 AS c_id) SELECT a_id FROM a, b, c",
    ],
)
def test_left_as_it_is(text: str) -> None:
    assert locate_from_clauses(_query(text)) == ()


def test_conditions_are_found() -> None:
    text = (
        "SELECT count(*) FROM a x JOIN b ON (x.a_id = b_id AND b.common BETWEEN 1 AND 2) CROSS JOIN c -- last\nWHERE "
    )
    text += "left(x.\"Odd\", 1) = 't' AND (a_id = 1 OR c_id = 2) AND NOT b_id IN (SELECT 1) GROUP BY a_id"
    (clause,) = locate_from_clauses(_query(text))
    assert clause.span.of(text).endswith("CROSS JOIN c")
    assert [c.span.of(text) for c in clause.on] == ["x.a_id = b_id", "b.common BETWEEN 1 AND 2"]
    assert [(c.span.of(text)[:8], c.is_equality, c.is_plain) for c in clause.where] == [
        ('left(x."', False, True),
        ("a_id = 1", False, True),
        ("NOT b_id", False, False),
    ]


def test_a_name_that_two_tables_have_is_left_alone(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """`common` is a's where it stands; in another order it could be c's."""
    monkeypatch.setattr(join_order, "WORTH", 0)
    monkeypatch.setattr(join_order, "better_order", lambda sizes: (2, 1, 0))
    text = "SELECT count(*) FROM a JOIN (SELECT b_id FROM b) AS s ON common = b_id JOIN c ON c_id = b_id"
    assert rows(session, text) == rows(session, text.replace("common", "a.common"))


# --- the order that is chosen ------------------------------------------------------------------------------------


def _sized(rows: int, **keys: tuple[int, int]) -> Sized:
    return Sized(rows, {name: spread_of(*ends, rows) for name, ends in keys.items()})


def test_a_year_of_sales_comes_first() -> None:
    """Sales of five years, 1,826 days; all customers, a year of days: the days leave a fifth, the customers all."""
    sales = _sized(1_000_000, day=(1000, 2825), customer=(1, 50_000))
    sizes = Sizes(
        [_sized(50_000, id=(1, 50_000)), sales, _sized(365, id=(1500, 1864))],
        [Edge(0, "id", 1, "customer"), Edge(1, "day", 2, "id")],
    )
    assert sizes.joined(sales.rows, frozenset({1}), 2) == pytest.approx(200_000, rel=0.01)
    assert sizes.joined(sales.rows, frozenset({1}), 0) == pytest.approx(1_000_000, rel=0.01)
    assert better_order(sizes) in ((1, 2, 0), (2, 1, 0))


def test_an_order_that_is_good_stays() -> None:
    sizes = Sizes(
        [_sized(1_000_000, a=(1, 100), b=(1, 1000)), _sized(1, id=(5, 5)), _sized(1000, id=(1, 1000))],
        [Edge(0, "a", 1, "id"), Edge(0, "b", 2, "id")],
    )
    assert better_order(sizes) is None


def test_tables_that_nothing_connects_stay() -> None:
    assert better_order(Sizes([_sized(10), _sized(1_000_000), _sized(5)], [])) is None


# --- what is known of tables -------------------------------------------------------------------------------------


@pytest.fixture
def star() -> Iterator[Session]:
    """Sales of 1,000 days, and customers; of the days, a condition leaves ten."""
    with an_engine() as engine:
        session = engine.session()
        do(
            session,
            "CREATE TABLE sales AS SELECT value % 1000 AS day, value % 500 AS who FROM generate_series(1, 5000)",
        )
        do(session, "CREATE TABLE days AS SELECT value AS day_id, value % 100 AS part FROM generate_series(-9000, 999)")
        do(session, "CREATE TABLE people AS SELECT value AS person, 'p' || value AS name FROM generate_series(0, 499)")
        yield session


STAR = "SELECT count(*), max(name) FROM people, sales, days WHERE who = person AND day = day_id AND part = 7"


def test_conditions_on_small_tables_are_counted_once(star: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    count = probes._count
    monkeypatch.setattr(probes, "_count", lambda *given: counted.append(given[3]) or count(*given))
    monkeypatch.setattr(join_order, "WORTH", 5000)
    answer = rows(star, STAR)
    assert answer == rows(star, STAR)
    assert answer[0][0] == 50
    assert len(counted) == 1
    assert "part = 7" in counted[0]
    do(star, "INSERT INTO days VALUES (7, 7)")
    assert rows(star, STAR)[0][0] == 55
    assert len(counted) == 2


def test_explain_shows_the_order(star: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def tables() -> list[str]:
        plan = dict(rows(star, f"EXPLAIN {STAR}"))["logical_plan"]
        return re.findall(r"SubqueryAlias: lake\.default\.(\w+)", plan)

    assert tables() == ["people", "sales", "days"]
    monkeypatch.setattr(join_order, "WORTH", 5000)
    assert tables() in (["sales", "days", "people"], ["days", "sales", "people"])


def test_errors_are_about_the_text_as_it_is_written(star: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_order, "WORTH", 5000)
    with pytest.raises(
        ColumnNotFound, match=r"column nome does not exist; there is people\.person, .*, days\.part\. Did"
    ):
        rows(star, STAR.replace("max(name)", "max(nome)"))
