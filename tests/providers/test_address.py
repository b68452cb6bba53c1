"""Locations of jdbc catalogs: every form, and passwords that show nowhere."""

from __future__ import annotations

import pytest

from pinakes.core.errors import InvalidArgument
from pinakes.parser.redaction import masked_address
from pinakes.providers.sql_catalog.address import Address, parse_address


def parsed(location: str, driver: str | None = None, ssl_mode: str | None = None) -> Address:
    return parse_address(location, driver, ssl_mode, None)


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("postgresql://u:p@h:1234/d", Address("postgres", "h", 1234, "d", "u", "p")),
        ("postgres://u@h/d", Address("postgres", "h", 5432, "d", "u")),
        ("mysql://u:p@h/d", Address("mysql", "h", 3306, "d", "u", "p")),
        ("MariaDB://u:p@h/d", Address("mysql", "h", 3306, "d", "u", "p")),
        ("jdbc:postgresql://h/d?user=u&password=p", Address("postgres", "h", 5432, "d", "u", "p")),
        ("jdbc:mysql://h:1/d?user=u&password=p%26q", Address("mysql", "h", 1, "d", "u", "p&q")),
        ("jdbc:mariadb://u:p@h/d", Address("mysql", "h", 3306, "d", "u", "p")),
        ("postgresql://a%40b:p%3A%2F%40%25@h/d%20e", Address("postgres", "h", 5432, "d e", "a@b", "p:/@%")),
        ("postgresql://u:p@ss@h/d", Address("postgres", "h", 5432, "d", "u", "p@ss")),
        ("postgresql://u:p:q@h/d", Address("postgres", "h", 5432, "d", "u", "p:q")),
        ("postgresql://u@[::1]:77/d", Address("postgres", "::1", 77, "d", "u")),
        ("postgresql://u@h/d?sslmode=require", Address("postgres", "h", 5432, "d", "u", ssl_mode="require")),
        ("postgresql://u@h/d?currentSchema=s", Address("postgres", "h", 5432, "d", "u", schema="s")),
        ("postgresql://h/d", Address("postgres", "h", 5432, "d")),
    ],
)
def test_forms(location: str, address: Address) -> None:
    assert parsed(location) == address


def test_without_a_scheme_the_option_decides() -> None:
    assert parsed("u:p@h:5/d", "MySQL") == Address("mysql", "h", 5, "d", "u", "p")
    assert parsed("h/d", "postgresql") == Address("postgres", "h", 5432, "d")
    assert parsed("mariadb://h/d", "mysql").driver == "mysql"


def test_options_win_over_parameters() -> None:
    assert parsed("postgresql://h/d?sslmode=disable", ssl_mode="Verify-Full").ssl_mode == "verify-full"


@pytest.mark.parametrize(
    ("location", "driver", "message"),
    [
        ("", None, "must look like"),
        ("postgresql://", None, "must look like"),
        ("postgresql:///d", None, "must look like"),
        ("h/d", None, "names no kind of database"),
        ("oracle://h/d", None, "does not know oracle://; it knows: postgresql"),
        ("postgresql://h/d", "mysql", "leave one of them out"),
        ("postgresql://h/d", "db2", "must be one of postgresql"),
        ("postgresql://h", None, "names no database"),
        ("postgresql://h/", None, "names no database"),
        ("postgresql://h:x/d", None, "port in the location must be a number"),
        ("postgresql://h:70000/d", None, "port in the location must be a number"),
        ("postgresql://h/d?colour=red", None, "parameter 'colour'; known are: user, password"),
        ("postgresql://h/d?sslmode=maybe", None, "SSL_MODE must be one of disable"),
        ("host=h user=u password=hunter2", None, "must look like|names no kind"),
    ],
)
def test_what_can_not_be(location: str, driver: str | None, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        parsed(location, driver)


SECRET = "hunter2zQ9"


@pytest.mark.parametrize(
    "location",
    [
        f"postgresql://u:{SECRET}@h/d",
        f"postgresql://u:{SECRET}@h:x/d",
        f"postgresql://u:{SECRET}@h",
        f"postgresql://u:{SECRET}/d",
        f"postgresql://u:a@{SECRET}@h/d",
        f"jdbc:postgresql://h/d?user=u&password={SECRET}",
        f"jdbc:postgresql://h/d?user=u&password={SECRET}&x=1",
        f"jdbc:mysql://h/d?user=u&password={SECRET}#x",
        f"u:{SECRET}@h/d",
        f"u:a/{SECRET}@h/d",
        f"host=h user=u password={SECRET}",
    ],
)
def test_a_password_shows_nowhere(location: str) -> None:
    shown = masked_address(location)
    try:
        address = parsed(location)
        shown += repr(address) + address.place
    except InvalidArgument as error:
        shown += str(error) + repr(error)
    assert SECRET not in shown
