"""A set of queries on the same Parquet files: ours through Iceberg tables, bare DataFusion and DuckDB on the files.

Contestants take turns, query by query; answers must be DuckDB's, up to rounding. Bare DataFusion has the settings that
our sessions have.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median

import duckdb
import pyarrow as pa
from _harness import Times, timed
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

import pinakes
from pinakes.core.names import Name
from pinakes.engine.datafusion.session_config import options_of

Run = Callable[[str], pa.Table]
Taken = dict[str, dict[int, Times]]


# --- contestants -------------------------------------------------------------------------------------------------


def ours(connection: pinakes.Connection, data: Path) -> Run:
    session = connection.session
    for file in sorted(data.glob("*.parquet")):
        connection.execute(f"CREATE TABLE {file.stem} AS SELECT * FROM '{file}' LIMIT 0")
        session.resolver.table(Name.of(file.stem))[1].handle.add_files([str(file)])
        session.resolver.table(Name.of(file.stem))  # what is remembered of it goes
    return lambda sql: session.run(sql).read_all()


def bare(data: Path) -> Run:
    config = SessionConfig()
    with pinakes.connect(data=":memory:") as connection:
        for key, value in options_of(connection.session.settings).items():
            config = config.set(key, value)
    context = SessionContext(config, RuntimeEnvBuilder())
    for file in sorted(data.glob("*.parquet")):
        context.register_parquet(file.stem, str(file))
    return lambda sql: context.sql(sql).to_arrow_table()


def on_files(data: Path) -> Run:
    connection = duckdb.connect()
    for file in sorted(data.glob("*.parquet")):
        connection.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM '{file}'")
    return lambda sql: connection.sql(sql).to_arrow_table()


# --- the race ----------------------------------------------------------------------------------------------------


def race(contestants: Mapping[str, Run], queries: Mapping[int, str], rounds: int) -> Taken:
    """Medians for each contestant and query, after a first round that does not count and that is compared."""
    taken: dict[str, dict[int, list[Times]]] = {name: {n: [] for n in queries} for name in contestants}
    for number, sql in queries.items():
        answers = {name: run(sql) for name, run in contestants.items()}
        for name, answer in answers.items():
            if not same(answer, answers["duckdb"]):
                print(f"Q{number}: {name} has another answer than DuckDB", file=sys.stderr)
        for _ in range(rounds):
            for name, run in contestants.items():
                taken[name][number].append(timed(partial(run, sql), 1))
    return {name: {n: _median(times) for n, times in found.items()} for name, found in taken.items()}


def _median(times: Iterable[Times]) -> Times:
    found = list(times)
    return Times(median(t.wall for t in found), median(t.cpu for t in found))


def same(one: pa.Table, other: pa.Table) -> bool:
    """Whether two answers have the same rows, in whatever order, up to rounding."""
    unmatched = defaultdict(list)
    for row in _rows(other):
        unmatched[_words(row)].append(row)
    for row in _rows(one):
        found = next((c for c in unmatched[_words(row)] if _is_close(row, c)), None)
        if found is None:
            return False
        unmatched[_words(row)].remove(found)
    return bool(one.num_rows == other.num_rows)


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _words(row: tuple[object, ...]) -> tuple[str, ...]:
    return tuple("#" if isinstance(v, int | float | Decimal) else str(v).strip() for v in row)


def _is_close(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    numbers = [(float(a), float(b)) for a, b in zip(one, other, strict=True) if isinstance(a, int | float | Decimal)]  # type: ignore[arg-type]
    return all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) or (a != a and b != b) for a, b in numbers)


# --- what came of it ---------------------------------------------------------------------------------------------


def table(taken: Taken) -> dict[str, Times]:
    """Print all of it; the sums are given back."""
    names, queries = list(taken), next(iter(taken.values()))
    print("      " + "".join(f"{name:>24}" for name in names) + "    ms: wall, cpu;  ratio of cpu to the others'")
    for number in queries:
        print(f"Q{number:<4} " + "".join(_cell(taken[n][number]) for n in names) + _ratios(taken, number))
    sums = {n: Times(sum(t.wall for t in q.values()), sum(t.cpu for t in q.values())) for n, q in taken.items()}
    print("sum   " + "".join(_cell(sums[name]) for name in names))
    return sums


def _ratios(taken: Taken, number: int) -> str:
    mine, *others = (times[number].cpu for times in taken.values())
    return "".join(f"{mine / max(other, 1e-9):8.2f}" for other in others)


def _cell(times: Times) -> str:
    return f"{times.wall * 1000:12.1f}{times.cpu * 1000:12.1f}"
