"""dbt's own suite, unchanged: seeds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import target
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.adapter.simple_seed import fixtures, seeds
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride


class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self):
        return target()


class TestSimpleCopy(SimpleCopyBase):
    @pytest.mark.skip(reason="there are no materialized views")
    def test_simple_copy_with_materialized_views(self, project):
        pass


class TestEmptyModelsArentRun(EmptyModelsArentRunBase):
    pass


class NoCascade:
    """A table is replaced, not dropped, so what reads it is still there; the suite looks for the cascade of a DROP."""

    def _check_relation_end_state(self, run_result, project, exists):
        super()._check_relation_end_state(run_result, project, exists=True)


class TestBasicSeedTests(NoCascade, BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(NoCascade, BaseSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOff(BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(BaseSeedCustomSchema):
    pass


class TestSeedWithUniqueDelimiter(BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(BaseSeedWithWrongDelimiter):
    pass


class TestSeedWithEmptyDelimiter(BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(BaseSimpleSeedWithBOM):
    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        """The file lies beside the suite."""
        project.run_sql(seeds.seeds__expected_sql)
        shutil.copy(Path(seeds.__file__).parent / "seed_bom.csv", project.project_root / Path("seeds"))


class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    pass


class TestTestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    """Texts are varchar, and numbers bigint."""

    @pytest.fixture(scope="class")
    def models(self):
        named = fixtures.properties__schema_yml.replace("type: text", "type: varchar")
        return {
            "schema.yml": named.replace("type: integer", "type: bigint").replace(
                "type: timestamp without time zone", "type: timestamp(6)"
            )
        }
