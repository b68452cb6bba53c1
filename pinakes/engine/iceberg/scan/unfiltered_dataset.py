"""Datasets whose filters DataFusion applies itself.

DataFusion hands the filters of a query down to an Arrow dataset and takes what comes back as filtered. But Arrow's
`is_in` is false, not NULL, for NULL, and its comparisons with NaN are others than SQL's: rows would be wrong. Each
column goes through a function that gives it back as it is; what is behind a function is not handed down.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds
from datafusion import ScalarUDF, SessionContext, col, udf
from datafusion import Table as Provider

from pinakes.core.errors import InternalError
from pinakes.core.names import quote


def exact(dataset: pds.Dataset) -> Provider:
    """The dataset as DataFusion is to read it: columns are still chosen by the query, rows only by DataFusion."""
    columns = [_same(f.type)(col(quote(f.name))).alias(f.name) for f in dataset.schema]
    return _context().read_table(Provider(dataset)).select(*columns).into_view()


def constant(filter: Any) -> bool:
    """Whether a filter lets rows pass. Only constants are handed down: what depends on a row is behind a function."""
    value = filter.as_py() if isinstance(filter, pa.Scalar) else filter
    if filter is not None and not isinstance(value, bool | None):
        raise InternalError(f"a filter was handed down to a scan that takes none: {filter}")
    return filter is None or value is True


@cache
def _context() -> SessionContext:
    """A context of its own: a plan that is a provider works in any."""
    return SessionContext()


@cache
def _same(t: pa.DataType) -> ScalarUDF:
    return udf(_identity, [t], t, "immutable", "$same")


def _identity(values: Any) -> Any:
    return values
