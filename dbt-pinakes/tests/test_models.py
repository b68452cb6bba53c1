"""What a model can be configured with here, and what is refused."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

_LAID_OUT = """
{{ config(
    materialized='table', partition_by=['day(at)', 'bucket(4, id)'], sort_by='id desc',
    properties={'write.target-file-size-bytes': 1048576, 'owner': "o'neil"}
) }}
select 1 as id, timestamp '2024-01-01 10:00:00' as at
"""
_DAYS = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='day') }}
{% if is_incremental() %}
select date '2024-01-02' as day, 20 as amount
{% else %}
select * from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-02', 3)) as t(day, amount)
{% endif %}
"""
_KEYS = """
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['a', 'b']) }}
{% if is_incremental() %}
select * from (values (1, 'x', 10), (1, 'x', 11), (3, 'z', 30)) as t(a, b, c)
{% else %}
select * from (values (1, 'x', 1), (1, 'y', 2), (2, 'x', 3)) as t(a, b, c)
{% endif %}
"""
_ENGINE = "{{ config(materialized='table', engine='%s') }} select 1 as id"
_HEADER = """
{{ config(materialized='table') }}
{% call set_sql_header(config) %}set time_zone = 'Asia/Kolkata';{% endcall %}
select 1 as id
"""
_ZONE = """
{{ config(materialized='table') }} -- {{ ref('header') }}
select cast(cast('2020-01-01 00:00:00Z' as timestamptz) as varchar) as shown
"""


class Project:
    def rows(self, project, sql):
        return sorted(project.run_sql(sql, fetch="all"))


class TestLayout(Project):
    @pytest.fixture(scope="class")
    def models(self):
        return {"laid_out.sql": _LAID_OUT, "days.sql": _DAYS, "keys.sql": _KEYS}

    def test_layout_and_strategies(self, project):
        run_dbt(["run"])
        shown = project.run_sql("show create table {schema}.laid_out", fetch="one")[0]
        assert "PARTITIONED BY (day(at), bucket(4, id))" in shown
        assert "SORTED BY (id DESC NULLS LAST)" in shown
        assert "'owner' = 'o''neil'" in shown
        run_dbt(["run"])
        days = self.rows(project, "select cast(day as varchar), amount from {schema}.days")
        assert days == [("2024-01-01", 1), ("2024-01-02", 20)]
        keys = self.rows(project, "select a, b, c from {schema}.keys")
        assert keys == [(1, "x", 10), (1, "x", 11), (1, "y", 2), (2, "x", 3), (3, "z", 30)]
        # The second run of an incremental model is one commit, whatever its strategy.
        for table in ("days", "keys"):
            commits = project.run_sql(f'select count(*) from {{schema}}."{table}$snapshots"', fetch="one")[0]
            assert commits == 2, table


class TestSessions(Project):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "threads": 1}

    @pytest.fixture(scope="class")
    def models(self):
        return {"header.sql": _HEADER, "zone.sql": _ZONE}

    def test_what_a_model_sets_is_not_the_next_ones(self, project):
        run_dbt(["run"])
        assert project.run_sql("select shown from {schema}.zone", fetch="one")[0].startswith("2020-01-01 00:00:00")


class TestEngine:
    @pytest.fixture(scope="class")
    def models(self):
        return {"somewhere.sql": _ENGINE % "local"}

    def test_engine_is_set_around_the_model(self, project):
        _, log = run_dbt_and_capture(["--debug", "run"])
        assert "set engine = 'local'" in log
        assert "reset engine" in log
        write_file(_ENGINE % "no such engine", project.project_root, "models", "somewhere.sql")
        results = run_dbt(["run"], expect_pass=False)
        assert "engine is the name of an engine" in results[0].message


class TestGrants:
    @pytest.fixture(scope="class")
    def models(self):
        return {"granted.sql": "{{ config(materialized='table', grants={'select': ['bob']}) }} select 1 as id"}

    def test_grants_are_refused_before_anything_is_built(self, project):
        results = run_dbt(["run"], expect_pass=False)
        assert "Pinakes has no GRANT: rights are those of the catalog" in results[0].message
        assert project.run_sql("show tables in {schema} like 'granted'", fetch="all") == []


class TestNestedSchema:
    @pytest.fixture(scope="class")
    def unique_schema(self, unique_schema):
        return f"outer_{unique_schema}.inner"

    @pytest.fixture(scope="class", autouse=True)
    def outer(self, unique_schema, adapter):
        with adapter.connection_named("outer"):
            outer = unique_schema.partition(".")[0]
            adapter.execute(f"create schema if not exists lake.{outer}")
        yield
        with adapter.connection_named("outer"):
            adapter.execute(f"drop schema if exists lake.{outer} cascade")

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "deep.sql": "select 1 as id",
            "deeper.sql": "{{ config(materialized='table') }} select * from {{ ref('deep') }}",
        }

    def test_models_of_a_nested_schema(self, project):
        run_dbt(["run"])
        run_dbt(["run"])
        catalog = run_dbt(["docs", "generate"])
        assert {node.split(".")[-1] for node in catalog.nodes} == {"deep", "deeper"}


_DICE = """
{{ config(materialized='incremental', unique_key='id') }}
select x as id, case when random() < 0.5 then 'a' else 'b' end as side
from generate_series(1, 400) as t(x)
{% if is_incremental() %} where random() < 0.5 {% endif %}
"""


class TestDice:
    """A query that gives other rows each time it is read: MERGE must not see two of them."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"dice.sql": _DICE}

    def test_a_merge_reads_its_rows_once(self, project):
        run_dbt(["run"])
        project.run_sql("delete from {schema}.dice where id % 2 = 0")
        run_dbt(["run"])
        total, distinct = project.run_sql("select count(*), count(distinct id) from {schema}.dice", fetch="one")
        assert total == distinct
        assert 200 <= total < 400
