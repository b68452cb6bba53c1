"""A Spark Connect session without a Spark, in which Python definitions build their plans.

Functions of a pipeline only declare their result, as Spark's declarative pipelines require. So their plans can be built
and checked before a Spark is started.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pinakes.core.errors import NotSupportedError
from pinakes.spark.connect import SETTINGS

_NO_SERVER = "sc://127.0.0.1:1"
_CONNECT_MODE = {"SPARK_CONNECT_MODE_ENABLED": "1", "SPARK_REMOTE": _NO_SERVER}
"""The environment variables that pyspark reads to find the active Connect session."""
_KNOWN = {
    "spark.sql.session.localRelationCacheThreshold": str(1 << 30),
    "spark.sql.session.localRelationChunkSizeRows": "10000",
    "spark.sql.session.localRelationChunkSizeBytes": str(16 << 20),
    "spark.sql.session.localRelationBatchOfChunksSizeBytes": str(1 << 30),
    "spark.sql.execution.pandas.convertToArrowArraySafely": "false",
    "spark.sql.execution.pandas.inferPandasDictAsMap": "false",
    "spark.sql.pyspark.inferNestedDictAsStruct.enabled": "false",
    "spark.sql.pyspark.legacy.inferArrayTypeFromFirstElement.enabled": "false",
    "spark.sql.pyspark.legacy.inferMapTypeFromFirstPair.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}
"""The settings that pyspark reads when rows are passed to it, with Spark's defaults."""


@contextmanager
def defining(root: Path, configuration: Mapping[str, str]) -> Iterator[Any]:
    """Provides an active session and the project's directory as the working directory within the block."""
    try:
        from pyspark.pipelines.block_connect_access import block_spark_connect_execution_and_analysis

        from pinakes.spark.dataframes import SparkSession
    except ImportError as error:
        raise NotSupportedError(f"Python definitions need pyspark ({error}): pip install 'pinakes[spark]'") from error
    session = _made(configuration)
    active: Any = SparkSession._active_session
    before, place, environment = (
        getattr(active, "session", None),
        Path.cwd(),
        {k: os.environ.get(k) for k in _CONNECT_MODE},
    )
    active.session = session
    os.environ.update(_CONNECT_MODE)
    os.chdir(root)
    try:
        with block_spark_connect_execution_and_analysis():
            yield session
    finally:
        os.chdir(place)
        active.session = before
        for key, value in environment.items():
            del os.environ[key]
            os.environ.update({} if value is None else {key: value})
        session.client.close()


def _made(configuration: Mapping[str, str]) -> Any:
    from pyspark.sql.connect.client.core import ConfigResult

    from pinakes.spark.dataframes import SparkSession

    environment = {**_KNOWN, **SETTINGS, **configuration}

    class Offline(SparkSession):
        def sql(self, *arguments: Any, **named: Any) -> Any:
            """Returns the plan only; pyspark would otherwise send a request to find out whether it is a command."""
            run = self.client.execute_command
            self.client.execute_command = lambda *_, **__: (None, {}, None)  # type: ignore[method-assign, assignment]
            try:
                return super().sql(*arguments, **named)
            finally:
                self.client.execute_command = run  # type: ignore[method-assign]

    session = Offline(_NO_SERVER)

    def config(operation: Any) -> Any:
        kind = operation.WhichOneof("op_type")
        requested = getattr(operation, kind)
        if kind == "get_with_default":
            pairs = [(p.key, environment.get(p.key, p.value if p.HasField("value") else None)) for p in requested.pairs]
        elif kind in ("get", "get_option"):
            pairs = [(key, environment.get(key)) for key in requested.keys]
            unknown = [key for key, value in pairs if value is None and kind == "get"]
            if unknown:
                raise KeyError(f"{unknown[0]} is not set: add it to `configuration` of the pipeline")
        else:
            raise NotSupportedError("a definition changes no settings: they stand in `configuration` of the pipeline")
        return ConfigResult(pairs=pairs, warnings=[])

    session.client.config = config  # type: ignore[method-assign]
    return session
