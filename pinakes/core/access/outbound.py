"""Outbound policy: the hosts that a server connects to for users who are not administrators (`[access] outbound`).

An entry allows a destination. The default, `public`, is every address that is routable on the internet; loopback,
link-local, private, multicast and other special addresses need an entry of their own. Names are resolved once, every
address of a name must be allowed, and the caller connects to one of the addresses returned, so that a name can't change
its address between the check and the connection. Where a library resolves names itself, only entries that name the
destination count (`check_library`).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from pinakes.core.errors import InvalidArgument, PermissionDenied
from pinakes.core.values import texts

PUBLIC = "public"
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "thrift": 9083}
"""Default ports of the schemes that catalogs are reached by."""

_NAME = re.compile(r"(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)")
_ENTRY = re.compile(r"(?P<host>\[[^\]]+\]|[^\[\]:]+|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:./]*)(?::(?P<port>\d{1,5}))?")
_NAT64 = IPv6Network("64:ff9b::/96")
_AWS = re.compile(r"(?:(?:glue|s3tables)\.[a-z0-9-]+|s3(?:\.dualstack)?(?:[.-][a-z0-9-]+)?)\.amazonaws\.com(?:\.cn)?")
"""AWS endpoints of the services that catalogs use, which boto3 and pyarrow choose when no endpoint is given."""
_COMPATIBLE = IPv6Network("::/96")


@dataclass(frozen=True, slots=True)
class Destination:
    """A host and port that a catalog would connect to. `library` means that a library opens the socket, so that the
    address can't be checked when it connects. A host that begins with / or @ is a Unix socket.
    """

    host: str
    port: int
    library: bool = False

    @property
    def is_socket(self) -> bool:
        return self.host.startswith(("/", "@"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.host if self.is_socket else f"{host}:{self.port}"


def destination_of(url: str, *, library: bool = False) -> Destination:
    """Returns the host and port of a URL; one without a scheme is an http address, as for object stores."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise InvalidArgument("an address must look like 'https://host:port/path'")
    return Destination(host, port or PORTS.get(parts.scheme.lower(), 443), library)


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str = ""
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None

    def matches_name(self, host: str, port: int) -> bool:
        if not self.name or self.port not in (None, port):
            return False
        return self.name in ("*", host) or (self.name.startswith("*.") and host.endswith(self.name[1:]))

    def matches_address(self, address: IPv4Address | IPv6Address, port: int) -> bool:
        return self.network is not None and self.port in (None, port) and address in self.network


class Outbound:
    """The policy: allowed destinations. An empty list allows none."""

    def __init__(self, entries: Iterable[str] = (PUBLIC,)) -> None:
        self.texts = tuple(entries)
        self._public = PUBLIC in self.texts
        self._entries = [_parse_entry(text) for text in self.texts if text != PUBLIC]

    def including(self, destinations: Iterable[Destination]) -> Outbound:
        """Returns the policy extended by destinations that an administrator has configured."""
        more = [str(found) for found in destinations]
        return Outbound((*self.texts, *more)) if more else self

    def check(self, destination: Destination) -> None:
        """Raises for destinations that can't be allowed, without resolving a name: sockets, special addresses,
        unlisted endpoints.
        """
        if destination.is_socket:
            raise PermissionDenied(
                "connecting to a Unix socket of the server is for administrators here. Ask one to attach this catalog."
            )
        host, port = _canonical(destination.host), destination.port
        address = _literal(host)
        if destination.library:
            named = any(entry.matches_name(host, port) for entry in self._entries)
            aws = self._public and port == 443 and _AWS.fullmatch(host) is not None
            if not named and not aws and (address is None or not self._is_listed(address, port)):
                raise self._refusal(
                    destination, "is not listed by an administrator, which the endpoint of an object store or of AWS "
                    "must be"
                )  # fmt: skip
        elif address is not None:
            self._allowed(destination, [address])

    def addresses(self, destination: Destination) -> list[str]:
        """Returns the addresses of a host. Raises PermissionDenied unless all of them are allowed; OSError if it has
        none.
        """
        self.check(destination)
        host = _canonical(destination.host)
        found = socket.getaddrinfo(host, destination.port, type=socket.SOCK_STREAM)
        texts = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        self._allowed(destination, [ip_address(text) for text in texts])
        return texts

    def connect(self, destination: Destination, timeout: float | None) -> socket.socket:
        """Connects to one of the allowed addresses of a host."""
        failure: OSError | None = None
        for address in self.addresses(destination):
            try:
                return socket.create_connection((address, destination.port), timeout)
            except OSError as error:
                failure = error
        raise failure or OSError(f"no host is named {destination.host}")

    def _allowed(self, destination: Destination, addresses: list[IPv4Address | IPv6Address]) -> None:
        host, port = _canonical(destination.host), destination.port
        if any(entry.matches_name(host, port) for entry in self._entries):
            return
        for address in addresses:
            if not self._is_listed(address, port) and not (self._public and is_public(address)):
                # The address is not shown, since it may belong to an internal network.
                kind = "has no public address" if not is_public(address) else "is not listed"
                raise self._refusal(destination, kind)

    def _is_listed(self, address: IPv4Address | IPv6Address, port: int) -> bool:
        plain = _unmapped(address)
        return any(
            entry.matches_address(plain, port) or entry.matches_name(str(plain), port) for entry in self._entries
        )

    def _refusal(self, destination: Destination, why: str) -> PermissionDenied:
        return PermissionDenied(
            f"connecting to {destination} is for administrators here: it {why}. Ask one to attach this catalog, or to "
            f'allow the destination to everybody: access.outbound = ["{destination}"] in the server\'s configuration.'
        )


def entries(value: object) -> tuple[str, ...]:
    """Parses the list `[access] outbound` of a configuration."""
    right = 'a list of destinations: "public", "host", "host:port", "*.example.com", "10.0.0.0/8", "[::1]:443" or "*"'
    try:
        found = texts(value)
        Outbound(found)
    except ValueError as error:
        raise ValueError(right) from error
    return found


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Returns whether an address is routable on the internet; also checks an IPv4 address that is embedded in an IPv6
    address.
    """
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, IPv6Address) and (address.teredo is not None or address.is_site_local):
        return False
    special = address.is_private or address.is_loopback or address.is_link_local or address.is_unspecified
    return address.is_global and not (special or address.is_multicast or address.is_reserved)


def _embedded(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if (inner := address.ipv4_mapped or address.sixtofour) is not None:
        return inner
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _canonical(host: str) -> str:
    return host.strip("[]").lower().removesuffix(".")


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _parse_entry(text: str) -> _Entry:
    match = _ENTRY.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(text)
    host, port = match["host"], int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise ValueError(text)
    try:
        return _Entry(network=ip_network(host.strip("[]"), strict=False), port=port)
    except ValueError:
        if not _NAME.fullmatch(host.removesuffix(".")):
            raise ValueError(text) from None
    return _Entry(name=host.removesuffix("."), port=port)
