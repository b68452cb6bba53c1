"""What `con.sql` gives: the rows of a statement, in whichever form they are wanted.

A query is planned at once and runs when it is first read: its rows stream, once. `arrow()` keeps them, and whatever is
asked for later is read from memory; every other way of reading (`reader`, `df`, `pl`, `fetchall`, being handed to
another library) passes them on, and a second reading is an error that says so. `show` and the views of a notebook look
at the first rows, which stay there for whoever reads. Any other statement has been carried out already.
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
from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.core.errors import InvalidArgument, PinakesError
from pinakes.engine.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SHOWN = 40
"""Rows that a view shows at most."""


class Relation:
    """For one reader at a time, like the stream it stands for. `owner` is kept alive as long as this is."""

    def __init__(self, result: Result, owner: object) -> None:
        self._result = result
        self._owner = owner
        self._lock = threading.Lock()
        self._keeping = threading.Lock()
        self._head: list[pa.RecordBatch] = []
        self._rest: Iterator[pa.RecordBatch] | None = None
        self._passed_on = False
        self._gone: str | None = None
        """Why what is left of the stream can't be read: then no part of it is given out as if it were all."""
        self._kept: pa.Table | None = None

    # --- what it is -----------------------------------------------------------------------------------------------

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
        """The number of rows that a statement changed; -1 where there is none to tell."""
        return -1 if self._result.count is None else self._result.count

    # --- reading --------------------------------------------------------------------------------------------------

    def arrow(self) -> pa.Table:
        """All rows, in memory; they are kept, so that they can be read again."""
        with self._keeping:  # of two threads, the second gets what the first has read
            if self._kept is None:
                self._kept = self._read_all()
            return self._kept

    def reader(self) -> pa.RecordBatchReader:
        """The rows as they come."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that take Arrow streams; the rows are passed on when the first of them is asked for."""
        reader = pa.RecordBatchReader.from_batches(self.schema, _without_traceback(self._batches()))
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def df(self) -> pd.DataFrame:
        """A pandas frame."""
        with raising():
            needed("pandas", "df()")
        return (self._kept if self._kept is not None else self._read_all()).to_pandas()

    def pl(self) -> pl.DataFrame:
        """A polars frame."""
        with raising():
            polars = needed("polars", "pl()")
        frame: pl.DataFrame = polars.from_arrow(self._kept if self._kept is not None else self._read_all())
        return frame

    def fetchall(self) -> list[Row]:
        """All rows as tuples of Python values."""
        with raising():
            return list(rows_of(self._batches()))

    def close(self) -> None:
        """Not wanted any more; a query that runs is stopped. What `arrow()` has kept stays."""
        self._gone = self._gone or "it was closed"
        self._result.close()

    # --- looking --------------------------------------------------------------------------------------------------

    def show(self, rows: int = SHOWN, width: int | None = None) -> None:
        """Print the first rows, fitted to the terminal or to `width` columns."""
        sys.stdout.write(self._text(rows, width) + "\n")

    def __repr__(self) -> str:
        return self._text(SHOWN, None)

    def _repr_html_(self) -> str:
        outcome = self._without_rows()
        return as_html(self.schema, *self._first(SHOWN)) if outcome is None else f"<p>{escape(outcome)}</p>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Both views in one go, for IPython. There an error in a view would be a traceback for each of them."""
        try:
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        except PinakesError as error:
            told = error.told()
            return {"text/plain": told, "text/html": f"<pre>{escape(told)}</pre>"}

    def begin(self) -> None:
        """Run it as far as a view needs, so that whatever is wrong is known now."""
        if self._without_rows() is None:
            self._first(SHOWN)

    def _text(self, rows: int, width: int | None) -> str:
        outcome = self._without_rows()
        return as_text(self.schema, *self._first(rows), width) if outcome is None else outcome

    def _without_rows(self) -> str | None:
        """What there is to say when there are no rows to show; None when there are."""
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
        """All rows, for the reader who asks for the first of them: a stream that is opened and not read takes none."""
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
        """The first rows, and whether there are more; they stay for whoever reads later."""
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
        """A stream that broke off, after some rows had been looked at, must not pass for a short one."""
        if self._gone is not None:
            raise InvalidArgument(
                f"the rows of this relation are gone: {self._gone}. con.sql(…) again runs the query again."
            )

    def _stream(self) -> Iterator[pa.RecordBatch]:
        if self._rest is None:
            self._rest = iter(self._result)
        return self._rest


def _without_traceback(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same; of an error, the message alone: Arrow hands the rest on to the other library as a part of it."""
    try:
        yield from batches
    except PinakesError as error:
        raise error.with_traceback(None) from None
