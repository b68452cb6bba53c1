"""DataFusion contexts: one per session, all drawing on one memory pool and one spill directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext, SQLOptions

from pinakes.core.config import EngineConfig
from pinakes.core.settings import Settings
from pinakes.engine.bridge import CURRENT, Bridge

_STATISTICS = "datafusion.execution.collect_statistics"
_TUNED = {
    # A join whose smaller side fits easily is quicker when that is not shared out: measured by benchmarks/tpch.py.
    "datafusion.optimizer.hash_join_single_partition_threshold": "104857600",
    "datafusion.optimizer.hash_join_single_partition_threshold_rows": "10000000",
}
READ_ONLY = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
"""DataFusion only ever plans queries: changes are ours, and its own DDL would run at once."""


def make_runtime(config: EngineConfig) -> RuntimeEnvBuilder:
    """Memory limit and spill directory, shared by every session of an engine."""
    runtime = RuntimeEnvBuilder().with_fair_spill_pool(config.memory_limit)
    if config.spill_dir is None:
        return runtime.with_disk_manager_os()
    return runtime.with_disk_manager_specified(str(config.spill_dir))


def make_context(runtime: RuntimeEnvBuilder, settings: Settings, bridge: Bridge) -> SessionContext:
    config = (
        SessionConfig()
        .with_information_schema(False)
        .with_create_default_catalog_and_schema(False)
        .with_default_catalog_and_schema(CURRENT, CURRENT)
    )
    for key, value in options_of(settings).items():
        config = config.set(key, value)
    context = SessionContext(config, runtime)
    context.register_catalog_provider_list(bridge)
    return context


def apply_settings(context: SessionContext, settings: Settings) -> None:
    """Bring a context that is in use up to date after SET or RESET."""
    for key, value in options_of(settings).items():
        context.sql(f"SET {key} = '{value}'")


@contextmanager
def planned_with(context: SessionContext, *, statistics: bool) -> Iterator[None]:
    """What is planned in the block uses the statistics of files, or does not; a plan keeps the options it was made
    with."""
    if not statistics:
        context.sql(f"SET {_STATISTICS} = 'false'")
    try:
        yield
    finally:
        if not statistics:
            context.sql(f"SET {_STATISTICS} = 'true'")


def options_of(settings: Settings) -> dict[str, str]:
    return {
        "datafusion.execution.time_zone": settings.time_zone,
        "datafusion.execution.batch_size": str(settings.batch_size),
        "datafusion.execution.target_partitions": str(settings.target_partitions),
        **_TUNED,
    }
