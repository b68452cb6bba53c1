"""The adapter: what dbt asks of Pinakes in Python. Everything that is SQL is a macro, in dbt/include/pinakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from dbt.adapters.base import available
from dbt.adapters.base.impl import AdapterConfig, ConstraintSupport
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.sql import SQLAdapter
from dbt_common.contracts.constraints import ConstraintType
from dbt_common.exceptions import CompilationError

from dbt.adapters.pinakes.catalog import CatalogTable, catalog_table
from dbt.adapters.pinakes.column import PinakesColumn
from dbt.adapters.pinakes.connections import PinakesConnectionManager
from dbt.adapters.pinakes.relation import PinakesRelation
from dbt.adapters.pinakes.seeds import arrow_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import agate


@dataclass
class PinakesConfig(AdapterConfig):  # type: ignore[misc]
    """What a model may say beyond what dbt knows; docs/how-to/use-dbt.md tells what each does."""

    partition_by: str | list[str] | None = None
    sort_by: str | list[str] | None = None
    properties: dict[str, Any] | None = None
    engine: str | None = None


class PinakesAdapter(SQLAdapter):  # type: ignore[misc]
    ConnectionManager = PinakesConnectionManager
    Relation = PinakesRelation
    Column = PinakesColumn
    AdapterSpecificConfigs = PinakesConfig
    # The catalog is asked for these names alone, in one query, however large the lake around them is.
    MAX_SCHEMA_METADATA_RELATIONS = 100_000

    CONSTRAINT_SUPPORT: ClassVar[dict[ConstraintType, ConstraintSupport]] = {
        ConstraintType.check: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.not_null: ConstraintSupport.ENFORCED,
        ConstraintType.unique: ConstraintSupport.NOT_SUPPORTED,
        # Iceberg's identifier fields: kept and told, never checked.
        ConstraintType.primary_key: ConstraintSupport.NOT_ENFORCED,
        ConstraintType.foreign_key: ConstraintSupport.NOT_SUPPORTED,
    }
    _capabilities = CapabilityDict(
        {
            Capability.SchemaMetadataByRelations: CapabilitySupport(support=Support.Full),
            Capability.TableLastModifiedMetadata: CapabilitySupport(support=Support.Full),
            Capability.TableLastModifiedMetadataBatch: CapabilitySupport(support=Support.Full),
            Capability.GetCatalogForSingleRelation: CapabilitySupport(support=Support.Full),
            Capability.MicrobatchConcurrency: CapabilitySupport(support=Support.Full),
        }
    )

    @classmethod
    def date_function(cls) -> str:
        return "now()"

    @classmethod
    def quote(cls, identifier: str) -> str:
        return '"{}"'.format(identifier.replace('"', '""'))

    # --- types of seeds ----------------------------------------------------------------------------------------------

    @classmethod
    def convert_text_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "varchar"

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        import agate as library

        return "double" if agate_table.aggregate(library.MaxPrecision(col_idx)) else "bigint"

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "bigint"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        return "timestamp"

    # --- what macros call --------------------------------------------------------------------------------------------

    def valid_incremental_strategies(self) -> list[str]:
        return ["append", "merge", "delete+insert", "insert_overwrite", "microbatch"]

    @available.parse_none
    def ingest(self, relation: PinakesRelation, rows: agate.Table) -> None:
        """The rows of a seed into a temporary table of this session, by one stream."""
        connection = self.connections.get_thread_connection()
        with self.connections.exception_handler(f"ingest into {relation}"):
            connection.handle.ingest(relation.identifier, arrow_table(rows))

    @available.parse_list
    def as_list(self, value: Any) -> list[Any]:
        """A setting that may be one thing or a list of them."""
        if value is None:
            return []
        return [value] if isinstance(value, str) else list(value)

    def get_catalog_for_single_relation(self, relation: PinakesRelation) -> CatalogTable | None:
        """What the docs tell of one relation; None if it is not there."""
        information = relation.information_schema_only()
        arguments = {"information_schema": information, "relations": [relation]}
        return catalog_table(self.execute_macro("get_catalog_relations", kwargs=arguments))

    # --- settings around a model -------------------------------------------------------------------------------------

    def pre_model_hook(self, config: Mapping[str, Any]) -> list[str]:
        """Settings that hold for the statements of this model alone; other models of the thread are not concerned."""
        settings = _settings(config)
        for name, value in settings.items():
            self.execute(f"set {name} = '{value}'")
        return list(settings)

    def post_model_hook(self, config: Mapping[str, Any], context: list[str]) -> None:
        for name in context:
            connection = self.connections.get_if_exists()
            if connection is None or getattr(connection.handle, "broken", False):
                return  # its session is gone, and the setting with it
            self.execute(f"reset {name}")


def _settings(config: Mapping[str, Any]) -> dict[str, str]:
    settings: dict[str, str] = {}
    if config.get("materialized") == "incremental" and config.get("incremental_strategy") == "insert_overwrite":
        settings["partition_overwrite_mode"] = "dynamic"
    engine = config.get("engine")
    if engine is not None:
        if not isinstance(engine, str) or not engine.isidentifier():
            raise CompilationError(f"engine is the name of an engine, such as local or spark, not {engine!r}")
        settings["engine"] = engine
    return settings
