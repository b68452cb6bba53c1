"""Where a server is: `grpc://host:port`, or `grpc+tls://host:port` with a certificate that is checked."""

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
    """The certificates (PEM) that the server's must be signed by; None are those of the system."""
    checked: bool = True
    """Whether the server's certificate is looked at."""

    @classmethod
    def of(cls, uri: str, authority: bytes | None = None, *, insecure: bool = False) -> Address:
        """What a URI says; ValueError tells what is wrong with it, without what may be a password."""
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
        """As gRPC takes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'grpc+tls' if self.tls else 'grpc'}://{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether it is this machine, so that nobody reads along."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def _shown(uri: str) -> str:
    """The address without what stands before an @."""
    return uri.rpartition("@")[2]
