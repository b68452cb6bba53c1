"""Pipelines fill catalogs of every type that Spark can write: tables, new rows, records."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.core.errors import PipelineFailed
from tests.pipeline.conftest import config_of
from tests.pipeline.runs.support import project, run, values
from tests.pipeline.test_catalogs import NOT_THERE
from tests.providers.kinds import KINDS, attached, new_name, store_secret
from tests.servers.base import Facts

pytestmark = pytest.mark.slow

NO_HISTORY = ("nessie",)
"""They tell of the last snapshot of a table alone: a run says so, and changes nothing."""
SQL = """
CREATE MATERIALIZED VIEW sums AS SELECT k, sum(v) AS s FROM raw GROUP BY k;
CREATE STREAMING TABLE log (CONSTRAINT some EXPECT (v > 1) ON VIOLATION DROP ROW) AS SELECT * FROM STREAM raw;
"""


@pytest.mark.parametrize("name", [kind for kind in KINDS if kind not in NOT_THERE])
def test_each_type(spark_connect_server: Facts, tmp_path: Path, request: pytest.FixtureRequest, name: str) -> None:
    kind = KINDS[name]
    facts = request.getfixturevalue(f"{kind.server}_server") if kind.server else {}
    store = [store_secret(request.getfixturevalue(f"{kind.store}_server"))] if kind.store else []
    schema = new_name("pipes")
    with open_engine(config_of(spark_connect_server)) as engine:
        session = attached(engine, [*store, *kind.attach(facts, tmp_path)])
        session.run(f"CREATE SCHEMA cat.{schema}").read_all()
        session.run(f"CREATE TABLE cat.{schema}.raw AS SELECT 1 AS k, value AS v FROM generate_series(1, 3)").read_all()
        spec = project(tmp_path / "project", "", SQL, schema=schema)
        spec.write_text(
            spec.read_text().replace("catalog: lake", "catalog: cat").replace("name: shop", f"name: {schema}")
        )
        run(engine, spec)
        session.run(f"INSERT INTO cat.{schema}.raw VALUES (1, 10)").read_all()
        if name in NO_HISTORY:
            with pytest.raises(PipelineFailed, match="keeps no branches"):
                run(engine, spec)
            return
        run(engine, spec)
        assert values(session, f"SELECT * FROM cat.{schema}.sums") == [(1, 16)]
        assert values(session, f"SELECT v FROM cat.{schema}.log ORDER BY v") == [(2,), (3,), (10,)]
        found = values(
            session,
            f"SELECT sum(passed_rows), sum(failed_rows) FROM system.pipeline.expectations WHERE pipeline = '{schema}'",
        )
        assert found == [(3, 1)]
