"""The catalog type `jdbc` on PostgreSQL and MariaDB: the behaviour suite, options, and what goes wrong."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pinakes.core.catalog import SupportsDefaultNamespace
from pinakes.core.errors import (
    CatalogUnavailable,
    InvalidArgument,
    NotSupportedError,
    OptionNotFound,
    PermissionDenied,
    PinakesError,
    SecretNotFound,
)
from pinakes.core.secrets import ANONYMOUS, Access, parse_secret
from pinakes.parser.statements import OptionValue
from pinakes.providers.jdbc import JdbcCatalog
from pinakes.providers.registry import open_catalog
from tests.providers.catalog_suite import SPEC, ids_in, rows
from tests.providers.databases import EmptyDatabase, empty_database
from tests.providers.test_catalogs import SqlCatalogSuite
from tests.servers.base import Facts
from tests.servers.running import free_ports

pytestmark = pytest.mark.slow


class JdbcSuite(SqlCatalogSuite):
    @pytest.fixture
    def facts(self) -> Facts:
        raise NotImplementedError("a subclass says which server")

    @pytest.fixture
    def empty(self, facts: Facts, tmp_path: Path) -> Iterator[JdbcCatalog]:
        with empty_database(facts) as database:
            catalog = JdbcCatalog.open("c", database.location, {"WAREHOUSE": str(tmp_path / "warehouse")})
            yield catalog
            catalog.close()


class TestPostgres(JdbcSuite):
    @pytest.fixture
    def facts(self, postgres_server: Facts) -> Facts:
        return postgres_server


class TestMariaDB(JdbcSuite):
    @pytest.fixture
    def facts(self, mariadb_server: Facts) -> Facts:
        return mariadb_server


# --- opening -----------------------------------------------------------------------------------------------------


@pytest.fixture(params=["postgres_server", "mariadb_server"])
def database(request: pytest.FixtureRequest) -> Iterator[EmptyDatabase]:
    with empty_database(request.getfixturevalue(request.param)) as database:
        yield database


def opened(location: str, options: Mapping[str, OptionValue] | None = None, access: Access = ANONYMOUS) -> JdbcCatalog:
    catalog = open_catalog("jdbc", "c", location, options or {}, access)
    assert isinstance(catalog, JdbcCatalog)
    return catalog


def plain(database: EmptyDatabase) -> str:
    """The location without who connects."""
    facts = database.facts
    return database.location.replace(f"{facts['user']}:{facts['password']}@", "")


def login(database: EmptyDatabase, **other: str) -> Access:
    own = {"USERNAME": database.facts["user"], "PASSWORD": database.facts["password"], **other}
    return Access(parse_secret("s", "me", {"TYPE": "basic", **own}))


def test_a_secret_says_who_connects(database: EmptyDatabase) -> None:
    opened(plain(database), access=login(database)).close()
    wrong = database.location.replace(":iceberg@", ":nonsense@")
    opened(wrong, access=login(database)).close()  # it wins over the location
    with pytest.raises(InvalidArgument, match=r"needs a user: .* SECRET of type basic"):
        opened(plain(database))
    with pytest.raises(InvalidArgument, match="'t' is of type bearer; this catalog takes: basic"):
        opened(plain(database), access=Access(parse_secret("t", "me", {"TYPE": "bearer", "TOKEN": "x"})))


def test_a_secret_that_was_dropped_opens_no_further_connection(database: EmptyDatabase) -> None:
    access = login(database)
    assert access.secret is not None
    catalog = opened(plain(database), access=access)
    access.secret.wipe()
    catalog._store._database._pool.clear()  # type: ignore[attr-defined]
    with pytest.raises(SecretNotFound, match="was dropped"):
        catalog.list_namespaces()
    catalog.close()


def test_the_form_of_java(database: EmptyDatabase) -> None:
    scheme, _, rest = plain(database).partition("://")
    mark = "&" if "?" in rest else "?"
    opened(f"jdbc:{scheme}://{rest}{mark}user=iceberg&password=iceberg").close()


def test_the_option_driver(database: EmptyDatabase) -> None:
    scheme, _, rest = database.location.partition("://")
    opened(rest, {"DRIVER": scheme}).close()


def test_the_same_rows_under_any_alias(database: EmptyDatabase) -> None:
    first = open_catalog("jdbc", "first", database.location, {})
    first.create_namespace(("n",), {})  # type: ignore[attr-defined]
    second = open_catalog("jdbc", "second", database.location, {})
    assert second.list_namespaces() == [("n",)]  # type: ignore[attr-defined]
    third = open_catalog("jdbc", "third", database.location, {"CATALOG_NAME": "third"})
    third.create_namespace(("m",), {})  # type: ignore[attr-defined]
    with pytest.raises(InvalidArgument, match=r"several catalogs: first, third\. Choose one"):
        open_catalog("jdbc", "other", database.location, {})
    for catalog in (first, second, third):
        catalog.close()


def test_without_a_warehouse_tables_are_read_and_not_made(database: EmptyDatabase, tmp_path: Path) -> None:
    writer = opened(database.location, {"WAREHOUSE": str(tmp_path)})
    writer.create_namespace(("n",), {})
    writer.create_table(("n",), "t", SPEC).handle.append(rows(1))
    reader = opened(database.location)
    assert ids_in(reader.load_table(("n",), "t")) == [1]
    with pytest.raises(InvalidArgument, match="WAREHOUSE"):
        reader.create_table(("n",), "u", SPEC)
    writer.close()
    reader.close()


def test_a_default_namespace(database: EmptyDatabase) -> None:
    catalog = opened(database.location, {"DEFAULT_NAMESPACE": "a.b"})
    assert isinstance(catalog, SupportsDefaultNamespace)
    assert catalog.default_namespace == ("a", "b")
    catalog.close()


def test_encryption_that_the_server_has_not_got(database: EmptyDatabase) -> None:
    for mode in ("require", "verify-full"):
        with pytest.raises(CatalogUnavailable, match=r"(?i)ssl"):
            opened(database.location, {"SSL_MODE": mode})
    opened(database.location, {"SSL_MODE": "disable"}).close()


# --- what goes wrong ---------------------------------------------------------------------------------------------

PLANTED = "hunter2zQ9"


def failure(
    location: str, options: Mapping[str, OptionValue], access: Access, log: pytest.LogCaptureFixture
) -> PinakesError:
    """The error of an ATTACH, with nothing of the password in it, its causes or the log."""
    with log.at_level(logging.DEBUG), pytest.raises(PinakesError) as raised:
        opened(location, options, access)
    told = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + log.text
    assert PLANTED not in told
    return raised.value


def test_a_wrong_password(database: EmptyDatabase, caplog: pytest.LogCaptureFixture) -> None:
    wrong = database.location.replace(":iceberg@", f":{PLANTED}@")
    assert isinstance(failure(wrong, {}, ANONYMOUS, caplog), PermissionDenied)
    error = failure(plain(database), {}, login(database, PASSWORD=PLANTED), caplog)
    assert isinstance(error, PermissionDenied)
    assert "127.0.0.1" in error.message


def test_a_wrong_user(database: EmptyDatabase, caplog: pytest.LogCaptureFixture) -> None:
    wrong = database.location.replace("iceberg:iceberg@", f"nobody:{PLANTED}@")
    assert isinstance(failure(wrong, {}, ANONYMOUS, caplog), PermissionDenied)


def test_a_database_that_is_not_there(database: EmptyDatabase, caplog: pytest.LogCaptureFixture) -> None:
    place, _, _ = database.location.rpartition("/")
    error = failure(f"{place}/nowhere", {}, ANONYMOUS, caplog)
    assert isinstance(error, CatalogUnavailable)
    assert "nowhere" in error.message


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_no_server_listens(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    port = free_ports(1)[0]
    error = failure(f"{scheme}://u:{PLANTED}@127.0.0.1:{port}/d", {"CONNECT_TIMEOUT": 2}, ANONYMOUS, caplog)
    assert isinstance(error, CatalogUnavailable)
    assert f"127.0.0.1:{port}" in error.message


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_a_host_that_is_not_there(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    error = failure(f"{scheme}://u:{PLANTED}@nowhere.invalid/d", {"CONNECT_TIMEOUT": 2}, ANONYMOUS, caplog)
    assert isinstance(error, CatalogUnavailable)
    assert "nowhere.invalid" in error.message


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"COLOUR": "red"}, OptionNotFound, r"no option COLOUR\. Options: WAREHOUSE \(.*MAX_CONNECTIONS \("),
        ({"MAX_CONNECTIONS": "many"}, InvalidArgument, "MAX_CONNECTIONS of catalog type jdbc must be a whole number"),
        ({"CONNECT_TIMEOUT": 0}, InvalidArgument, "CONNECT_TIMEOUT of catalog type jdbc must be a number of seconds"),
        ({"SSL_MODE": "maybe"}, InvalidArgument, "SSL_MODE must be one of"),
        ({"DEFAULT_NAMESPACE": "a..b"}, InvalidArgument, "must be a namespace"),
        ({"DRIVER": "mysql"}, InvalidArgument, "leave one of them out"),
    ],
)
def test_options_that_can_not_be(options: dict[str, OptionValue], error: type[PinakesError], message: str) -> None:
    with pytest.raises(error, match=message):
        opened("postgresql://u@127.0.0.1:1/d", options)


@pytest.mark.parametrize(
    ("scheme", "package", "extra"), [("postgresql", "psycopg", "postgres"), ("mysql", "pymysql", "mysql")]
)
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, scheme: str, package: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"pinakes.providers.sql_catalog.{extra}", raising=False)
    with pytest.raises(NotSupportedError, match=rf"pip install 'pinakes\[{extra}\]'"):
        opened(f"{scheme}://u@127.0.0.1:1/d")


def test_opening_and_listing_loads_no_heavy_library(database: EmptyDatabase) -> None:
    program = f"""
import sys
from pinakes.providers.registry import open_catalog
catalog = open_catalog("jdbc", "c", {database.location!r}, {{}})
catalog.create_namespace(("n",), {{}})
assert catalog.list_namespaces() == [("n",)] and catalog.list_everything() == []
catalog.close()
print(sorted({{"pyiceberg", "pyarrow", "sqlglot", "sqlalchemy"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
