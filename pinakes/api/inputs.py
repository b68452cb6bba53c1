"""Python data as sources of the engine: Arrow tables, readers and datasets, frames of pandas and polars, and other
objects with Arrow's stream interface (`__arrow_c_stream__`). Their libraries are not imported for this."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds

from pinakes.api.relation import Relation
from pinakes.core.errors import TypeMismatch
from pinakes.engine.binding.session_relations import Source
from pinakes.engine.datafusion.memory_sources import Dataset, ReadOnce, Rows, Stream

STREAM = "__arrow_c_stream__"


def is_tabular(data: object) -> bool:
    """Whether an object can be read as a table. A class never can."""
    if isinstance(data, type):
        return False
    return isinstance(data, pa.RecordBatch | pds.Dataset) or _is_lazy_frame(data) or hasattr(type(data), STREAM)


def source_of(data: Any, what: str) -> Source:
    """Returns the rows of `data`; data in memory can be read repeatedly, a reader once."""
    if not is_tabular(data):
        raise TypeMismatch(
            f"{what} is a {type(data).__qualname__}, which is not a table; give an Arrow table, reader or dataset, "
            f"a pandas or polars frame, or anything with {STREAM}"
        )
    try:
        source = _source(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TypeMismatch(f"{what}, a {type(data).__qualname__}, cannot be read as a table: {error}") from error
    duplicates = [name for name, count in Counter(source.schema.names).items() if count > 1]
    if duplicates:
        raise TypeMismatch(f"{what} has more than one column of the name {duplicates[0]!r}: rename all but one")
    return source


def _source(data: Any) -> Source:
    if isinstance(data, Relation):
        return Stream(data.schema, data.reader)  # not through Arrow's C interface, which reduces errors to text
    if isinstance(data, pds.Dataset):
        return Dataset(data)
    if isinstance(data, pa.RecordBatchReader):
        return ReadOnce(data)
    if isinstance(data, pa.RecordBatch):
        return Rows(pa.Table.from_batches([data]))
    if _is_pandas(data):
        return Rows(pa.Table.from_pandas(data, preserve_index=False))
    if _is_lazy_frame(data):
        return Rows(pa.table(data.collect()))
    if isinstance(data, pa.Table) or _library(data) == "polars":
        return Rows(pa.table(data))
    return Stream(_schema(data), lambda: pa.RecordBatchReader.from_stream(data))


def _schema(data: Any) -> pa.Schema:
    """Returns the schema of a stream without reading from it."""
    if hasattr(data, "__arrow_c_schema__"):
        return pa.schema(data)
    return pa.RecordBatchReader.from_stream(data).schema


def _library(data: object) -> str:
    return type(data).__module__.partition(".")[0]


def _is_pandas(data: object) -> bool:
    """Whether it is a pandas frame or a subclass of it, such as that of geopandas."""
    return any(c.__name__ == "DataFrame" and c.__module__.partition(".")[0] == "pandas" for c in type(data).__mro__)


def _is_lazy_frame(data: object) -> bool:
    return _library(data) == "polars" and type(data).__name__ == "LazyFrame"
