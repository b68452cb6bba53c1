"""Finding 7: of a list of database hosts only the first was checked, so that a Unix socket was reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.access.outbound import Outbound
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.secrets import Access
from pinakes.engine.catalogs.opening import Opening
from pinakes.engine.remote.interface import RemoteCatalog
from pinakes.providers.sql_catalog.address import parse_address
from tests.flight.identities import configured
from tests.flight.serving import Serving
from tests.security.recording import USERS, listener, refused


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    toml = USERS + '[access]\neverybody_may = ["attach", "local_files"]\noutbound = ["127.0.0.1"]\n'
    with configured(tmp_path_factory.mktemp("jdbc"), toml) as running:
        yield running


def test_no_host_of_a_list_is_a_unix_socket(server: Serving, tmp_path: Path) -> None:
    encoded = str(tmp_path).replace("/", "%2F")
    with listener(tmp_path / ".s.PGSQL.5432") as socket, listener() as database:
        for hosts in (
            f"127.0.0.1:{database.port},{encoded}:5432",
            f"127.0.0.1,{encoded}:5432",
            f"127.0.0.1%2C{encoded}:5432",
            f"{encoded}:5432",
            f"{encoded.replace('%2F', '%2f')}:5432",
            f"127.0.0.1:{database.port},%40abstract",
            f"127.0.0.1:{database.port},",
        ):
            error = refused(server, f"ATTACH 'postgresql://u@{hosts}/d' AS r (TYPE jdbc, CONNECT_TIMEOUT 2)")
            assert "PERMISSION_DENIED" in error or "INVALID_ARGUMENT" in error, (hosts, error)
        assert socket.connections == 0


@pytest.mark.parametrize(
    "parameter",
    "host hostaddr port service servicefile passfile sslkey sslcert sslpassword sslcrl sslcrldir options "
    "krbsrvname gssencmode requirepeer target_session_attrs load_balance_hosts sslkeylogfile socketFactory "
    "unix_socket read_default_file local_infile init_command".split(),
)
def test_parameters_are_those_of_a_short_list(parameter: str) -> None:
    for scheme in ("postgresql", "mysql"):
        with pytest.raises(InvalidArgument, match="known are: user, password, sslmode, sslrootcert, currentschema"):
            parse_address(f"{scheme}://u@h/d?{parameter}=x", None, None, None)


@pytest.mark.parametrize(
    "hosts",
    [
        "a%2Cb",
        "a b",
        "a%20b",
        "a%00",
        "a%0A",
        "a=b",
        "a'b",
        "a%2Fb",
        "a\\b",
        "",
        "a,",
        ",a",
        "a%3Fb",
        "a%26b",
        "%2Fa%2Cb",
    ],
)
def test_what_is_no_host(hosts: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_address(f"postgresql://u@{hosts}/d", None, None, None)


def test_a_list_of_hosts() -> None:
    address = parse_address("postgresql://u@a:1,b,[::1]:3/d", None, None, None)
    assert [(found.host, found.port) for found in address.destinations] == [("a", 1), ("b", 5432), ("::1", 3)]
    assert address.place == "postgresql://a:1,b:5432,[::1]:3/d"
    assert address.places == ["postgresql://a:1/d", "postgresql://b:5432/d", "postgresql://[::1]:3/d"]
    with pytest.raises(InvalidArgument, match="only PostgreSQL takes a list of hosts"):
        parse_address("mysql://u@a,b/d", None, None, None)


@pytest.mark.parametrize("database", ["d%3FsocketFactory%3Dx", "d%26a%3Db", "d%23", "d%2Fe", "d%3Ballow"])
def test_the_name_of_a_database_brings_no_parameters_to_spark(database: str) -> None:
    """PgJDBC makes objects of classes that parameters name."""
    from pinakes.spark.catalogs import settings_of

    opening = Opening("jdbc", "r", f"postgresql://u:p@h/{database}", {}, "1")
    with pytest.raises(NotSupportedError, match="would take for options"):
        settings_of(RemoteCatalog("r", opening, on_s3=False))


def test_catalogs_of_limited_users_are_not_handed_to_spark() -> None:
    from pinakes.spark.catalogs import settings_of

    opening = Opening("jdbc", "r", "postgresql://u:p@h/d", {}, "1", Access(outbound=Outbound()))
    with pytest.raises(NotSupportedError, match="is not an administrator"):
        settings_of(RemoteCatalog("r", opening, on_s3=False))
