"""The result of `con.sql`: the rows of a statement, in various forms.

A query is planned immediately and runs when it is first read; its rows are a single-use stream. `arrow()` keeps them in
memory, and later reads use that copy. Every other way of reading (`reader`, `df`, `pl`, `fetchall`, passing it to
another library) consumes the stream, and a second read is an error. `show` and the notebook views display the first
rows, which remain available for reading. Any other statement has been executed already.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.api.display import as_html, as_text
from pinakes.api.errors import raising
from pinakes.api.extras import needed
from pinakes.api.rows import Row, rows_of
from pinakes.core.errors import InvalidArgument, PinakesError
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.engine.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SHOWN = 40
"""Maximum number of rows in a view."""


class Relation:
    """For one reader at a time, like the underlying stream. `owner` is kept alive with the relation."""

    def __init__(self, result: Result, owner: object) -> None:
        self._result = result
        self._owner = owner
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._head: list[pa.RecordBatch] = []
        self._rest: Iterator[pa.RecordBatch] | None = None
        self._passed_on = False
        self._gone: str | None = None
        """The reason why the rest of the stream can't be read; a partial stream is never returned as complete."""
        self._kept: pa.Table | None = None

    # --- properties ---------------------------------------------------------------------------------------------------

    @property
    def schema(self) -> pa.Schema:
        return self._result.schema

    @property
    def columns(self) -> list[str]:
        return list(self.schema.names)

    @property
    def types(self) -> list[str]:
        """The SQL type of each column."""
        return [sql_name_of_arrow(t) for t in self.schema.types]

    @property
    def rowcount(self) -> int:
        """The number of rows that a statement changed; -1 if there is none."""
        return -1 if self._result.count is None else self._result.count

    # --- reading --------------------------------------------------------------------------------------------------

    def arrow(self) -> pa.Table:
        """Returns all rows as an Arrow table and keeps them, so that they can be read again."""
        with self._keeping:  # a second thread gets the rows that the first one has read
            if self._kept is None:
                self._kept = self._read_all()
            return self._kept

    def reader(self) -> pa.RecordBatchReader:
        """Returns the rows as a stream of record batches."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow stream interface for other libraries; the rows are consumed when the first batch is requested."""
        reader = pa.RecordBatchReader.from_batches(self.schema, _without_traceback(self._batches()))
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def df(self) -> pd.DataFrame:
        """Returns all rows as a pandas frame."""
        with raising():
            needed("pandas", "df()")
        return (self._kept if self._kept is not None else self._read_all()).to_pandas()

    def pl(self) -> pl.DataFrame:
        """Returns all rows as a polars frame."""
        with raising():
            polars = needed("polars", "pl()")
        frame: pl.DataFrame = polars.from_arrow(self._kept if self._kept is not None else self._read_all())
        return frame

    def fetchall(self) -> list[Row]:
        """Returns all rows as tuples of Python values."""
        with raising():
            return list(rows_of(self._batches()))

    def close(self) -> None:
        """Closes the relation and cancels a running query. Rows that `arrow()` has kept stay available."""
        self._gone = self._gone or "it was closed"
        self._result.close()

    # --- display ------------------------------------------------------------------------------------------------------

    def show(self, rows: int = SHOWN, width: int | None = None) -> None:
        """Prints the first rows, fitted to the terminal or to `width` columns."""
        sys.stdout.write(self._text(rows, width) + "\n")

    def __repr__(self) -> str:
        return self._text(SHOWN, None)

    def _repr_html_(self) -> str:
        outcome = self._without_rows()
        return as_html(self.schema, *self._first(SHOWN)) if outcome is None else f"<p>{escape(outcome)}</p>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Returns both views together, for IPython, which would show a traceback for an error in each of them."""
        try:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        except PinakesError as error:
            text = error.render()
            return {"text/plain": text, "text/html": f"<pre>{escape(text)}</pre>"}

    def begin(self) -> None:
        """Runs the query as far as a view needs it, so that errors are raised now."""
        if self._without_rows() is None:
            self._first(SHOWN)

    def _text(self, rows: int, width: int | None) -> str:
        outcome = self._without_rows()
        return as_text(self.schema, *self._first(rows), width) if outcome is None else outcome

    def _without_rows(self) -> str | None:
        """Returns the text to show if there are no rows to show; otherwise None."""
        if self._result.kind != "rows":
            return f"{self._result.kind}{'' if self._result.count is None else f' {self._result.count}'}"
        why = "its rows were read" if self._passed_on else self._gone
        if why is not None and self._kept is None:
            return f"<pinakes.Relation [{', '.join(self.columns)}]: {why}>"
        return None

    # --- the stream -----------------------------------------------------------------------------------------------

    def _read_all(self) -> pa.Table:
        return pa.Table.from_batches(list(self._batches()), schema=self.schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yields all rows. The stream is consumed when the first batch is requested, not when the generator is
        created."""
        with raising():
            if self._kept is not None:
                yield from self._kept.to_batches()
                return
            with self._lock:
                if self._passed_on:
                    raise InvalidArgument(
                        "the rows of this relation were read already. Call arrow() first to keep them, "
                        "or con.sql(…) again to run the query again."
                    )
                self._check_whole()
                self._passed_on = True
                rest = self._stream()
            head, self._head = self._head, []
            yield from head
            yield from rest

    def _first(self, rows: int) -> tuple[pa.Table, bool]:
        """Returns the first rows, and whether there are more; they remain available for reading."""
        with raising(), self._lock:
            if self._kept is None:
                self._check_whole()
            found = self._kept if self._kept is not None else self._peeked(rows)
        return found.slice(0, rows), found.num_rows > rows

    def _peeked(self, rows: int) -> pa.Table:
        stream = self._stream()
        try:
            while sum(batch.num_rows for batch in self._head) <= rows and (batch := next(stream, None)) is not None:
                self._head.append(batch)
        except BaseException:
            self._gone = "reading it has failed"
            raise
        return pa.Table.from_batches(self._head, schema=self.schema)

    def _check_whole(self) -> None:
        """Raises if the stream failed after some rows were displayed: it must not appear as a short one."""
        if self._gone is not None:
            raise InvalidArgument(
                f"the rows of this relation are not available any more: {self._gone}. con.sql(…) again runs "
                f"the query again."
            )

    def _stream(self) -> Iterator[pa.RecordBatch]:
        if self._rest is None:
            self._rest = iter(self._result)
        return self._rest


def _without_traceback(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Strips the traceback from errors: Arrow would pass it to the other library as a part of the message."""
    try:
        yield from batches
    except PinakesError as error:
        raise error.with_traceback(None) from None
