"""dbt's fixtures, the profile of the server that the whole session shares, and which tests run every time.

Each test of dbt's suite is a project that is parsed and run several times: all of them take a quarter of an hour. So a
sample runs by default, which has every materialization and strategy in it, and all with PINAKES_LONG=1.
"""

from __future__ import annotations

import os

import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]

ALWAYS = {
    "test_suite_basic.py": {"TestSimpleMaterializations", "TestSnapshotTimestamp"},
    "test_suite_constraints.py": {"TestIncrementalConstraintsRollback"},
    "test_suite_docs.py": {"TestPersistDocs"},
    "test_suite_hooks.py": {"TestPrePostModelHooks"},
    "test_suite_incremental.py": {"TestMicrobatch", "TestPredicatesDeleteInsert"},
    "test_suite_projects.py": {"TestConcurrency", "TestChangeRelationTypeValidator"},
    "test_suite_seeds.py": {"TestSimpleSeedColumnOverride"},
    "test_suite_snapshots.py": {"TestSnapshotNewRecordTimestampMode"},
    "test_suite_utils.py": {"TestDateDiff"},
}
"""Of dbt's suite; what is the adapter's own always runs, unless it is marked long."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("PINAKES_LONG"):
        return
    skip = pytest.mark.skip(reason="long: set PINAKES_LONG=1")
    for item in items:
        if item.get_closest_marker("long") or not _always(item):
            item.add_marker(skip)


def _always(item: pytest.Item) -> bool:
    if item.path.name not in ALWAYS:
        return True
    return item.cls is not None and item.cls.__name__ in ALWAYS[item.path.name]


def target():
    """The server that whoever started the tests has started."""
    host, _, port = os.environ["PINAKES_DBT_SERVER"].rpartition(":")
    return {"type": "pinakes", "host": host, "port": int(port), "catalog": "lake", "threads": 4}


@pytest.fixture(scope="class")
def dbt_profile_target():
    return target()


@pytest.fixture(scope="class")
def logs_dir(prefix, tmp_path_factory):
    """dbt's fixture writes them into the checkout."""
    place = str(tmp_path_factory.mktemp("logs") / prefix)
    os.environ["DBT_LOG_PATH"] = place
    yield place
    del os.environ["DBT_LOG_PATH"]
