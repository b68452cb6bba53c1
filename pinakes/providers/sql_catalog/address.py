"""The address of a database server: `[scheme://][user[:password]@]host[:port][/database][?parameter=value&…]`, also
`jdbc:…`.

PostgreSQL accepts several hosts, `host1:port1,host2:port2`; each of them is parsed, so that each can be checked. Only
the parameters of a short list are accepted: libpq has others that name files, services and further hosts. The password
is in no `repr`, and no error quotes the location.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from pinakes.core.access.outbound import Destination
from pinakes.core.errors import InvalidArgument

DRIVERS = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql", "mariadb": "mysql"}
"""The driver by scheme, which is also the name of our extra."""
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
    r"(?P<hosts>(?:\[[^\]/?#]*\]|[^/?#\[\]])*)(?:/(?P<database>[^?#]*))?(?:\?(?P<query>[^#]*))?",
    re.DOTALL,
)
_HOST = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>.*))?", re.DOTALL)
_NAME = re.compile(r"[\w.%:-]+")
_SOCKET = re.compile(r"[/@][^,\x00-\x1f\x7f]*")
_FORMS = "postgresql://user@host:port/database, mysql://user@host:port/database or jdbc:postgresql://host/database"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a database on a server."""

    driver: str
    host: str
    port: int
    database: str
    user: str = ""
    password: str = field(default="", repr=False)
    ssl_mode: str = "prefer"
    ssl_root_cert: str = ""
    schema: str = ""
    more_hosts: tuple[tuple[str, int], ...] = ()
    """Further hosts and ports to try."""

    @property
    def destinations(self) -> list[Destination]:
        return [Destination(host, port) for host, port in ((self.host, self.port), *self.more_hosts)]

    @property
    def scheme(self) -> str:
        return "postgresql" if self.driver == "postgres" else self.driver

    @property
    def place(self) -> str:
        """The address for errors, without user and password."""
        return f"{self.scheme}://{','.join(map(_shown, self.destinations))}/{self.database}"

    @property
    def places(self) -> list[str]:
        """The address of each host, which is compared with the scope of a secret."""
        return [f"{self.scheme}://{_shown(found)}/{quote(self.database, safe='')}" for found in self.destinations]


def parse_address(location: str, driver: str | None, ssl_mode: str | None, ssl_root_cert: str | None) -> Address:
    """Returns the address from a location and the options; the options take precedence."""
    match = _SHAPE.fullmatch(location.strip().removeprefix("jdbc:"))
    if match is None or not match["hosts"]:
        raise InvalidArgument(f"the location of a jdbc catalog must look like {_FORMS}")
    chosen = _driver(match["scheme"], driver)
    user, colon, password = (match["login"] or "").partition(":")
    (host, port), *others = [_host(text, chosen) for text in match["hosts"].split(",")]
    if others and chosen != "postgres":
        raise InvalidArgument("only PostgreSQL takes a list of hosts; name one host")
    address = Address(
        driver=chosen,
        host=host,
        port=port,
        more_hosts=tuple(others),
        database=unquote(match["database"] or ""),
        user=unquote(user),
        password=unquote(password) if colon else "",
    )
    beside = {"ssl_mode": ssl_mode, "ssl_root_cert": ssl_root_cert}
    given: dict[str, Any] = _parameters(match["query"] or "") | {k: v for k, v in beside.items() if v is not None}
    return _checked(replace(address, **given))


def _host(text: str, driver: str) -> tuple[str, int]:
    """Returns one host of a list, and its port. The list is split before percent-decoding: libpq would split
    it again.
    """
    match = _HOST.fullmatch(text)
    assert match is not None
    port = _port(match["port"], driver)
    host = unquote(match["host"]).strip("[]")
    if not (_NAME.fullmatch(host) or _SOCKET.fullmatch(host)):
        raise InvalidArgument(
            f"a host in the location must be a name, an address or the path of a Unix socket; write it as {_FORMS}"
        )
    return host, port


def _shown(destination: Destination) -> str:
    return f"{destination.host}:{destination.port}" if destination.is_socket else str(destination)


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
        # The text may be a password, if the '@' after it is missing, so the message does not contain it.
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
