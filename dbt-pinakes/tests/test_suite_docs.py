"""dbt's own suite, unchanged: docs, comments, catalog, query comments."""

from __future__ import annotations

import pytest
from dbt.artifacts.schemas.catalog import CatalogTable, ColumnMetadata, TableMetadata
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, expected_references_catalog, no_stats
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_get_catalog_for_single_relation import BaseGetCatalogForSingleRelation
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseEmptyQueryComments,
    BaseMacroArgsQueryComments,
    BaseMacroInvalidQueryComments,
    BaseMacroQueryComments,
    BaseNullQueryComments,
    BaseQueryComments,
)


class Catalog:
    """Relations have no owner and no statistics here, and a number of a seed is a bigint."""

    @pytest.fixture(scope="class")
    def profile_user(self):
        return None

    @pytest.fixture(scope="class")
    def types(self):
        return {
            "id_type": "bigint",
            "text_type": "varchar",
            "time_type": "timestamp(6)",
            "view_type": "view",
            "table_type": "table",
            "model_stats": no_stats(),
        }


class TestDocsGenerate(Catalog, BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project, types):
        return base_expected_catalog(project, role=None, **types)


class TestDocsGenReferences(Catalog, BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project, types):
        return expected_references_catalog(
            project,
            role=None,
            id_type="bigint",
            text_type="varchar",
            time_type="timestamp(6)",
            bigint_type="bigint",
            view_type="view",
            table_type="table",
            model_stats=no_stats(),
        )


def _table(project, name, kind):
    columns = [
        ("id", "bigint"),
        ("first_name", "varchar"),
        ("email", "varchar"),
        ("ip_address", "varchar"),
        ("updated_at", "timestamp(6)"),
    ]
    return CatalogTable(
        metadata=TableMetadata(type=kind, schema=project.test_schema, name=name, database=project.database),
        columns={
            column: ColumnMetadata(type=type_, index=index, name=column)
            for index, (column, type_) in enumerate(columns, 1)
        },
        stats={},
        unique_id=None,
    )


class TestGetCatalogForSingleRelation(BaseGetCatalogForSingleRelation):
    @pytest.fixture(scope="class")
    def expected_catalog_my_seed(self, project):
        return _table(project, "my_seed", "table")

    @pytest.fixture(scope="class")
    def expected_catalog_my_view_model(self, project):
        return _table(project, "my_view_model", "view")


class TestPersistDocs(BasePersistDocs):
    pass


class TestPersistDocsColumnMissing(BasePersistDocsColumnMissing):
    pass


class TestPersistDocsAllColumnsMissing(BasePersistDocsAllColumnsMissing):
    pass


class TestPersistDocsQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive):
    pass


class TestPersistDocsQuotedDescriptionNotAppliedOnMismatch(BasePersistDocsQuotedDescriptionNotAppliedOnMismatch):
    pass


class TestPersistDocsCommentOnQuotedColumn(BasePersistDocsCommentOnQuotedColumn):
    pass


class TestQueryComments(BaseQueryComments):
    pass


class TestMacroQueryComments(BaseMacroQueryComments):
    pass


class TestMacroArgsQueryComments(BaseMacroArgsQueryComments):
    pass


class TestMacroInvalidQueryComments(BaseMacroInvalidQueryComments):
    pass


class TestNullQueryComments(BaseNullQueryComments):
    pass


class TestEmptyQueryComments(BaseEmptyQueryComments):
    pass
