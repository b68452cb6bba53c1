"""Builds the authenticator from the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.errors import ConfigError
from pinakes.server.logins.base import Anybody, Authenticator, Chain
from pinakes.server.logins.users import Users, UsersFile

if TYPE_CHECKING:
    from pinakes.config.server import ServerConfig


def authenticator_of(config: ServerConfig) -> Authenticator:
    """Returns the configured login methods; without any, every caller is accepted."""
    ways: list[Authenticator] = []
    if config.logins.users_file:
        ways.append(UsersFile(Path(config.logins.users_file)))
    if config.users or config.tokens:
        ways.append(Users(config.users, config.tokens))
    if config.oidc is not None:
        from pinakes.server.logins.oidc import Oidc

        ways.append(Oidc(config.oidc))
    _check(config, has_ways=bool(ways) or config.tls.certificate_user)
    return Chain(ways) if ways or config.tls.certificate_user else Anybody()


def _check(config: ServerConfig, *, has_ways: bool) -> None:
    wanted = config.logins.authentication
    if wanted == "none" and has_ways:
        raise ConfigError(
            'server.authentication is "none", and there are ways to log in: take them out, or that setting'
        )
    if wanted == "required" and not has_ways:
        raise ConfigError(
            'server.authentication is "required", and there is no way to log in: set server.users_file, '
            "[server.users], [server.tokens], [server.oidc] or server.tls.certificate_user"
        )
    if config.tls.certificate_user and not config.tls.client_ca:
        raise ConfigError("server.tls.certificate_user needs client_ca: who signs the certificates of clients")
