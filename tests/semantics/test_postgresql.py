"""Every expression of the matrix gives what PostgreSQL gives, or is refused, or is on the list of differences.

A sample runs always, all of it with PINAKES_LONG=1; PINAKES_SEED chooses other values.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from pinakes.core.errors import PinakesError
from tests.engine.support import LONG, an_engine, chance, rows, seed_of
from tests.semantics.cases import Case, groups
from tests.semantics.differences import Difference, differences
from tests.semantics.engines import Outcome, Pinakes, Postgres, is_absent, same
from tests.servers.base import Facts

PARTS = 40
"""Parts of the matrix, each a test."""
RUN = PARTS if LONG else 2
VALUES = 6 if LONG else 1
"""Cases of each group that PostgreSQL knows."""


@pytest.fixture(scope="module")
def postgres(postgres_server: Facts) -> Iterator[Postgres]:
    postgres = Postgres(postgres_server["uri"])
    yield postgres
    postgres.connection.close()


@pytest.fixture(scope="module")
def pinakes() -> Iterator[Pinakes]:
    with an_engine() as engine:
        pinakes = Pinakes(engine.session())
        pinakes.create()
        yield pinakes


@pytest.fixture(scope="module")
def used() -> set[str]:
    """The titles of differences that covered a case, of all parts."""
    return set()


def expected(postgres: Postgres, seed: int, part: int) -> dict[Case, Outcome]:
    """The cases of a part that PostgreSQL knows, and what it gives."""
    found: dict[Case, Outcome] = {}
    for number, group in enumerate(groups()):
        if chance(seed, "part", number).randrange(PARTS) != part:
            continue
        for case in group.cases(chance(seed, "values", number), VALUES):
            outcome = postgres.run(case)
            if is_absent(outcome):
                break  # the types are those of all cases of the group
            found[case] = outcome
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(RUN))
def test_every_case_equals_postgresql(postgres: Postgres, pinakes: Pinakes, used: set[str], part: int) -> None:
    theirs = expected(postgres, seed_of("semantics"), part)
    assert len(theirs) > 200
    unexplained: list[str] = []
    counts: Counter[str] = Counter()
    for case, ours in pinakes.run_all(theirs):
        if ours.failed:
            counts["both fail" if theirs[case].failed else "refused"] += 1
            continue
        if not theirs[case].failed and same(ours, theirs[case], close=case.group.close):
            counts["equal"] += 1
            continue
        covering = [d.title for d in differences() if d.covers(case.label, ours, theirs[case])]
        used.update(covering)
        counts["listed" if covering else "unexplained"] += 1
        if not covering:
            unexplained.append(f"{case.label}\n  {case.sql}\n  here: {ours}\n  PostgreSQL: {theirs[case]}")
    sys.stdout.write(f"part {part}: {dict(counts)}\n")
    assert not unexplained, f"{len(unexplained)} cases differ\n" + "\n".join(unexplained[:40])
    assert counts["equal"] + counts["listed"] > len(theirs) // 2, (
        "most cases are refused: they would not show a difference"
    )


@pytest.mark.slow
@pytest.mark.long
def test_every_difference_covers_a_case(used: set[str]) -> None:
    assert [d.title for d in differences() if d.title not in used] == []


@pytest.mark.slow
@pytest.mark.parametrize("difference", differences(), ids=lambda d: d.title)
def test_example_of_a_difference(postgres: Postgres, pinakes: Pinakes, difference: Difference) -> None:
    assert postgres.show(difference.example) == difference.postgresql
    try:
        shown = str(rows(pinakes.session, f"SELECT CAST(({difference.example}) AS VARCHAR)")[0][0])
    except PinakesError as error:
        shown = f"error {error.code}"
    assert shown == difference.pinakes
