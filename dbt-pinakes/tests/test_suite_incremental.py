"""dbt's own suite, unchanged: incremental models: strategies, schema changes, keys, predicates."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch, _input_model_sql
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.adapter.sample_mode import fixtures as sample_fixtures
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pass


class TestMicrobatch(BaseMicrobatch):
    """Its times end in an offset of one digit, -0, which Pinakes does not read."""

    @pytest.fixture(scope="class")
    def input_model_sql(self):
        return _input_model_sql.replace("00-0'", "00'")

    @pytest.fixture(scope="class")
    def insert_two_rows_sql(self, project):
        schema = project.adapter.Relation.create(database=project.database, schema=project.test_schema)
        rows = "(4, TIMESTAMP '2020-01-04 00:00:00'), (5, TIMESTAMP '2020-01-05 00:00:00')"
        return f"insert into {schema}.input_model (id, event_time) values {rows}"


class TestIncrementalOnSchemaChange(BaseIncrementalOnSchemaChange):
    pass


class TestPredicatesDeleteInsert(BaseIncrementalPredicates):
    pass


class TestPredicatesMerge(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+incremental_predicates": ["dbt_internal_dest.id != 2"], "+incremental_strategy": "merge"}}


class TestIncrementalUniqueKey(BaseIncrementalUniqueKey):
    pass


class TestSampleMode(BaseSampleModeTest):
    @pytest.fixture(scope="class")
    def input_model_sql(self):
        return sample_fixtures.input_model_sql.replace("00-0'", "00'")
