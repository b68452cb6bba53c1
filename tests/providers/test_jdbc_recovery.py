"""Connections that break: what did not happen is tried again, what may have happened is said to be unknown."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, CommitUnknown
from pinakes.providers.iceberg.adapter import translate_errors
from pinakes.providers.jdbc import JdbcCatalog
from pinakes.providers.sql_catalog.pool import Pool
from pinakes.providers.sql_catalog.store import OutcomeUnknown
from tests.providers.catalog_suite import SPEC, ids_in, rows
from tests.providers.cutting_proxy import CuttingProxy
from tests.providers.databases import EmptyDatabase, empty_database, store_of
from tests.providers.store_suite import T
from tests.servers.base import Facts
from tests.servers.plugin import StartServer

pytestmark = pytest.mark.slow

SERVERS = ["postgres_server", "mariadb_server"]


@pytest.fixture(params=SERVERS)
def database(request: pytest.FixtureRequest) -> Iterator[EmptyDatabase]:
    facts: Facts = request.getfixturevalue(request.param)
    with empty_database(facts) as database:
        yield database


@pytest.fixture
def proxy(database: EmptyDatabase) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(int(database.facts["port"]))
    yield proxy
    proxy.close()


@pytest.fixture
def catalog(database: EmptyDatabase, proxy: CuttingProxy, tmp_path: Path) -> Iterator[JdbcCatalog]:
    """Through the proxy."""
    location = database.location.replace(f":{database.facts['port']}/", f":{proxy.port}/")
    catalog = JdbcCatalog.open("c", location, {"WAREHOUSE": str(tmp_path), "MAX_CONNECTIONS": 2})
    catalog.create_namespace(("n",), {})
    yield catalog
    catalog.close()


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize("word", ["BEGIN", "TRANSACTION", "UPDATE", "SELECT", "INSERT", "DELETE"])
def test_what_breaks_before_its_commit_is_done_again_once(
    catalog: JdbcCatalog, proxy: CuttingProxy, word: str, heard: bool
) -> None:
    store = store_of(catalog)
    store.insert("TABLE", T, "m1")
    proxy.cut_at(word, heard=heard)
    assert store.swap_metadata_location("TABLE", T, "m1", "m2") == 1
    catalog.create_namespace(("other",), {"k": "v"})
    assert store.drop("TABLE", T) == 1
    catalog.create_namespace(("more",), {})
    assert catalog.list_namespaces() == [("more",), ("n",), ("other",)]
    assert proxy.cuts == 1 or (proxy.cuts == 0 and word in ("BEGIN", "TRANSACTION"))  # each server has its own word


@pytest.mark.parametrize("heard", [False, True])
def test_a_commit_that_breaks_off_is_unknown(catalog: JdbcCatalog, proxy: CuttingProxy, heard: bool) -> None:
    store = store_of(catalog)
    store.insert("TABLE", T, "m1")
    proxy.cut_at("COMMIT", heard=heard)
    with pytest.raises(OutcomeUnknown, match="the connection broke during the commit"):
        store.swap_metadata_location("TABLE", T, "m1", "m2")
    row = store.get("TABLE", T)  # on a new connection
    assert row is not None
    assert row.metadata_location == ("m2" if heard else "m1")


@pytest.mark.parametrize("heard", [False, True])
def test_an_append_whose_commit_breaks_off_keeps_its_files(
    catalog: JdbcCatalog, proxy: CuttingProxy, heard: bool
) -> None:
    """If the commit did happen, they are the table; so nobody may remove them."""
    table = catalog.create_table(("n",), "t", SPEC)
    proxy.cut_at("COMMIT", heard=heard)
    with pytest.raises(CommitUnknown, match="it is unknown whether"), translate_errors("table", ("n",), "t"):
        table.handle.append(rows(1))
    assert ids_in(catalog.load_table(("n",), "t")) == ([1] if heard else [])


def test_a_restart_of_the_server_heals(private_server: StartServer, tmp_path: Path) -> None:
    running = private_server("postgres")
    options = {"WAREHOUSE": str(tmp_path), "MAX_CONNECTIONS": 3}
    catalog = JdbcCatalog.open("c", running.facts["uri"], options)
    catalog.create_namespace(("n",), {})
    table = catalog.create_table(("n",), "t", SPEC)
    with ThreadPoolExecutor(3) as pool:  # three connections, all of which the restart breaks
        list(pool.map(lambda _: catalog.list_tables(("n",)), range(30)))
    running.restart()
    table.handle.append(rows(1))
    assert ids_in(catalog.load_table(("n",), "t")) == [1]
    running.halt()
    with pytest.raises(CatalogUnavailable, match=r"127\.0\.0\.1"):
        catalog.list_tables(("n",))
    running.start()
    assert catalog.list_tables(("n",)) == ["t"]
    catalog.close()


def test_restarts_while_many_write(private_server: StartServer, tmp_path: Path) -> None:
    """Each counted step is there, and none twice; an unknown one is there or not."""
    running = private_server("postgres")
    catalog = JdbcCatalog.open("c", running.facts["uri"], {"WAREHOUSE": str(tmp_path)})
    store = store_of(catalog)
    done: list[str] = []
    unknown: list[str] = []
    stopping = threading.Event()

    def write(worker: int) -> None:
        step = 0
        while not stopping.is_set():
            step += 1
            name = f"w{worker}_{step}"
            try:
                store.insert_namespace_property("n", name, "x")
            except OutcomeUnknown:
                unknown.append(name)
            except CatalogUnavailable:
                time.sleep(0.01)
            else:
                done.append(name)

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, number) for number in range(4)]
        for _ in range(3):
            before = len(done)
            while len(done) < before + 50:
                time.sleep(0.01)
                assert not any(writer.done() for writer in writers)
            running.restart()
        stopping.set()
        for writer in writers:
            writer.result()
    there = set(store.get_namespace_properties("n"))
    assert set(done) <= there <= set(done) | set(unknown)
    catalog.close()


# --- the pool ----------------------------------------------------------------------------------------------------


def test_there_are_never_more_connections_than_allowed(database: EmptyDatabase) -> None:
    catalog = JdbcCatalog.open("c", database.location, {"MAX_CONNECTIONS": 2})
    store = store_of(catalog)
    most = 0
    gate = threading.Lock()
    inside = 0

    def work(_: int) -> None:
        nonlocal inside, most

        def body() -> None:
            nonlocal inside, most
            with gate:
                inside += 1
                most = max(most, inside)
            store.get_namespace_properties("n")
            time.sleep(0.02)
            with gate:
                inside -= 1

        store.run_in_transaction(body)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert most == 2
    catalog.close()


def test_a_pool_makes_what_it_needs_and_uses_the_last_again() -> None:
    made, gone = iter(range(10)), list[int]()
    pool = Pool("here", lambda: next(made), gone.append, 2, patience=0.01)
    with pool.lease() as first, pool.lease() as second:
        assert (first, second) == (0, 1)
        with pytest.raises(CatalogUnavailable, match="all 2 connections were busy"), pool.lease():
            pass
    with pool.lease() as again:
        assert again == 0  # came back last
    with pytest.raises(RuntimeError), pool.lease():
        raise RuntimeError
    assert gone == [0]  # an error passed through it
    with pool.lease() as held:
        pool.close()
        assert gone == [0]
    assert (held, gone) == (1, [0, 1])
    with pytest.raises(CatalogUnavailable, match="closed"), pool.lease():
        pass
