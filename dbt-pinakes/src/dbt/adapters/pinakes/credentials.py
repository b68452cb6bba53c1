"""The profile: where the server is, who asks, and the catalog and schema that models go to."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from adbc_driver_flightsql import DatabaseOptions, OAuthFlowType
from dbt.adapters.contracts.connection import Credentials
from dbt_common.exceptions import DbtRuntimeError

# A seed or a model may have rows larger than the 16 MB that the driver takes by itself.
_LARGEST_MESSAGE = str(256 * 1024 * 1024)


@dataclass
class PinakesCredentials(Credentials):  # type: ignore[misc]
    """`catalog` is another name for `database`, which is what dbt calls it; `username` one for `user`."""

    host: str = "127.0.0.1"
    port: int = 31337
    tls: bool = False
    tls_ca: str | None = None
    """A file with the certificates (PEM) of the authority that vouches for the server; the system's without it."""
    allow_plaintext: bool = False
    """Whether a password or token may go to another machine without TLS."""
    user: str | None = None
    password: str | None = None
    token: str | None = None
    """A token of the server or of its OpenID Connect issuer, sent as it is."""
    token_file: str | None = None
    """A file that has the token, and is read anew for each connection: for tokens that something else renews."""
    oidc_token_url: str | None = None
    """Where the issuer gives out tokens; with client_id and client_secret dbt logs in as that client and renews it."""
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = None
    oidc_scope: str | None = None

    _ALIASES: ClassVar[dict[str, str]] = {"catalog": "database", "username": "user", "pass": "password"}

    @classmethod
    def translate_aliases(cls, kwargs: dict[str, Any], recurse: bool = False) -> dict[str, Any]:
        """Without a catalog it is the one that every server has."""
        return {"database": "lake", **super().translate_aliases(kwargs, recurse)}

    def __post_init__(self) -> None:
        ways = {
            "user and password": self.user is not None or self.password is not None,
            "token": self.token is not None,
            "token_file": self.token_file is not None,
            "oidc_token_url": self.oidc_token_url is not None,
        }
        given = [way for way, is_given in ways.items() if is_given]
        if len(given) > 1:
            raise DbtRuntimeError(f"The profile has {' and '.join(given)}: keep one way to log in.")
        if (self.user is None) != (self.password is None):
            raise DbtRuntimeError("The profile needs user and password together.")
        if self.oidc_token_url and not (self.oidc_client_id and self.oidc_client_secret):
            raise DbtRuntimeError(
                "The profile has oidc_token_url: it needs oidc_client_id and oidc_client_secret, too."
            )
        if self.tls_ca and not self.tls:
            raise DbtRuntimeError("The profile has tls_ca, and tls is false: set tls to true.")
        if given and not self.tls and not self.allow_plaintext and not _is_local(self.host):
            raise DbtRuntimeError(
                f"The profile sends a password or token to {self.host} without TLS, where it could be read on its way: "
                f"set tls to true, or allow_plaintext to true if that does not matter."
            )
        if self.oidc_token_url and not self.allow_plaintext:
            issuer = urlsplit(self.oidc_token_url)
            if issuer.scheme != "https" and not _is_local(issuer.hostname or ""):
                raise DbtRuntimeError("The profile's oidc_token_url must be an https:// address.")

    @property
    def type(self) -> str:
        return "pinakes"

    @property
    def unique_field(self) -> str:
        return f"{self.host}:{self.port}"

    def _connection_keys(self) -> tuple[str, ...]:
        """What `dbt debug` prints: nothing secret."""
        return (
            "host",
            "port",
            "tls",
            "tls_ca",
            "allow_plaintext",
            "user",
            "token_file",
            "oidc_token_url",
            "oidc_client_id",
            "database",
            "schema",
        )

    @property
    def uri(self) -> str:
        return f"grpc{'+tls' if self.tls else ''}://{self.host}:{self.port}"

    def driver_options(self) -> dict[str, str]:
        """What the ADBC driver is told, read from files where the profile names them."""
        options: dict[Any, str | None] = {
            # The session (its temporary tables, its settings) is known by a cookie, also after a broken connection.
            DatabaseOptions.WITH_COOKIE_MIDDLEWARE: "true",
            DatabaseOptions.WITH_MAX_MSG_SIZE: _LARGEST_MESSAGE,
            DatabaseOptions.TLS_ROOT_CERTS: _read(self.tls_ca, "tls_ca"),
            **self._login(),
        }
        named = {getattr(key, "value", key): value for key, value in options.items()}
        return {key: value for key, value in named.items() if value is not None}

    def _login(self) -> dict[Any, str | None]:
        if self.oidc_token_url is not None:
            return {
                DatabaseOptions.OAUTH_FLOW: OAuthFlowType.CLIENT_CREDENTIALS.value,
                DatabaseOptions.OAUTH_TOKEN_URI: self.oidc_token_url,
                DatabaseOptions.OAUTH_CLIENT_ID: self.oidc_client_id,
                DatabaseOptions.OAUTH_CLIENT_SECRET: self.oidc_client_secret,
                DatabaseOptions.OAUTH_SCOPE: self.oidc_scope,
            }
        token = self.token or _read(self.token_file, "token_file")
        if token is not None:
            return {DatabaseOptions.AUTHORIZATION_HEADER: f"Bearer {token.strip()}"}
        return {"username": self.user, "password": self.password}


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _read(path: str | None, key: str) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).expanduser().read_text()
    except OSError as error:
        raise DbtRuntimeError(f"The profile's {key} can't be read: {error}") from error
