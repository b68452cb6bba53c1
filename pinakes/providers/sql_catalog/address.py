"""Where a database server is: `[scheme://][user[:password]@]host[:port][/database][?parameter=value&…]`, also `jdbc:…`.

The password is in no `repr`, and no error quotes the location.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, unquote

from pinakes.core.errors import InvalidArgument

DRIVERS = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql", "mariadb": "mysql"}
"""Schemes, and what an extra of ours and its driver are called."""
PORTS = {"postgres": 5432, "mysql": 3306}

_SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
_PARAMETERS = {
    "user": "user",
    "password": "password",
    "sslmode": "ssl_mode",
    "sslrootcert": "ssl_root_cert",
    "currentschema": "schema",
}
_SHAPE = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?(?:(?P<login>[^/?#]*)@)?"
    r"(?P<host>\[[^\]]*\]|[^:/?#\[\]]*)(?::(?P<port>[^/?#]*))?(?:/(?P<database>[^?#]*))?(?:\?(?P<query>[^#]*))?",
    re.DOTALL,
)
_FORMS = "postgresql://user@host:port/database, mysql://user@host:port/database or jdbc:postgresql://host/database"


@dataclass(frozen=True, slots=True)
class Address:
    """A database on a server and how to get there."""

    driver: str
    host: str
    port: int
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    ssl_mode: str = "prefer"
    ssl_root_cert: str = ""
    schema: str = ""

    @property
    def place(self) -> str:
        """For errors: no user, no password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "postgresql" if self.driver == "postgres" else self.driver
        return f"{scheme}://{host}:{self.port}/{self.database}"


def parse_address(location: str, driver: str | None, ssl_mode: str | None, ssl_root_cert: str | None) -> Address:
    """The address that a location and the options beside it give; the options win."""
    match = _SHAPE.fullmatch(location.strip().removeprefix("jdbc:"))
    if match is None or not match["host"]:
        raise InvalidArgument(f"the location of a jdbc catalog must look like {_FORMS}")
    chosen = _driver(match["scheme"], driver)
    user, colon, password = (match["login"] or "").partition(":")
    address = Address(
        driver=chosen,
        host=unquote(match["host"]).strip("[]"),
        port=_port(match["port"], chosen),
        database=unquote(match["database"] or ""),
        user=unquote(user),
        password=unquote(password) if colon else "",
    )
    beside = {"ssl_mode": ssl_mode, "ssl_root_cert": ssl_root_cert}
    given: dict[str, Any] = _parameters(match["query"] or "") | {k: v for k, v in beside.items() if v is not None}
    return _checked(replace(address, **given))


def _driver(scheme: str | None, option: str | None) -> str:
    known = ", ".join(DRIVERS)
    if option is not None and option.lower() not in DRIVERS:
        raise InvalidArgument(f"option DRIVER of catalog type jdbc must be one of {known}")
    if scheme is None:
        if option is None:
            raise InvalidArgument(
                f"the location names no kind of database; write it as {_FORMS}, or give the option DRIVER ({known})"
            )
        return DRIVERS[option.lower()]
    if scheme.lower() not in DRIVERS:
        raise InvalidArgument(f"catalog type jdbc does not know {scheme}://; it knows: {known}")
    if option is not None and DRIVERS[option.lower()] != DRIVERS[scheme.lower()]:
        raise InvalidArgument(f"the location says {scheme} and the option DRIVER says {option}; leave one of them out")
    return DRIVERS[scheme.lower()]


def _port(text: str | None, driver: str) -> int:
    if not text:
        return PORTS[driver]
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:
        # What stands there may be a password whose user has no '@' after it.
        raise InvalidArgument("the port in the location must be a number from 1 to 65535")
    return int(text)


def _parameters(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        name = _PARAMETERS.get(key.lower())
        if name is None:
            raise InvalidArgument(f"the location has a parameter {key!r}; known are: {', '.join(_PARAMETERS)}")
        found[name] = value
    return found


def _checked(address: Address) -> Address:
    if address.ssl_mode.lower() not in _SSL_MODES:
        raise InvalidArgument(f"SSL_MODE must be one of {', '.join(_SSL_MODES)}")
    if not address.database:
        raise InvalidArgument(f"the location names no database; it must look like {_FORMS}")
    return replace(address, ssl_mode=address.ssl_mode.lower())
