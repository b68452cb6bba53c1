"""The footer of a Parquet file, and the schema in it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.parquet_footer import read_footer
from pinakes.engine.files.formats import of_store, reading
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import check_names


def footer_of(file: File) -> pq.FileMetaData:
    """Reads the footer; raises DataCorrupt if it cannot be read."""
    with reading(file):
        try:
            with file.open() as source:
                return read_footer(source)
        except (PinakesError, PermissionError, FileNotFoundError):
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            if (said := of_store(error, file)) is not None:
                raise said from error
            why = "it is empty" if file.stamp.size == 0 else str(error).splitlines()[0][:200]
            raise DataCorrupt(f"{file} is no Parquet file that can be read: {why}") from error


def file_schema(file: File, footer: pq.FileMetaData) -> pa.Schema:
    with reading(file):
        schema = footer.schema.to_arrow_schema()
    check_names(schema, file)
    return schema.remove_metadata()
