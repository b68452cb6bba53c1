"""A client of workers, written in pyarrow alone. The engine uses it through `providers/vgi`.

class CatalogClient(CatalogClientMixin, Client): ...

client = CatalogClient("./my-worker")
client.catalogs()
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from pinakes.worker.catalog.names import FunctionType
from pinakes.worker.client.calls import FunctionCall
from pinakes.worker.client.connection import CALL_SECONDS
from pinakes.worker.client.location import Location
from pinakes.worker.client.pool import Pool
from pinakes.worker.wire.arguments import Arguments
from pinakes.worker.wire.filters import Filter

__all__ = ["Client"]


class Client:
    """A client of the worker at a location: a command, `unix:///path`, or `http://host:port`. Thread-safe."""

    def __init__(
        self, location: str, *, token: str | None = None, timeout: float | None = CALL_SECONDS, name: str = ""
    ) -> None:
        self._timeout = timeout
        self.pool = Pool(Location(location).connector(name=name, token=token))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.pool.close()

    def call(self, method: str, values: Mapping[str, Any] | None = None) -> bytes | None:
        """Calls a method of the protocol with its values, and returns its result."""
        with self.pool.connection() as connection:
            return connection.call(method, values or {}, timeout=self._timeout)

    def table_function(
        self,
        name: str,
        *arguments: Any,
        named: Mapping[str, Any] | None = None,
        columns: Sequence[str] | None = None,
        filters: Sequence[Filter] = (),
        limit: int | None = None,
        **call: Any,
    ) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a table function as they arrive. `call` may contain schema_path, attach_opaque_data and
        other fields of `FunctionCall`.
        """
        wanted = FunctionCall(name=name, arguments=Arguments.of(arguments, named), **call)
        with self.pool.connection() as connection:
            bound = wanted.bind(connection, timeout=self._timeout)
            stream = bound.begin(connection, columns=columns, filters=filters, limit=limit, timeout=self._timeout)
            yield from stream.batches()

    def scalar_function(self, name: str, *columns: pa.Array, **call: Any) -> pa.Array:
        """Returns the values of a scalar function for rows of arguments."""
        batch = pa.RecordBatch.from_arrays(list(columns), names=[f"arg_{i}" for i in range(len(columns))])
        wanted = FunctionCall(name=name, type=FunctionType.SCALAR, input_schema=batch.schema, **call)
        with self.pool.connection() as connection:
            stream = wanted.bind(connection, timeout=self._timeout).begin(connection, timeout=self._timeout)
            try:
                return stream.exchange(batch).column(0)
            finally:
                stream.close()
