"""Promise: polars and pandas take a result of 10 M rows at 0.95 or more of the speed at which they read the same
stream from bare DataFusion.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pandas as pd
import polars as pl
from _harness import compare, promise, report
from datafusion import SessionConfig, SessionContext

import pinakes

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
ROUNDS = 11
SQL = f"""
SELECT value AS id, value % 1000 AS small, arrow_cast(value, 'Float64') AS x, arrow_cast(value % 100, 'Utf8') AS word
FROM range({ROWS})
"""


def main() -> None:
    with pinakes.connect(data=":memory:") as con:
        batch_size = con.session.settings.batch_size  # the same stream: in the same batches
        bare = SessionContext(SessionConfig().with_batch_size(batch_size))
        contest("polars", lambda: con.sql(SQL).pl(), lambda: pl.DataFrame(bare.sql(SQL)))
        contest("polars, the stream as it is", lambda: pl.DataFrame(con.sql(SQL)), lambda: pl.DataFrame(bare.sql(SQL)))
        contest("pandas", lambda: con.sql(SQL).df(), lambda: bare.sql(SQL).to_pandas())
        contest(
            "pandas, the stream as it is",
            lambda: pd.DataFrame.from_arrow(con.sql(SQL)),
            lambda: pd.DataFrame.from_arrow(bare.sql(SQL)),
        )


def contest(name: str, ours: Callable[[], object], peer: Callable[[], object]) -> None:
    mine, theirs = compare(ours, peer, rounds=ROUNDS)
    report(f"{name}: {ROWS:,} rows", mine, theirs, "bare DataFusion")
    promise("wall over the peer's (a speed of 0.95)", mine.wall / theirs.wall, 1 / 0.95, " times")
    promise("CPU over the peer's", mine.cpu / theirs.cpu, 1 / 0.95, " times")


if __name__ == "__main__":
    main()
