"""The configuration of `pinakes serve`: its users, their authentication and their privileges.

    [server]
    users_file = "users"
    administrators = ["ann"]

    [server.oidc]
    issuer = "https://login.example.com/realms/lab"
    audience = "pinakes"

    [server.tls]
    certificate = "server.crt"
    key = "server.key"

    [access]
    everybody_may = ["attach"]
    outbound = ["public", "10.20.0.0/16:5432"]

`config/server_section.py` reads the values; `server/logins` uses them for authentication,
`engine/catalogs/authorization` for authorization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from pinakes.config.server_limits import ServerLimits
from pinakes.config.serving import MetricsConfig, StatementLimits
from pinakes.core.access.outbound import PUBLIC, entries
from pinakes.core.access.privileges import PRIVILEGES
from pinakes.core.values import documented, duration, one_of, some_of, text, texts, truth

SECTIONS = ("users", "tokens", "oidc", "tls", "statements", "metrics")
"""The subsections of `[server]`; its own keys are those of LoginConfig and ServerLimits."""


@dataclass(frozen=True, slots=True)
class AccessConfig:
    """[access]: privileges of users of `pinakes serve` who are not administrators"""

    everybody_may: tuple[str, ...] = documented(
        some_of(*PRIVILEGES),
        "Privileges of all users, in addition to administrators: " + ", ".join(PRIVILEGES) + ".",
        ("attach",),
        shown="attach",
    )
    outbound: tuple[str, ...] = documented(
        entries,
        "Destinations that catalogs and secrets of users who are not administrators can connect to: `public` (all "
        "public addresses), a host, `*.example.com`, an address or a CIDR range, each with an optional `:port`; `*` is "
        "any. Custom endpoints of object stores and AWS must be listed by name or address.",
        (PUBLIC,),
        shown="public",
    )


@dataclass(frozen=True, slots=True)
class LoginConfig:
    """[server]: how callers are authenticated"""

    authentication: str | None = documented(
        one_of("none", "required"),
        "`none`: everyone on this machine can connect, as the user who runs the server; `required`: all users must log "
        "in. The default is `required` if a login method is configured, else `none`.",
        None,
    )
    users_file: str | None = documented(text, "File of users, written by `pinakes user add`.", None)
    administrators: tuple[str, ...] = documented(
        texts, "Users who are administrators, with every login method.", (), shown="none"
    )


@dataclass(frozen=True, slots=True)
class OidcConfig:
    """[server.oidc]: tokens of an OpenID Connect provider"""

    issuer: str = documented(text, "Issuer of the tokens, exactly as in their claim `iss`.", "", shown="required")
    audience: tuple[str, ...] = documented(texts, "Accepted audiences (`aud`) of a token.", (), shown="required")
    user_claim: str = documented(text, "Claim with the user name.", "preferred_username")
    roles_claim: str = documented(
        text, "Claim with the list of roles or groups; dots separate levels of objects.", "realm_access.roles"
    )
    administrator_roles: tuple[str, ...] = documented(
        texts, "Roles or groups whose users are administrators.", (), shown="none"
    )
    clock_skew: float = documented(
        duration, "Tolerated difference between the clocks of issuer and server.", 30.0, shown="30s"
    )
    keys_age: float = documented(
        duration, "Time after which the keys of the issuer are fetched again.", 300.0, shown="5min"
    )
    password_grant: bool = documented(
        truth,
        "Whether users can log in with user and password, which the issuer checks; requires client_id.",
        False,
        shown="false",
    )
    client_id: str | None = documented(
        text,
        "Client id of the server at the issuer, for the password grant; set client_secret as well, like a secret.",
        None,
    )
    scope: str = documented(text, "Scope for the password grant.", "openid")
    client_secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """[server.tls]"""

    certificate: str | None = documented(text, "File of the certificate chain (PEM).", None)
    key: str | None = documented(text, "File of the private key (PEM).", None)
    client_ca: str | None = documented(
        text, "File of the certificate authorities (PEM) for client certificates; clients must then present one.", None
    )
    allow_plaintext: bool = documented(
        truth,
        "Whether a server without a certificate can listen on addresses other than loopback, behind a proxy that "
        "terminates TLS. Passwords, tokens and rows are then sent to the server in clear text.",
        False,
        shown="false",
    )
    certificate_user: bool = documented(
        truth,
        "Whether the client certificate identifies the user: by its first subject alternative name, else by its common "
        "name. No password or token is required then.",
        False,
        shown="false",
    )


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """[server]. `users` and `tokens` map names to a password or a token ([server.users] and [server.tokens]): their
    values have the same forms as those of secrets, and a repr does not show them.
    """

    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    logins: LoginConfig = LoginConfig()
    oidc: OidcConfig | None = None
    tls: TlsConfig = TlsConfig()
    limits: ServerLimits = field(default_factory=ServerLimits)
    statements: StatementLimits = field(default_factory=StatementLimits)
    metrics: MetricsConfig = field(default_factory=MetricsConfig)


@cache
def default_server() -> ServerConfig:
    """Returns the defaults; cached, since a server reads them for each statement."""
    return ServerConfig()
