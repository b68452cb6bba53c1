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

`core/config.py` reads the values; `flight/logins` uses them for authentication, `engine/catalogs/authorization` for
authorization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from pinakes.core.outbound import PUBLIC, entries
from pinakes.core.privileges import PRIVILEGES
from pinakes.core.server_limits import ServerLimits
from pinakes.core.serving import MetricsConfig, StatementLimits
from pinakes.core.values import documented, duration, one_of, some_of, text, texts, truth

SECTIONS = ("users", "tokens", "oidc", "tls", "statements", "metrics")
"""The subsections of `[server]`; its own keys are those of LoginConfig and ServerLimits."""


@dataclass(frozen=True, slots=True)
class AccessConfig:
    """[access]: privileges of users of `pinakes serve` who are not administrators"""

    everybody_may: tuple[str, ...] = documented(
        some_of(*PRIVILEGES),
        "What everybody may do, and not only administrators: " + ", ".join(PRIVILEGES) + ".",
        ("attach",),
        shown="attach",
    )
    outbound: tuple[str, ...] = documented(
        entries,
        "Destinations that catalogs and secrets of users who are not administrators may lead to: `public` (every "
        "public address), a host, `*.example.com`, an address or a CIDR range, each with an optional `:port`; `*` is "
        "any. Endpoints of object stores and of AWS must be listed by name or address: `public` does not cover them.",
        (PUBLIC,),
        shown="public",
    )


@dataclass(frozen=True, slots=True)
class LoginConfig:
    """[server]: how callers are authenticated"""

    authentication: str | None = documented(
        one_of("none", "required"),
        "`none`: anybody on this machine may call, as the user who runs the server; `required`: everybody must log in. "
        "If not set: required as soon as a way to log in is configured.",
        None,
    )
    users_file: str | None = documented(text, "File of users that `pinakes user add` writes.", None)
    administrators: tuple[str, ...] = documented(
        texts, "Users who are administrators, however they log in.", (), shown="none"
    )


@dataclass(frozen=True, slots=True)
class OidcConfig:
    """[server.oidc]: tokens of an OpenID Connect provider"""

    issuer: str = documented(text, "The issuer of the tokens, exactly as they name it (`iss`).", "", shown="(needed)")
    audience: tuple[str, ...] = documented(
        texts, "A token must be meant for one of these (`aud`).", (), shown="(needed)"
    )
    user_claim: str = documented(text, "The claim that is the user's name.", "preferred_username")
    roles_claim: str = documented(
        text, "The claim that lists roles or groups; a dot leads into an object.", "realm_access.roles"
    )
    administrator_roles: tuple[str, ...] = documented(
        texts, "Roles or groups that make an administrator.", (), shown="none"
    )
    clock_skew: float = documented(duration, "How far the clocks of issuer and server may differ.", 30.0, shown="30s")
    keys_age: float = documented(
        duration, "How long the issuer's keys are believed before they are fetched anew.", 300.0, shown="5min"
    )
    password_grant: bool = documented(
        truth,
        "Whether a user and a password are brought to the issuer, for clients that know nothing else; needs client_id.",
        False,
        shown="false",
    )
    client_id: str | None = documented(
        text,
        "The server's name at the issuer, for the password grant; client_secret, given as secrets are, goes with it.",
        None,
    )
    scope: str = documented(text, "The scope that the password grant asks for.", "openid")
    client_secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TlsConfig:
    """[server.tls]"""

    certificate: str | None = documented(text, "File of the certificate chain (PEM).", None)
    key: str | None = documented(text, "File of its private key (PEM).", None)
    client_ca: str | None = documented(
        text, "File of the authorities (PEM) one of which must have signed the certificate of a client.", None
    )
    allow_plaintext: bool = documented(
        truth,
        "Whether a server without a certificate may listen on addresses other than loopback: for a proxy that ends TLS "
        "in front of it. Passwords, tokens and rows then reach the server in clear.",
        False,
        shown="false",
    )
    certificate_user: bool = documented(
        truth,
        "Whether the certificate of a client says who it is: the first of its subject alternative names, else its "
        "common name. No password or token is asked for then.",
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
