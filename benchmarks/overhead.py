"""Promise: the engine adds less than 0.5 ms to what `select 1` costs in DataFusion alone."""

from __future__ import annotations

from _harness import compare, promise, report
from datafusion import SessionContext

from pinakes.api.build import open_engine
from pinakes.core.config import load_config

SQL = "select 1"


def main() -> None:
    bare = SessionContext()
    with open_engine(load_config(data=":memory:")) as engine:
        session = engine.session()
        ours, peer = compare(lambda: session.run(SQL).read_all(), lambda: bare.sql(SQL).collect(), calls=100)
    report("select 1", ours, peer, "ctx.sql('select 1').collect()")
    promise("wall added", (ours.wall - peer.wall) * 1e3, 0.5, " ms")
    promise("CPU added", (ours.cpu - peer.cpu) * 1e3, 0.5, " ms")


if __name__ == "__main__":
    main()
