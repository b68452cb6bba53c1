"""DataFusion's settings: those of every context, and those that SET changes. `session_contexts.py` creates the
contexts.
"""

from __future__ import annotations

import logging

from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext, SQLOptions

from pinakes.config.model import CachesConfig, EngineConfig
from pinakes.config.settings import Settings
from pinakes.engine.datafusion.bounded_functions import register_bounded_functions
from pinakes.engine.datafusion.catalog_bridge import CURRENT
from pinakes.engine.datafusion.checked_functions import register_checked_functions
from pinakes.engine.datafusion.json_functions import register_json_functions
from pinakes.engine.datafusion.library_functions import register_library_functions

# It has a line for each of some 400 functions of each context, in which nothing else would be found.
logging.getLogger("datafusion.execution.session_state").setLevel(logging.INFO)

_STATISTICS = "datafusion.execution.collect_statistics"
_DYNAMIC_FILTERS = "datafusion.optimizer.enable_dynamic_filter_pushdown"
_AGGREGATE_FILTERS = "datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown"
"""Always off: an aggregate that has seen only NULL so far is left out of the filter, so that `SELECT max(a), max(b)`
skips files that have the greatest b (tests/workarounds/test_aggregate_dynamic_filter.py)."""
_ROUND_ROBIN = "datafusion.optimizer.enable_round_robin_repartition"
_DIALECT = "datafusion.sql_parser.dialect"
_BATCH_SIZE = "datafusion.execution.batch_size"
_TUNED = {
    _AGGREGATE_FILTERS: "false",
    # Its own is 50, and exceeding it within CASE is reported as a syntax error. `parser/brackets.py` and `limits.py`
    # have limits that are reached before.
    "datafusion.sql_parser.recursion_limit": "5000",
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


def make_context(runtime: RuntimeEnvBuilder, settings: Settings, footers: int, result_limit: int) -> SessionContext:
    """A context that knows no catalogs; `footers` are bytes of them that it may remember, `result_limit` those that a
    single call of a function may make."""
    config = (
        SessionConfig()
        .with_information_schema(False)
        .with_create_default_catalog_and_schema(False)
        .with_default_catalog_and_schema(CURRENT, CURRENT)
    )
    for key, value in options_of(settings).items():
        config = config.set(key, value)
    context = SessionContext(config, runtime)
    register_checked_functions(context)
    register_bounded_functions(context, result_limit)
    register_json_functions(context, result_limit)
    register_library_functions(context)
    if footers != CachesConfig().footers.max_bytes:  # DataFusion's own limits, which are not set for nothing
        limit_footers(context, footers)
    return context


def limit_footers(context: SessionContext, size: int) -> None:
    """What DataFusion may remember of footers and of the statistics in them. It takes these limits by SQL only."""
    context.sql(f"SET datafusion.runtime.metadata_cache_limit = '{size // 1024}K'")
    context.sql(f"SET datafusion.runtime.file_statistics_cache_limit = '{size * 2 // 5 // 1024}K'")


def apply_settings(context: SessionContext, settings: Settings) -> None:
    """Bring a context that is in use up to date after SET or RESET."""
    for key, value in options_of(settings).items():
        context.sql(f"SET {key} = '{value}'")


class Switches:
    """What plans of one context need otherwise than others do. A plan keeps what it was made with. Each option stays as
    it is until some plan needs another value, since to set one takes as long as to find out all else about a known
    plan."""

    def __init__(self, settings: Settings) -> None:
        self._are = {_STATISTICS: "true", _DYNAMIC_FILTERS: "true", _ROUND_ROBIN: "true", _DIALECT: "generic"}
        self.applied(settings)

    def applied(self, settings: Settings) -> None:
        """The context has new settings."""
        self._are[_BATCH_SIZE] = str(settings.batch_size)

    def set(
        self,
        context: SessionContext,
        *,
        statistics: bool | None = None,
        dynamic_filters: bool | None = None,
        round_robin: bool | None = None,
        rows: int | None = None,
        lambdas: bool | None = None,
    ) -> None:
        """Whether what is planned next uses the statistics of files, the filters that operators make while they run,
        and hands batches round to all threads, how many rows a batch has, and whether `->` makes a lambda, which it
        does in DataFusion's dialect duckdb; None leaves it. The caller holds the
        session's lock, or works for who does."""
        given = {_STATISTICS: statistics, _DYNAMIC_FILTERS: dynamic_filters, _ROUND_ROBIN: round_robin}
        dialect = None if lambdas is None else "duckdb" if lambdas else "generic"
        for option, value in (*given.items(), (_BATCH_SIZE, rows), (_DIALECT, dialect)):
            wanted = str(value).lower()
            if value is not None and wanted != self._are[option]:
                context.sql(f"SET {option} = '{wanted}'")
                self._are[option] = wanted
                if option == _DYNAMIC_FILTERS:  # which sets the option of each operator, too
                    context.sql(f"SET {_AGGREGATE_FILTERS} = 'false'")


def parser_options(time_zone: str) -> dict[str, str]:
    """What the types of expressions depend on."""
    return {
        "datafusion.execution.time_zone": time_zone,
        # 1.5 is a DECIMAL. What is written with an exponent is a DOUBLE: `parser/typed/arithmetic.py` sees to that.
        "datafusion.sql_parser.parse_float_as_decimal": "true",
    }


def options_of(settings: Settings) -> dict[str, str]:
    return {
        **parser_options(settings.time_zone),
        _BATCH_SIZE: str(settings.batch_size),
        "datafusion.execution.target_partitions": str(settings.target_partitions),
        **_TUNED,
    }
