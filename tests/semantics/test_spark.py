"""Every expression of the matrix gives the same on Spark as here, or is refused there, so that `engine = 'auto'` never
changes an answer.

A sample runs always, all of it with PINAKES_LONG=1.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from pinakes.api.build import open_engine
from tests.engine.support import LONG, chance, seed_of
from tests.pipeline.conftest import config_of
from tests.semantics.cases import Case, groups
from tests.semantics.differences import differences
from tests.semantics.engines import Spark, same
from tests.semantics.operands import FINE, STORED, TIME
from tests.servers.base import Facts

PARTS = 80 if LONG else 400
"""Parts of the matrix, each a test."""
RUN = PARTS if LONG else 1


@pytest.fixture(scope="module")
def spark(spark_connect_server: Facts) -> Iterator[Spark]:
    """Without columns of type TIME, which Spark can't read."""
    with open_engine(config_of(spark_connect_server)) as engine:
        spark = Spark(engine.session())
        spark.create([kind for kind in STORED if kind is not TIME])
        yield spark


def cases(seed: int, part: int) -> list[Case]:
    found: list[Case] = []
    for number, group in enumerate(groups()):
        if TIME not in group.kinds and chance(seed, "spark", number).randrange(PARTS) == part:
            found += group.cases(chance(seed, "values", number), 2)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(RUN))
def test_every_case_equals_spark(spark: Spark, part: int) -> None:
    chosen = cases(seed_of("semantics on Spark"), part)
    here = {case: outcome for case, outcome in spark.run_each(chosen) if not outcome.failed}
    different: list[str] = []
    counts: Counter[str] = Counter()
    [zero] = [d for d in differences() if d.title == "The sign of zero"]
    for case, there in spark.run_known(list(here)):
        # The last digit of a double that was a decimal of many digits is no difference: Arrow rounds it twice.
        close = case.group.close or FINE in case.group.kinds
        if there.failed:
            counts["refused"] += 1
        elif same(there, here[case], close=close):
            counts["equal"] += 1
        elif zero.covers(case.label, here[case], there):  # which of two equal zeros depends on the order of the rows
            counts["listed"] += 1
        else:
            counts["different"] += 1
            different.append(f"{case.label}\n  {case.sql}\n  here: {here[case]}\n  Spark: {there}")
    sys.stdout.write(f"part {part}: {dict(counts)}, refused here {len(chosen) - len(here)}\n")
    assert not different, f"{len(different)} cases differ\n" + "\n".join(different[:40])
    assert counts.total() > 20
