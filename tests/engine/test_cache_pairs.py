"""An engine that remembers against one that does not, over random statements of several sessions (`cache_pairs.py`).

PINAKES_LONG=1 runs many more; PINAKES_SEED others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.config.model import CachesConfig
from tests.engine.cache_pairs import Step, Twin, steps, without_memory
from tests.engine.support import chance, how_many, seed_of

CASES = how_many(2, 60)
STEPS = how_many(40, 100)


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[tuple[Twin, Twin]]:
    for name in ("remembers", "forgets"):
        (tmp_path / name).mkdir()
    both = Twin(tmp_path / "remembers", CachesConfig()), Twin(tmp_path / "forgets", without_memory())
    yield both
    for twin in both:
        twin.close()


@pytest.mark.parametrize("case", range(CASES))
def test_what_is_remembered_changes_no_answer(case: int, twins: tuple[Twin, Twin]) -> None:
    done: list[object] = []
    for step in steps(chance(seed_of("cache pairs"), case), STEPS):
        done.append(step)
        if isinstance(step, Step):
            remembers, forgets = (twin.answer(step) for twin in twins)
            assert remembers == forgets, "\n".join(map(str, done[-30:]))
        else:
            for twin in twins:
                twin.write_file(step)
    hits = {stats.name: stats.hits for stats in twins[0].engine.caches.stats()}
    assert min(hits[name] for name in ("listings", "table_metadata", "session_catalogs", "manifests")) > 0, hits
    assert not any(stats.hits for stats in twins[1].engine.caches.stats())
