"""The certificates of `pinakes serve`, from its arguments or the configuration: read and validated before it
listens."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pinakes.config.server import TlsConfig


class Tls(NamedTuple):
    """The certificates in gRPC's form. They are validated here, since gRPC would only log errors."""

    certificate: tuple[bytes, bytes]
    client_authorities: bytes | None = None

    @classmethod
    def of(cls, config: TlsConfig, cert: Path | None, key: Path | None) -> Tls | None:
        """Reads the certificates; arguments take precedence over the configuration. Raises ValueError if they are
        invalid."""
        if (cert is None) != (key is None):
            raise ValueError("--tls-cert and --tls-key go together: give both, or neither")
        if (config.certificate is None) != (config.key is None):
            raise ValueError("server.tls.certificate and server.tls.key go together: set both, or neither")
        if cert is not None and key is not None:
            pair = _pair(cert, key, "--tls-cert", "--tls-key")
        elif config.certificate is not None and config.key is not None:
            pair = _pair(Path(config.certificate), Path(config.key), "server.tls.certificate", "server.tls.key")
        elif config.client_ca is not None:
            raise ValueError("server.tls.client_ca needs a certificate of the server, too: --tls-cert and --tls-key")
        else:
            return None
        return cls(pair, None if config.client_ca is None else _authorities(Path(config.client_ca)))


def _pair(cert: Path, key: Path, cert_option: str, key_option: str) -> tuple[bytes, bytes]:
    pair = _read(cert, cert_option), _read(key, key_option)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except ssl.SSLError as error:
        raise ValueError(
            f"{str(cert)!r} and {str(key)!r} are not a certificate and its key in PEM format, "
            "or the key needs a password"
        ) from error
    return pair


def _authorities(path: Path) -> bytes:
    content = _read(path, "server.tls.client_ca")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(path)
    except ssl.SSLError as error:
        raise ValueError(f"server.tls.client_ca {str(path)!r} has no certificates of authorities in PEM") from error
    return content


def _read(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{option} {str(path)!r} can't be read: {error.strerror}") from error
