"""Parquet files of other writers as data files of a table: they are not copied, and only their footers are read.

Columns are matched by name through the table's name mapping. A file that would be misread is rejected with the name of
the file and the column: a type that does not fit, a column that the table lacks, field ids of another table, values
that do not match the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions.literals import literal
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table.name_mapping import NameMapping, create_mapping_from_schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, PrimitiveType

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import quote
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.types.sql import sql_name
from pinakes.engine.files.reading.parquet import footer_of
from pinakes.engine.iceberg.maintenance.sources import directory_values
from pinakes.engine.iceberg.scan.shapes import NAME_MAPPING, NoShape, shape_of
from pinakes.engine.iceberg.write.parquet.columns import Columns
from pinakes.engine.iceberg.write.parquet.metrics import Observed, entry_metrics

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionField
    from pyiceberg.table.metadata import TableMetadata

    from pinakes.engine.files.paths import File


@dataclass(frozen=True)
class Foreign:
    """Converts foreign files to data files of one table."""

    metadata: TableMetadata

    @cached_property
    def mapping(self) -> NameMapping:
        return self.metadata.name_mapping() or create_mapping_from_schema(self.metadata.schema())

    @property
    def properties(self) -> dict[str, str]:
        """The table properties that the files require: a name mapping, if the table has none."""
        known = NAME_MAPPING in self.metadata.properties
        return {} if known else {NAME_MAPPING: self.mapping.model_dump_json()}

    def data_file(self, file: File) -> DataFile:
        footer = footer_of(file)
        stored = footer.schema.to_arrow_schema()
        names = self._names(file, stored)
        metrics = self._metrics(file, footer, names)
        found = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=self._path(file),
            file_format=FileFormat.PARQUET,
            partition=Record(*(self._value(field, file, metrics) for field in self.metadata.spec().fields)),
            file_size_in_bytes=file.stamp.size,
            sort_order_id=None,
            spec_id=self.metadata.default_spec_id,
            equality_ids=None,
            key_metadata=None,
            **metrics,
        )
        found.spec_id = self.metadata.default_spec_id
        return found

    def _path(self, file: File) -> str:
        """Returns the path in the form that the table uses."""
        path = str(file.local) if file.is_local else file.path
        return f"file://{path}" if file.is_local and self.metadata.location.startswith("file:") else path

    # --- columns ---------------------------------------------------------------------------------------------------

    def _names(self, file: File, stored: pa.Schema) -> set[str]:
        """Returns the table's columns that the file has."""
        schema = self.metadata.schema()
        shape = shape_of(stored, schema, self.mapping)
        if isinstance(shape, NoShape):
            raise self._misfit(file, stored)
        found = {f.name: name for f, name in zip(schema.fields, shape.names, strict=True) if name is not None}
        moved = next((f"{quote(name)} as {quote(own)}" for own, name in found.items() if own != name), None)
        if moved is not None and any(b"PARQUET:field_id" in (f.metadata or {}) for f in stored):
            raise InvalidArgument(f"{file} has field ids of another table, which would read its column {moved}")
        extra = [f.name for f in stored if f.name not in found.values()]
        if extra:
            raise InvalidArgument(
                f"{file} has a column {quote(extra[0])} that the table lacks: ALTER TABLE … ADD COLUMN first"
            )
        self._check_complete(file, schema.fields, found)
        return set(found)

    def _check_complete(self, file: File, fields: Iterable[NestedField], found: Mapping[str, str]) -> None:
        by_directory = directory_values(file)
        for field in fields:
            if field.required and field.name not in found and field.name not in by_directory:
                raise InvalidArgument(f"{file} lacks the column {quote(field.name)}, which is NOT NULL in the table")

    def _misfit(self, file: File, stored: pa.Schema) -> InvalidArgument:
        for field in self.metadata.schema().fields:
            at = stored.get_field_index(field.name)
            alone = pa.schema([stored.field(at)]) if at >= 0 else None
            if alone is not None and isinstance(shape_of(alone, self.metadata.schema(), self.mapping), NoShape):
                return InvalidArgument(
                    f"{file}: column {quote(field.name)} is {sql_name_of_arrow(stored.field(at).type)} there and "
                    f"{sql_name(field.field_type)} in the table, so its values can't be read as they are"
                )
        return InvalidArgument(f"{file} does not tell its columns apart by names")

    def _metrics(self, file: File, footer: Any, names: set[str]) -> dict[str, Any]:
        columns = Columns(self.metadata)
        stored = pa.schema([columns.stored.field(i) for i in columns.kept])
        leaves = [leaf for leaf in columns.leaves if stored.field(leaf.position).name in names]
        there = {footer.schema.column(i).path for i in range(footer.num_columns)}
        leaves = [
            replace(leaf, path=leaf.name) if leaf.name in there else leaf for leaf in leaves
        ]  # name not escaped for Avro
        leaves = [leaf for leaf in leaves if leaf.path in there]
        try:
            return entry_metrics(footer, leaves, [Observed() for _ in range(footer.num_row_groups)])
        except (UnicodeDecodeError, TypeError, ValueError) as error:
            raise InvalidArgument(f"{file} has statistics that can't be understood: {error}") from error

    # --- partitions ------------------------------------------------------------------------------------------------

    def _value(self, field: PartitionField, file: File, metrics: Mapping[str, Any]) -> Any:
        """Returns the partition value, from the directory name or from the only value that the file has."""
        source = self.metadata.schema().find_field(field.source_id)
        directories = directory_values(file)
        known, value = self._by_bounds(field, source, metrics)
        if isinstance(field.transform, IdentityTransform) and source.name in directories:
            text = directories[source.name]
            written = None if text is None else self._parsed(source, text, file)
            if source.field_id in metrics["value_counts"] and (not known or value != written):
                raise InvalidArgument(
                    f"{file} is in a directory of {source.name} = {text}, and its column {quote(source.name)} has "
                    f"other values, or does not tell"
                )
            return written
        if not known:
            raise InvalidArgument(
                f"{file} can't be assigned to one partition: the table is partitioned by {field.transform} of "
                f"{quote(source.name)}, and neither a directory {source.name}=… nor the statistics of the file tell it"
            )
        return value

    def _by_bounds(self, field: PartitionField, source: NestedField, metrics: Mapping[str, Any]) -> tuple[bool, Any]:
        """Returns whether the statistics show that all rows are in one partition, and that partition's value."""
        number, kind = source.field_id, source.field_type
        nulls, values = metrics["null_value_counts"].get(number), metrics["value_counts"].get(number)
        if values is None or nulls is None or not isinstance(kind, PrimitiveType):
            return False, None
        if nulls == values:
            return True, None
        ends = [metrics[which].get(number) for which in ("lower_bounds", "upper_bounds")]
        if nulls or None in ends or not field.transform.preserves_order:
            return False, None
        transformed = [field.transform.transform(kind)(from_bytes(kind, end)) for end in ends]
        return transformed[0] == transformed[1], transformed[0]

    def _parsed(self, source: NestedField, text: str, file: File) -> Any:
        assert isinstance(source.field_type, PrimitiveType)
        try:
            return literal(text).to(source.field_type).value
        except (ValueError, TypeError, ArithmeticError) as error:
            raise InvalidArgument(
                f"{file}: {text!r} is not a valid value of {quote(source.name)}, which is {sql_name(source.field_type)}"
            ) from error
