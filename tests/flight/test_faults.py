"""What goes wrong around a server: the disk, a catalog, a store. Whoever asked is told; everybody else goes on."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pytest

from tests.engine.test_scan_stores import secret_of
from tests.flight.serving import Serving, serving
from tests.flight.test_operations import figures, get, rows
from tests.flight.test_serve import configured
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, closed_port, proxied, silent_port
from tests.servers.base import Facts

pytestmark = pytest.mark.slow
SPILLS = "SELECT value, md5(CAST(value AS varchar)) AS h FROM range(1000000) ORDER BY h"
MEGABYTE = 1 << 20


def goes_on(server: Serving) -> None:
    """It answers others, and nobody saw a traceback."""
    with server.connect() as connection:
        assert rows(connection, "SELECT 1") == [(1,)]
        assert rows(connection, "SELECT count(*) FROM range(5)") == [(5,)]
    assert get(server, "/ready")[0] == 200
    assert "Traceback" not in server.output
    assert "panicked" not in server.output


def failure(connection: adbc.Connection, sql: str) -> str:
    with pytest.raises(adbc.Error) as raised:
        rows(connection, sql)
    return str(raised.value)


def test_a_disk_that_is_full_while_a_query_spills(tmp_path: Path) -> None:
    """No file may become larger than a megabyte, as if there were no room for more."""
    (tmp_path / "spill").mkdir()
    config = configured(tmp_path, '[engine]\nmemory_limit = "20MB"\ntarget_partitions = 1\nspill_dir = "spill"\n')
    with serving("--config", config) as server, server.connect() as connection:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (MEGABYTE, resource.RLIM_INFINITY))
        said = failure(connection, SPILLS)
        assert "OUT_OF_MEMORY: the disk is full" in said
        goes_on(server)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert len(rows(connection, SPILLS)) == 1_000_000


def test_a_disk_that_is_full_while_rows_are_written(tmp_path: Path) -> None:
    with serving(data=str(tmp_path / "lake")) as server, server.connect() as connection:
        rows(connection, "CREATE TABLE t AS SELECT value FROM range(10)")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (MEGABYTE, resource.RLIM_INFINITY))
        said = failure(connection, "INSERT INTO t SELECT (value * 7919) % 100000007 FROM range(3000000)")
        assert "WRITE_FAILED" in said
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert rows(connection, "SELECT count(*) FROM t") == [(10,)]
        rows(connection, "INSERT INTO t VALUES (1)")
        assert rows(connection, "SELECT count(*) FROM t") == [(11,)]
        goes_on(server)


def test_a_catalog_that_is_down_or_silent(tmp_path: Path) -> None:
    with silent_port() as silent:
        places = {"down": closed_port(), "silent": silent}
        toml = "".join(
            f'[catalogs.{name}]\ntype = "iceberg_rest"\nlocation = "http://127.0.0.1:{port}"\n'
            for name, port in places.items()
        )
        with serving("--config", configured(tmp_path, toml)) as server, server.connect() as connection:
            assert "CATALOG_UNAVAILABLE" in failure(connection, "SELECT * FROM down.a.b")
            rows(connection, "SET metadata_timeout = '10s'")
            rows(connection, "CREATE TABLE here (x INT)")
            found = rows(connection, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'default'")
            assert ("here",) in found  # what is down does not black out the rest
            names = {name for (name,) in rows(connection, "SELECT DISTINCT catalog_name FROM system.metadata.errors")}
            assert names == {"down", "silent"}
            calls = [n for n in figures(server) if n.startswith('pinakes_catalog_calls_total{catalog="down"')]
            assert not any('outcome="ok"' in name for name in calls)
            goes_on(server)


@pytest.mark.parametrize("fault", ["slow", "drops", "refuses"])
def test_an_object_store_that_is_slow_or_drops_connections(tmp_path: Path, s3_server: Facts, fault: str) -> None:
    with proxied(s3_server["uri"]) as proxy, serving(data=str(tmp_path / "lake")) as server:
        with server.connect(db_kwargs=COOKIES) as connection:
            rows(connection, secret_of(s3_server, uri=proxy.uri))
            options = f"TYPE sqlite, WAREHOUSE 's3://{s3_server['bucket']}/{new_name()}', STORAGE_SECRET s_keys"
            rows(connection, f"ATTACH '{tmp_path / 'catalog.db'}' AS s ({options})")
            rows(connection, "CREATE NAMESPACE s.n")
            rows(connection, "CREATE TABLE s.n.t AS SELECT value FROM range(1000)")
            assert rows(connection, "SELECT count(*), sum(value) FROM s.n.t") == [(1000, 499_500)]
            if fault == "slow":
                proxy.before = lambda _: time.sleep(0.2)  # type: ignore[func-returns-value]
                rows(connection, "INSERT INTO s.n.t SELECT value FROM range(10)")
                assert rows(connection, "SELECT count(*) FROM s.n.t WHERE value >= 0") == [(1010,)]
            else:
                proxy.before = lambda _: Answer(0 if fault == "drops" else 503, b"")
                rows(connection, "SET statement_timeout = '60s'")
                said = failure(connection, "INSERT INTO s.n.t SELECT value FROM range(10)")
                assert any(f"{code}:" in said for code in TYPED), said
                said = failure(connection, "SELECT max(value) FROM s.n.t")
                assert any(f"{code}:" in said for code in TYPED), said
                proxy.before = lambda _: None
                assert rows(connection, "SELECT count(*) FROM s.n.t") == [(1000,)]  # nothing by half
        goes_on(server)


COOKIES = {"adbc.flight.sql.rpc.with_cookie_middleware": "true"}
TYPED = ("CATALOG_UNAVAILABLE", "WRITE_FAILED", "QUERY_TIMEOUT", "COMMIT_UNKNOWN")
