"""The address of a server: `grpc://host:port`, or `grpc+tls://host:port` with a verified certificate."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

PORT = 31337
_SCHEMES = {"grpc": False, "grpc+tcp": False, "grpc+tls": True}


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    tls: bool
    authority: bytes | None = None
    """The certificates (PEM) of the authority that must have signed the server's; None means those of the system."""
    checked: bool = True
    """Whether the server's certificate is verified."""

    @classmethod
    def of(cls, uri: str, authority: bytes | None = None, *, insecure: bool = False) -> Address:
        """Parses a URI. Raises ValueError with the reason, without parts that may be a password."""
        parts = urlsplit(uri)
        if parts.scheme not in _SCHEMES or not parts.netloc:
            raise ValueError(f"a server is grpc+tls://host:port, or grpc://host:port without TLS; not {_shown(uri)!r}")
        if "@" in parts.netloc:
            raise ValueError("the address has a user in it: give --user, and the password by --password-file")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError(f"nothing follows the port of a server: {_shown(uri)!r}")
        try:
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ValueError(f"{_shown(uri)!r} has no port from 0 to 65535") from error
        if not host:
            raise ValueError(f"{_shown(uri)!r} names no host")
        tls = _SCHEMES[parts.scheme]
        if authority is not None and not tls:
            raise ValueError("--tls-ca is for grpc+tls://, and grpc:// has no TLS")
        return cls(host, PORT if port is None else port, tls, authority, not insecure)

    @property
    def uri(self) -> str:
        """The address in gRPC's notation."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'grpc+tls' if self.tls else 'grpc'}://{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether it is this machine, so that the traffic does not leave it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def _shown(uri: str) -> str:
    """Returns the address without the part before an @."""
    return uri.rpartition("@")[2]
