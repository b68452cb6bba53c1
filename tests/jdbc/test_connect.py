"""How the JDBC driver connects: users, tokens, TLS, properties, and what it says when that fails."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jpype
import pytest

from tests.flight.serving import Serving, serving
from tests.flight.test_serve import certificate
from tests.jdbc.driver import CLASS, JAVA, ask, connect, do, properties

pytestmark = pytest.mark.slow


def user_of(port: int, **options: str) -> str | None:
    with closing(connect(port, **options)) as connection:
        ((user,),) = ask(connection, "SELECT current_user")
        return user


def error_of(port: int, **options: str) -> str:
    with pytest.raises(jpype.JException) as error:
        user_of(port, **options)
    return str(error.value)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    file = tmp_path_factory.mktemp("guarded") / "pinakes.toml"
    file.write_text('[server.users]\nann = "geheim"\nbob = "p:w ä%"\n[server.tokens]\nrobot = "t0k3n"\n')
    with serving("--config", str(file)) as running:
        yield running


def test_without_authentication_anybody_connects(server: Serving) -> None:
    assert user_of(server.port) == user_of(server.port, user="whoever", password="whatever")


def test_with_a_password(guarded: Serving) -> None:
    assert user_of(guarded.port, user="ann", password="geheim") == "ann"
    assert user_of(guarded.port, user="bob", password="p:w ä%") == "bob"


def test_with_a_token(guarded: Serving) -> None:
    assert user_of(guarded.port, token="t0k3n") == "robot"


@pytest.mark.parametrize(
    "wrong",
    [{"user": "ann", "password": "falsch"}, {"user": "nobody", "password": "geheim"}, {"token": "falsch"}, {}],
    ids=["password", "user", "token", "nothing"],
)
def test_wrong_credentials_are_reported(guarded: Serving, wrong: dict[str, str]) -> None:
    said = error_of(guarded.port, **wrong)
    assert "invalid credentials" in said
    assert "geheim" not in said
    assert "falsch" not in said


def test_a_wrong_port_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "io exception" in error_of(port)  # all that the driver tells


def test_everything_can_stand_in_the_url(guarded: Serving) -> None:
    url = f"jdbc:arrow-flight-sql://127.0.0.1:{guarded.port}/?useEncryption=false&user=ann&password=geheim"
    with closing(JAVA(CLASS)().connect(url, properties({}))) as connection:
        assert ask(connection, "SELECT current_user") == [("ann",)]


def test_the_driver_is_found_by_its_url(server: Serving) -> None:
    manager = JAVA("java.sql.DriverManager")
    url = f"jdbc:arrow-flight-sql://127.0.0.1:{server.port}?useEncryption=false"
    with closing(manager.getConnection(url)) as connection:
        assert ask(connection, "SELECT 1") == [("1",)]


def test_the_catalog_property_is_the_current_catalog(server: Serving) -> None:
    connection = connect(server.port, catalog="system")
    assert ask(connection, "SELECT current_catalog") == [("system",)]
    assert ask(connection, "SELECT count(*) FROM jdbc.catalogs") == [("2",)]
    before = sessions(server)
    with pytest.raises(jpype.JException, match="Channel shutdown invoked"):
        connection.close()  # the driver ends the session twice, the second time on a channel that it has shut
    assert sessions(server) == before - 1


def sessions(server: Serving) -> int:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM system.runtime.sessions WHERE catalog_name = 'system'")
        return int(cursor.fetchone()[0])  # type: ignore[index]


def test_unknown_properties_do_no_harm(server: Serving) -> None:
    assert user_of(server.port, ApplicationName="DBeaver", nonsense="x") == user_of(server.port)


def test_use_and_set_last_as_long_as_the_connection(server: Serving, connection: Any) -> None:
    do(connection, "CREATE SCHEMA own", "USE lake.own", "CREATE TEMPORARY TABLE mine AS SELECT 1 AS x")
    assert ask(connection, "SELECT current_schema, x FROM mine") == [("own", "1")]
    with closing(connect(server.port)) as other:
        assert ask(other, "SELECT current_schema") == [("default",)]


def test_what_a_connection_says_of_itself(connection: Any) -> None:
    assert connection.isValid(60)
    assert not connection.isClosed()
    assert connection.isReadOnly()  # says the driver of every connection; DatabaseMetaData.isReadOnly() asks the server
    assert not connection.getMetaData().isReadOnly()
    assert connection.getAutoCommit()


# --- TLS ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    cert, key = certificate(tmp_path_factory.mktemp("tls"))
    with serving("--host", "localhost", "--tls-cert", str(cert), "--tls-key", str(key)) as running:
        yield running, cert


def test_tls_with_the_certificate(encrypted: tuple[Serving, Path]) -> None:
    server, cert = encrypted
    assert user_of(server.port, host="localhost", useEncryption="true", tlsRootCerts=str(cert))


def test_tls_without_verification(encrypted: tuple[Serving, Path]) -> None:
    server, _ = encrypted
    assert user_of(server.port, host="localhost", useEncryption="true", disableCertificateVerification="true")


def test_tls_with_an_unknown_certificate_is_refused(encrypted: tuple[Serving, Path]) -> None:
    server, _ = encrypted
    error_of(server.port, host="localhost", useEncryption="true")


def test_tls_is_not_mixed_up_with_its_absence(encrypted: tuple[Serving, Path], server: Serving) -> None:
    error_of(encrypted[0].port, host="localhost", useEncryption="false")
    error_of(server.port, useEncryption="true")
