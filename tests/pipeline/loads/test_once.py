"""Each file once, whatever happens: stopped after any step, run twice at the same time, changed under way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pinakes.core.errors import CommitUnknown, DataCorrupt
from pinakes.core.names import Name
from pinakes.pipelines.loads import Load, new_files, open_context, run_load
from tests.engine.support import how_many
from tests.pipeline.loads.support import Place

pytestmark = pytest.mark.slow
STEPS = ("planned", "staged", "staged bad", "checked", "recorded", "published", "published bad", "done")


@pytest.fixture
def load(place: Place) -> Load:
    place.write("a.csv", "id\n1\n2\nx\n")
    return place.load(columns="id INT")


def _whole(place: Place, ids: list[int]) -> None:
    assert [row[0] for row in place.rows("SELECT id FROM T.t ORDER BY id")] == ids
    assert [row[:2] for row in place.bad()] == [("a.csv", "x")]


@pytest.mark.parametrize("step", STEPS)
def test_a_load_that_was_stopped_is_taken_up(place: Place, load: Load, step: str) -> None:
    place.run_until(load, step)
    place.write("b.csv", "id\n3\n")
    assert place.rows("SELECT count(*) FROM T.t") in ([(0,)], [(2,)])  # never a part of them
    place.run(load)
    _whole(place, [1, 2, 3])
    assert place.run(load).files == 0
    assert {state for _, state, _ in place.ledger()} == {"planned", "staged", "done"}


def test_only_what_is_new_is_loaded_and_told_beforehand(place: Place, load: Load) -> None:
    place.run(load)
    place.write("b.csv", "id\n3\n")
    plan = new_files(place.context.session, load)
    assert ([p.rpartition("/")[2] for p in plan.new], plan.loaded, plan.bytes) == (["b.csv"], 1, 5)
    place.run_until(load, "planned")
    plan = new_files(place.context.session, load)
    assert (plan.new, [p.rpartition("/")[2] for p in plan.resumed]) == ((), ["b.csv"])
    result = place.run(load)
    assert (result.rows, result.files) == (1, 1)
    assert result.snapshot_id == place.context.session.resolver.described(
        Name.of("lake", place.schema, "t")
    )[1].handle.metadata.current_snapshot_id  # fmt: skip
    _whole(place, [1, 2, 3])


def test_a_table_that_was_changed_meanwhile(place: Place, load: Load) -> None:
    place.run_until(load, "recorded")
    place.rows("INSERT INTO T.t VALUES (100)")
    place.run(load)
    _whole(place, [1, 2, 100])
    place.rows("DELETE FROM T.t WHERE id = 1")
    assert place.run(load).files == 0
    _whole(place, [2, 100])


def test_files_of_a_batch_that_changed_before_it_was_taken_up(place: Place, load: Load) -> None:
    place.run_until(load, "staged bad")
    place.write("a.csv", "id\n10\n20\n30\nx\n")
    place.run(load)
    _whole(place, [10, 20, 30])
    assert [(number, state) for number, state, _ in place.ledger()] == [
        (1, "planned"), (1, "abandoned"), (2, "planned"), (2, "staged"), (2, "done"),
    ]  # fmt: skip


def test_whoever_still_works_on_an_abandoned_batch_publishes_nothing(place: Place, load: Load) -> None:
    """The first run is held right before it publishes; the second finds the file changed and gives the batch up."""

    def between(step: str) -> None:
        if step == "checked":
            place.write("a.csv", "id\n10\nx\n")
            place.run(load)

    result = run_load(replace(place.context, reached=between), load, "slow")
    _whole(place, [10])
    assert (result.rows, result.bad_rows) == (0, 0)


def test_a_second_run_of_the_same_load_does_not_load_twice(place: Place, load: Load) -> None:
    def between(step: str) -> None:
        if step == "staged":
            place.run(load)

    run_load(replace(place.context, reached=between), load, "slow")
    _whole(place, [1, 2])


def test_bad_records_that_another_run_left_staged(place: Place, load: Load) -> None:
    """The first run knows the batch as it was planned; the second publishes its rows, and ends there."""

    def between(step: str) -> None:
        if step == "planned":
            place.run_until(load, "published")

    result = run_load(replace(place.context, reached=between), load, "slow")
    assert (result.rows, result.bad_rows) == (2, 1)
    _whole(place, [1, 2])


def test_many_runs_at_the_same_time(place: Place, load: Load) -> None:
    for at in range(5):
        place.write(f"more{at}.csv", f"id\n{at + 10}\n")
    session = place.context.session

    def one(number: int) -> None:
        with open_context(session.engine.session(), ["lake"]) as context:
            run_load(context, load, f"r{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(how_many(3, 8))))
    _whole(place, [1, 2, 10, 11, 12, 13, 14])


def test_a_loaded_file_that_changed_is_reported_by_name(place: Place, load: Load) -> None:
    place.run(load)
    place.write("a.csv", "id\n1\n2\nx\n3\n")
    place.write("b.csv", "id\n4\n")
    with pytest.raises(DataCorrupt, match=r"changed since: '.*a\.csv'\. Nothing was loaded.*changed_files: load"):
        place.run(load)
    _whole(place, [1, 2])
    assert place.run(replace(load, changed_files="ignore")).rows == 1
    assert place.run(replace(load, changed_files="load")).rows == 3
    assert place.rows("SELECT id, count(*) FROM T.t GROUP BY id ORDER BY id") == [(1, 2), (2, 2), (3, 1), (4, 1)]
    assert place.run(load).files == 0


def test_all_is_loaded_again(place: Place, load: Load) -> None:
    place.run(load)
    place.write("a.csv", "id\n5\nx\n")
    result = place.run(load, full_refresh=True)
    assert (result.rows, result.bad_rows) == (1, 1)
    _whole(place, [5])
    assert place.run(load).files == 0


@pytest.mark.parametrize("step", ["planned", "recorded", "published"])
def test_all_is_loaded_again_also_when_stopped(place: Place, load: Load, step: str) -> None:
    place.run(load)
    place.write("b.csv", "id\n3\n")
    place.run_until(load, step, full_refresh=True)
    place.rows("INSERT INTO T.t VALUES (100)")
    place.run(load)
    _whole(place, [1, 2, 3] if step != "published" else [1, 2, 3, 100])
    assert place.run(load).files == 0


def test_a_table_that_was_re_created_is_loaded_again(place: Place, load: Load) -> None:
    place.run(load)
    place.rows("DROP TABLE T.t")
    place.rows("DROP TABLE T.t_bad_records")
    assert place.run(load).rows == 2
    _whole(place, [1, 2])


def test_what_nobody_can_know_is_an_error_that_says_how_to_go_on(place: Place, load: Load) -> None:
    """The batch may have been published: the snapshots that would tell were expired."""
    place.run(load)
    place.write("b.csv", "id\n3\n")
    place.run_until(load, "published")
    for at in range(3):
        place.rows(f"INSERT INTO T.t VALUES ({100 + at})")
    name = Name.of("lake", place.schema, "t")
    table = place.context.session.resolver.described(name)[1].handle
    current = table.metadata.current_snapshot_id
    old = [s.snapshot_id for s in table.metadata.snapshots if s.snapshot_id != current]
    table.maintenance.expire_snapshots().by_ids(old).commit()
    with pytest.raises(CommitUnknown, match=r"snapshots that the table got since were expired.*--full-refresh"):
        place.run(load)
    assert place.run(load, full_refresh=True).rows == 3
    _whole(place, [1, 2, 3])
