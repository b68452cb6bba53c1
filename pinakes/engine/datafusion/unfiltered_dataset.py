"""Arrow datasets whose filters DataFusion applies itself.

DataFusion pushes filters down to an Arrow dataset and relies on the result. But Arrow's `is_in` returns false, not
NULL, for NULL, and its comparisons with NaN differ from SQL, so results would be wrong. Each column is therefore
wrapped in an identity function, which prevents pushdown. A floating-point column gets one NaN (`parquet_scan.py`), and
the fields of a struct that is NULL are NULL.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds
from datafusion import Expr, ScalarUDF, SessionContext, col, udf
from datafusion import Table as Provider

from pinakes.core.arrays.conform import with_null_fields
from pinakes.core.errors import InternalError
from pinakes.core.names import quote
from pinakes.engine.datafusion.parquet_scan import usual_nan


def exact(dataset: pds.Dataset) -> Provider:
    """Returns a provider that pushes down column selection but no row filters."""
    columns = [_column(f).alias(f.name) for f in dataset.schema]
    return _context().read_table(Provider(dataset)).select(*columns).into_view()


def _column(field: pa.Field) -> Expr:
    return usual_nan(_same(field.type)(col(quote(field.name))), field.type, structs=True)


def constant(filter: Any) -> bool:
    """Returns whether a filter is true. Only constant filters are pushed down, since columns are behind a function."""
    value = filter.as_py() if isinstance(filter, pa.Scalar) else filter
    if filter is not None and not isinstance(value, bool | None):
        raise InternalError(f"a filter was handed down to a scan that takes none: {filter}")
    return filter is None or value is True


@cache
def _context() -> SessionContext:
    """Returns a separate context: a view works in any context."""
    return SessionContext()


@cache
def _same(t: pa.DataType) -> ScalarUDF:
    return udf(with_null_fields, [t], t, "immutable", "$same")
