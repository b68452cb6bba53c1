"""[server] and [access] of the configuration, loaded only if they are given, since most processes are not servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pinakes.config.sections import known_only, path_from, secret_value, section, table_of
from pinakes.config.server import SECTIONS, AccessConfig, LoginConfig, OidcConfig, ServerConfig, TlsConfig
from pinakes.config.server_limits import ServerLimits
from pinakes.config.serving import MetricsConfig, StatementLimits
from pinakes.core.errors import ConfigError


def access(given: object) -> AccessConfig:
    return section(AccessConfig(), given, "access")


def server(given: object, base: Path, environ: Mapping[str, str]) -> ServerConfig:
    table = dict(table_of(given, "server"))
    keys = (*_names(LoginConfig), *_names(ServerLimits))
    known_only(table, (*SECTIONS, *keys), "[server]", "key or section")
    kinds = {kind: _logins(f"server.{kind}", table.pop(kind, {}), base, environ) for kind in ("users", "tokens")}
    oidc, tls = table.pop("oidc", None), section(TlsConfig(), table.pop("tls", {}), "server.tls")
    logins = section(LoginConfig(), _only(table, LoginConfig), "server")
    files: dict[str, Any] = {
        name: path_from(base, value) for name in ("certificate", "key", "client_ca") if (value := getattr(tls, name))
    }
    return ServerConfig(
        kinds["users"],
        kinds["tokens"],
        replace(logins, users_file=logins.users_file and path_from(base, logins.users_file)),
        None if oidc is None else _oidc(oidc, base, environ),
        replace(tls, **files),
        section(ServerLimits(), _only(table, ServerLimits), "server"),
        section(StatementLimits(), table.get("statements", {}), "server.statements"),
        section(MetricsConfig(), table.get("metrics", {}), "server.metrics"),
    )


def is_safe_issuer(address: str) -> bool:
    """Whether an address of an identity provider is https, or http on the same machine."""
    url = urlsplit(address)
    return url.scheme == "https" or (url.scheme == "http" and url.hostname in ("localhost", "127.0.0.1", "::1"))


def _oidc(given: object, base: Path, environ: Mapping[str, str]) -> OidcConfig:
    table = dict(table_of(given, "server.oidc"))
    secret = table.pop("client_secret", None)
    found = section(OidcConfig(), table, "server.oidc")
    if not found.issuer or not found.audience:
        raise ConfigError("[server.oidc] needs an issuer and an audience")
    if not is_safe_issuer(found.issuer):
        raise ConfigError("server.oidc.issuer must be an https:// address: what comes from it decides who may log in")
    if found.password_grant and not found.client_id:
        raise ConfigError("server.oidc.password_grant needs a client_id, and most issuers a client_secret")
    value = None if secret is None else secret_value("server.oidc.client_secret", secret, base, environ)
    return replace(found, client_secret=value)


def _logins(where: str, given: object, base: Path, environ: Mapping[str, str]) -> dict[str, str]:
    found = {n: secret_value(f"{where}.{n}", v, base, environ) for n, v in table_of(given, where).items()}
    empty = [name for name, value in found.items() if not name or not value]
    if empty:
        raise ConfigError(f"{where}.{empty[0]} is empty: a user needs a name and a secret")
    return found


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def _only(table: Mapping[str, object], kind: Any) -> dict[str, object]:
    """Returns the keys of a section that are fields of a class."""
    return {key: value for key, value in table.items() if key in _names(kind)}
