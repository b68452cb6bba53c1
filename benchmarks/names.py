"""Promise: what a name means, in a catalog that is mounted and whose table is cached, is known within 100 µs."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from _harness import compare, promise, report

from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.engine.session import Session
from pinakes.parser.one_name import read_name

NAME = read_name("partner.sales.orders")


def resolved(session: Session) -> object:
    resolver = session.resolver
    return resolver.load(resolver.find(NAME))


def main() -> None:
    with TemporaryDirectory() as place, open_engine(load_config(data=":memory:")) as engine:
        session = engine.session()
        session.run(f"ATTACH '{place}' AS partner (TYPE sqlite)")
        session.run("CREATE SCHEMA partner.sales")
        session.run("CREATE TABLE partner.sales.orders (id BIGINT)")
        ours, peer = compare(lambda: resolved(session), lambda: {"orders": 1}["orders"], calls=200)
    report("partner.sales.orders", ours, peer, "a look into a dict")
    promise("wall", ours.wall * 1e6, 100, " µs")
    promise("CPU", ours.cpu * 1e6, 100, " µs")


if __name__ == "__main__":
    main()
