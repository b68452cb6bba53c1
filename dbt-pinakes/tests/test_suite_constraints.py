"""dbt's own suite: contracts and constraints. What it asks each adapter for is given: names of types, its DDL."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.column_types.test_column_types import BaseColumnTypes
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
)

_SELECT = """
as (
    select id, color, date_day from (
        -- depends_on: <foreign_key_model_identifier>
        select 'blue' as color, 1 as id, '2019-01-01' as date_day
    ) as model_subq
)
"""


class Types:
    """Pinakes' types, in a contract and in the error when it is broken. There is no JSON."""

    @pytest.fixture
    def string_type(self):
        return "varchar"

    @pytest.fixture
    def int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self, schema_int_type, int_type, string_type):
        return [
            ["1", schema_int_type, int_type],
            ["'1'", string_type, string_type],
            ["true", "bool", "boolean"],
            ["'2013-11-03 00:00:00-07'::timestamptz", "timestamptz", "timestamp with time zone"],
            ["'2013-11-03 00:00:00-07'::timestamp", "timestamp", "timestamp"],
            ["ARRAY['a','b','c']", "text[]", "array(varchar)"],
            ["'1'::numeric(10,2)", "numeric(10,2)", "decimal(10,2)"],
        ]


class NotNull:
    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return ["CONSTRAINT_VIOLATION: column 'id' is NOT NULL, and row 1 has NULL in it"]


class TestTableConstraintsColumnsEqual(Types, BaseTableConstraintsColumnsEqual):
    pass


class TestViewConstraintsColumnsEqual(Types, BaseViewConstraintsColumnsEqual):
    pass


class TestIncrementalConstraintsColumnsEqual(Types, BaseIncrementalConstraintsColumnsEqual):
    pass


class KeyOfAColumn:
    @pytest.fixture(scope="class")
    def expected_sql(self):
        columns = "(id integer not null primary key, color text, date_day text)"
        return f"create or replace table <model_identifier> {columns} {_SELECT}"


class TestConstraintsRuntimeDdlEnforcement(KeyOfAColumn, BaseConstraintsRuntimeDdlEnforcement):
    pass


class TestIncrementalConstraintsRuntimeDdlEnforcement(KeyOfAColumn, BaseIncrementalConstraintsRuntimeDdlEnforcement):
    pass


class TestModelConstraintsRuntimeEnforcement(BaseModelConstraintsRuntimeEnforcement):
    @pytest.fixture(scope="class")
    def expected_sql(self):
        columns = "(id integer not null, color text, date_day text, primary key (id))"
        return f"create or replace table <model_identifier> {columns} {_SELECT}"


class TestConstraintQuotedColumn(BaseConstraintQuotedColumn):
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return """
        create or replace table <model_identifier> (id integer not null, "from" text not null, date_day text)
        as (
            select id, "from", date_day from (
                select 'blue' as "from", 1 as id, '2019-01-01' as date_day
            ) as model_subq
        )
        """


class TestConstraintsRollback(NotNull, BaseConstraintsRollback):
    pass


class TestIncrementalConstraintsRollback(NotNull, BaseIncrementalConstraintsRollback):
    pass


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass


def _here(model: str) -> dict[str, str]:
    """There is no current_setting: the zone that the header sets shows in how a time is written."""
    shown = "cast(cast('2020-01-01 00:00:00Z' as timestamptz) as varchar)"
    return {
        "my_model_contract_sql_header.sql": model.replace("current_setting('timezone')", shown),
        "constraints_schema.yml": fixtures.model_contract_header_schema_yml,
    }


class TestTableContractSqlHeader(BaseTableContractSqlHeader):
    @pytest.fixture(scope="class")
    def models(self):
        return _here(fixtures.my_model_contract_sql_header_sql)


class TestIncrementalContractSqlHeader(BaseIncrementalContractSqlHeader):
    @pytest.fixture(scope="class")
    def models(self):
        return _here(fixtures.my_model_incremental_contract_sql_header_sql)


_MODEL = """
select
    cast(1 as smallint) as smallint_col, cast(2 as int) as int_col, cast(3 as bigint) as bigint_col,
    cast(4.0 as real) as real_col, cast(5.0 as double) as double_col, cast(6.0 as numeric) as numeric_col,
    cast('7' as text) as text_col, cast('8' as varchar(20)) as varchar_col
"""
_SCHEMA = """
version: 2
models:
  - name: model
    data_tests:
      - is_type:
          column_map:
            smallint_col: ['integer', 'number']
            int_col: ['integer', 'number']
            bigint_col: ['integer', 'number']
            real_col: ['float', 'number']
            double_col: ['float', 'number']
            numeric_col: ['numeric', 'number']
            text_col: ['string', 'not number']
            varchar_col: ['string', 'not number']
"""


class TestColumnTypes(BaseColumnTypes):
    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": _MODEL, "schema.yml": _SCHEMA}

    def test_run_and_test(self, project):
        self.run_and_test()
