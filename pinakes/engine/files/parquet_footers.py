"""The footer of a Parquet file: the schema in it, and whether its statistics can be trusted."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.engine.files.formats import of_store, reading
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import check_names

_FLOATING = ("FLOAT", "DOUBLE")


def footer_of(file: File) -> pq.FileMetaData:
    """DataCorrupt when there is none that can be read."""
    with reading(file):
        try:
            with file.open() as source:
                return pq.read_metadata(source)
        except (PinakesError, PermissionError, FileNotFoundError):
            raise
        except (OSError, pa.ArrowException) as error:
            if (said := of_store(error, file)) is not None:
                raise said from error
            why = "it is empty" if file.stamp.size == 0 else str(error).splitlines()[0][:200]
            raise DataCorrupt(f"{file} is no Parquet file that can be read: {why}") from error


def file_schema(file: File, footer: pq.FileMetaData) -> pa.Schema:
    with reading(file):
        schema = footer.schema.to_arrow_schema()
    check_names(schema, file)
    return schema.remove_metadata()


def may_mislead(footer: pq.FileMetaData) -> bool:
    """Whether a column has one value in its statistics, and there may be others: NaN, which statistics leave out, or
    those of a row group that has none, as with texts that are too long for them. DataFusion takes it for the only one.
    """
    columns = [(i, _is_floating(footer.schema.column(i))) for i in range(footer.num_columns)]
    several = footer.num_row_groups > 1
    return any(_hides_values(footer, i, unknown=floating) for i, floating in columns if floating or several)


def _is_floating(column: pq.ColumnSchema) -> bool:
    return column.physical_type in _FLOATING or column.logical_type.type == "FLOAT16"


def _hides_values(footer: pq.FileMetaData, column: int, *, unknown: bool) -> bool:
    seen: set[object] = set()
    for number in range(footer.num_row_groups):
        found = footer.row_group(number).column(column).statistics
        if found is None or not found.has_min_max:
            unknown = True
            continue
        seen |= {found.min, found.max}
        if len(seen) > 1:
            return False
    return unknown and bool(seen)
