"""Promises: the engine adds less than 0.5 ms to what `select 1` costs in DataFusion alone, and less than 1 ms to a warm
query over 15 Iceberg tables of a REST catalog, compared with the same plan over the same files in DataFusion alone,
which has made it before; less than 5 ms where it is the second query of a new session of a known user, also over
Flight until the first row is there.

    python benchmarks/overhead.py [--rounds 15] [--plot benchmarks/overhead.svg]

Added is the difference of the medians of calls in turns; that of the best calls is told beside it, as a machine may be
busy with other things: `calibrate` tells how busy. Then the ladder: one cache after the other is switched off, and
stays off, so each rung shows what the last one saved. The REST catalog is the fixture of the tests; where it can't be
installed, a catalog of type sqlite stands in.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from _harness import Added, Times, added, calibrate, compare, promise, promise_added, report, timed
from _plot import bars
from adbc_driver_flightsql import dbapi as adbc
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.core.names import Name
from pinakes.engine.datafusion.session_config import options_of
from pinakes.engine.session import Session

ONE = "select 1"
TABLES = 15
JOINED = "SELECT count(*) AS n, sum(t1.v) AS v FROM {0}t0 AS t0 " + " ".join(
    f"JOIN {{0}}t{n} AS t{n} ON t0.k = t{n}.k" for n in range(1, TABLES)
)
LADDER = {
    "plans": "max_entries",
    "session_catalogs": "max_entries",
    "statements": "max_entries",
    "footers": "max_bytes",
    "manifests": "max_bytes",
    "listings": "max_entries",
    "table_metadata": "max_entries",
}
"""In the order that they are switched off: from what is nearest to the query to what is nearest to the catalog."""


def main() -> None:
    arguments = _arguments()
    with TemporaryDirectory() as place, open_engine(load_config(data=":memory:")) as engine, _catalog(place) as attach:
        calibrate()
        session = engine.session()
        _select_one(session, arguments.rounds)
        session.run(attach)
        mine = JOINED.format("far.s.")
        files = _filled(session)
        ours, bare = _many(session, mine, files, arguments.rounds)
        report(f"{TABLES} Iceberg tables, warm", ours, bare, "the same plan, made before, in a bare SessionContext")
        peer = _seconds(_bare(session, files).sql(JOINED.format("")).to_arrow_table)
        promise_added("wall added", added(_seconds(_run(session, mine)), peer), 1.0)
        promise("CPU added", (ours.cpu - bare.cpu) * 1e3, 1.0, " ms")
        print("the same, as the second query of a new session of a known user")
        promise_added("wall added", _fresh(session, mine, peer, 4 * arguments.rounds), 5.0)
        print("the same, as the second query of a new connection of a known user, over Flight, to the first row")
        promise_added("wall added", _over_flight(attach, mine, peer, 4 * arguments.rounds), 5.0)
        rungs = {"all caches": ours, **_ladder(session, mine, files)}
    _print(rungs, bare)
    if arguments.plot:
        over = [max(0.0, (times.cpu - bare.cpu) * 1e3) for times in rungs.values()]
        chart = bars("Milliseconds of CPU over bare DataFusion, caches off in turn", list(rungs), {"cpu": over}, gap=90)
        arguments.plot.write_text(chart)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--plot", type=Path)
    return parser.parse_args()


# --- contestants -------------------------------------------------------------------------------------------------


@contextmanager
def _catalog(place: str) -> Iterator[str]:
    """The statement that attaches the catalog as `far`."""
    from tests.servers.all import SERVERS
    from tests.servers.base import Unavailable
    from tests.servers.running import Running

    try:
        SERVERS["rest"].install()
        server = Running(SERVERS["rest"], {})
    except Unavailable as error:
        print(f"no REST catalog ({error}); one of type sqlite stands in")
        yield f"ATTACH '{place}' AS far (TYPE sqlite)"
        return
    try:
        yield f"ATTACH '{server.facts['uri']}' AS far (TYPE iceberg_rest)"
    finally:
        server.stop()


def _filled(session: Session) -> list[str]:
    """The tables, each of one file of a thousand rows; the paths of these."""
    session.run("CREATE SCHEMA far.s")
    found = []
    for n in range(TABLES):
        source = f"SELECT x AS k, x * {n} AS v, 'name ' || x AS name FROM unnest(range(0, 1000)) AS u(x)"
        session.run(f"CREATE TABLE far.s.t{n} AS {source}").read_all()
        handle = session.resolver.table(Name.of("far", "s", f"t{n}"))[1].handle
        found += [task.file.file_path.removeprefix("file://") for task in handle.scan().plan_files()]
    return found


def _bare(session: Session, files: list[str]) -> SessionContext:
    """With the settings of our sessions, and as these plan where columns of one name meet
    (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    config = SessionConfig().set("datafusion.optimizer.enable_dynamic_filter_pushdown", "false")
    for key, value in options_of(session.settings).items():
        config = config.set(key, value)
    context = SessionContext(config, RuntimeEnvBuilder())
    for n, file in enumerate(files):
        context.register_parquet(f"t{n}", file)
    return context


def _select_one(session: Session, rounds: int) -> None:
    peer = SessionContext()
    ours, bare = compare(_run(session, ONE), lambda: peer.sql(ONE).collect(), rounds=rounds, calls=100)
    report(ONE, ours, bare, f"ctx.sql('{ONE}').collect()")
    alone = _seconds(lambda: peer.sql(ONE).collect())
    promise_added("wall added", added(_seconds(_run(session, ONE)), alone, calls=2000), 0.5)
    promise("CPU added", (ours.cpu - bare.cpu) * 1e3, 0.5, " ms")


def _many(session: Session, sql: str, files: list[str], rounds: int) -> tuple[Times, Times]:
    frame = _bare(session, files).sql(JOINED.format(""))
    assert session.run(sql).read_all().to_pylist() == frame.to_arrow_table().to_pylist()
    return compare(_run(session, sql), frame.to_arrow_table, rounds=rounds, calls=5)


def _fresh(session: Session, sql: str, peer: Callable[[], float], calls: int) -> Added:
    """Each session's first query is `select 1`; that it ends is no news to those that come after it."""

    def second() -> float:
        new = session.engine.session(session.identity)
        new.run(ONE).read_all()
        taken = timed(_run(new, sql), 1).wall
        new.close()
        return taken

    return added(second, peer, calls=calls)


def _over_flight(attach: str, sql: str, peer: Callable[[], float], calls: int) -> Added:
    """The server is a process of its own, and knows the user from an earlier connection."""
    from tests.flight.serving import serving

    with (
        tempfile.NamedTemporaryFile("w", suffix=".toml") as config,  # the REST catalog's tables are on this machine
        ExitStack() as stack,
    ):
        config.write(f"[engine]\nallowed_paths = ['{tempfile.gettempdir()}']\n")
        config.flush()
        server = stack.enter_context(serving("--config", config.name))
        earlier = stack.enter_context(server.connect())
        _asked(earlier, attach)
        _asked(earlier, sql)

        def second() -> float:
            with server.connect() as connection:
                _asked(connection, ONE)
                return _asked(connection, sql)

        calls_alone = median(_asked(earlier, ONE) for _ in range(calls))
        print(f"  the calls of `{ONE}` alone take {calls_alone * 1e3:.2f} ms in the median")
        return added(second, peer, calls=calls)


def _asked(connection: adbc.Connection, sql: str) -> float:
    """Seconds to the first row."""
    with connection.cursor() as cursor:
        return timed(lambda: (cursor.execute(sql), cursor.fetchone()), 1).wall


def _seconds(call: Callable[[], object]) -> Callable[[], float]:
    return lambda: timed(call, 1).wall


def _run(session: Session, sql: str) -> Callable[[], object]:
    return lambda: session.run(sql).read_all()


# --- the ladder --------------------------------------------------------------------------------------------------


def _ladder(session: Session, sql: str, files: list[str]) -> dict[str, Times]:
    found = {}
    for cache, limit in LADDER.items():
        session.run(f"SET GLOBAL cache.{cache}.{limit} = 0")
        found[f"- {cache}"] = _many(session, sql, files, rounds=3)[0]
    session.run("RESET GLOBAL ALL")
    return found


def _print(rungs: dict[str, Times], bare: Times) -> None:
    print(f"the ladder: {TABLES} tables, each rung without one cache more; milliseconds over bare DataFusion")
    for name, times in rungs.items():
        print(f"  {name:18} wall {(times.wall - bare.wall) * 1e3:9.2f}   cpu {(times.cpu - bare.cpu) * 1e3:9.2f}")


if __name__ == "__main__":
    main()
