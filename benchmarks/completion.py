"""Promise: completion on a catalog of 10,000 tables answers in under 50 ms wherever the cursor is, and a catalog that
does not answer delays nothing.

The peer, for the speed of the machine, is `ctx.sql('select 1').collect()` of bare DataFusion.
"""

from __future__ import annotations

import gc
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from _harness import promise
from datafusion import SessionContext

from pinakes.api.build import open_engine
from pinakes.api.completion import Completer
from pinakes.config.model import parse_config
from pinakes.engine.catalogs.registry import Mount
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session

TABLES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROUNDS = 20
TEXTS = (
    "|",
    "sel|",
    "select | from customers",
    "select c.| from customers c",
    "select c.na| from customers c join orders_00042 o on c.id = o.",
    "select * from |",
    "select * from o|",
    "select * from orders_0999|",
    "select * from _0042|",
    "select * from odr42|",
    "select * from zzzz|",
    "select * from lake.|",
    "select * from lake.default.ord|",
    'select * from "ord|',
    "describe orders|",
    "insert into customers (|",
    "set t|",
    "with x as (select 1 a) select * from x join | on true",
    "select " + ", ".join(f"customers.id + {n} as c{n}" for n in range(500)) + ", | from customers",
)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        config = parse_config(f"[engine]\ndata = '{directory}'", Path(directory))
        with open_engine(config) as engine:
            fill(engine, directory)
            session = engine.session()
            completer = warmed(session)
            gc.freeze()  # as in cli/prompt/shell.py: otherwise single answers include a full run of the collector
            measure(completer, f"{TABLES} tables")
            with_a_dead_catalog(engine, completer)


def fill(engine: Engine, directory: str) -> None:
    """One real table, and rows in the store for the others: their metadata is never read."""
    session = engine.session()
    for _ in session.run("create table customers (id bigint, name varchar, city varchar, since date)"):
        pass
    (file,) = Path(directory).glob("*.db")
    with sqlite3.connect(file) as store:
        catalog, namespace, location = store.execute(
            "select catalog_name, table_namespace, metadata_location from iceberg_tables"
        ).fetchone()
        names = (f"orders_{number:05d}" for number in range(TABLES))
        rows = [(catalog, namespace, name, location, None, "TABLE") for name in names]
        store.executemany("insert into iceberg_tables values (?, ?, ?, ?, ?, ?)", rows)


def warmed(session: Session) -> Completer:
    completer = Completer(session)
    began = time.perf_counter()
    completer.refresh()
    answered = time.perf_counter() - began
    completer.settle()
    listed = time.perf_counter() - began
    print(f"listing in the background: asked in {answered * 1e3:.2f} ms, there after {listed * 1e3:.0f} ms")
    for text in TEXTS:  # columns are fetched when they are first asked for
        for _ in range(3):
            ask(completer, text)
            completer.settle()
    return completer


def measure(completer: Completer, what: str) -> None:
    context = SessionContext()
    peer = median(timed(lambda: context.sql("select 1").collect()) for _ in range(ROUNDS))
    print(f"{what}; peer: bare DataFusion's select 1 in {peer * 1e3:.2f} ms")
    worst = 0.0
    for text in TEXTS:
        taken = sorted(timed(lambda text=text: ask(completer, text)) for _ in range(ROUNDS))
        found = len(ask(completer, text))
        shown = text if len(text) < 60 else f"{text[:40]} … {text[-20:]}"
        print(f"  median {median(taken) * 1e3:6.2f} ms, worst {taken[-1] * 1e3:6.2f} ms, {found:3} found   {shown}")
        worst = max(worst, median(taken))
    promise("slowest position", worst * 1e3, 50, " ms")


def with_a_dead_catalog(engine: Engine, completer: Completer) -> None:
    """A catalog that is being opened for ever is one among the others."""
    stop = threading.Event()

    def never() -> None:
        stop.wait()
        raise OSError

    engine.registry.mount(Mount("dead", "sqlite", "attach", "", never))  # type: ignore[arg-type]
    completer.refresh()
    ask(completer, "select * from dead.|")
    measure(completer, "the same beside a catalog that does not answer")
    promise("answers from the dead one", timed(lambda: ask(completer, "select * from dead.x|")) * 1e3, 50, " ms")
    stop.set()


def ask(completer: Completer, text: str) -> list[object]:
    cursor = text.index("|")
    return list(completer.complete(text.replace("|", ""), cursor))


def timed(call: object) -> float:
    began = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
