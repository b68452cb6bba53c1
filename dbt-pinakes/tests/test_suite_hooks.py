"""dbt's own suite, unchanged: hooks."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.adapter.hooks import test_model_hooks as hooks
from dbt.tests.adapter.hooks.test_model_hooks import (
    MODEL_POST_HOOK,
    MODEL_PRE_HOOK,
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks


class Here:
    """The suite's own files, and a target that is not PostgreSQL."""

    @pytest.fixture(scope="class")
    def test_data_dir(self):
        return Path(hooks.__file__).parent / "data"

    def check_hooks(self, state, project, host, count=None):
        found = (
            self.get_ctx_vars(state, count, project)
            if count
            else self.get_ctx_vars(state, project=project, **_one(self))
        )
        for ctx in found if isinstance(found, list) else [found]:
            assert ctx["test_state"] == state
            assert ctx["target_host"] == host
            assert ctx["target_name"] == "default"
            assert ctx["target_schema"] == project.test_schema
            assert ctx["target_threads"] == 4
            assert ctx["target_type"] == "pinakes"
            assert ctx["target_pass"] == ""
            assert ctx["run_started_at"]
            assert ctx["invocation_id"]
            assert ctx["thread_id"].startswith(("Thread-", "MainThread"))


def _one(test):
    """Of runs there is one row, and nothing to count."""
    return {} if isinstance(test, BasePrePostRunHooks) else {"count": 1}


class TestPrePostModelHooks(Here, BasePrePostModelHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        """There is no VACUUM: what has no transaction around it is another statement."""
        outside = {"sql": "describe {{ this.schema }}.on_model_hook", "transaction": False}
        hooks = {"pre-hook": [MODEL_PRE_HOOK, outside], "post-hook": [outside, MODEL_POST_HOOK]}
        return {"models": {"test": hooks}}


class TestHookRefs(Here, BaseHookRefs):
    pass


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostModelHooksInConfig(Here, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(Here, BasePrePostModelHooksInConfigWithCount):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        """There is no VACUUM: what has no transaction around it is another statement."""
        outside = {"sql": "describe {{ this.schema }}.on_model_hook", "transaction": False}
        hooks = {"pre-hook": [MODEL_PRE_HOOK, outside], "post-hook": [outside, MODEL_POST_HOOK]}
        return {"models": {"test": hooks}}


class TestPrePostModelHooksInConfigKwargs(Here, BasePrePostModelHooksInConfigKwargs):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestPrePostRunHooks(Here, BasePrePostRunHooks):
    pass


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
