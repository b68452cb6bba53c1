"""`pinakes --uri …`: address and credentials of the server, from options, the environment or a prompt.

Secrets are never printed, and never sent unencrypted to another machine unless explicitly allowed.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.client.address import Address
    from pinakes.client.login import Login
    from pinakes.client.shell_backend import RemoteShellBackend

PASSWORD, TOKEN = "PINAKES_PASSWORD", "PINAKES_TOKEN"
OPTIONS = ("user", "password_file", "token", "token_file", "tls_ca", "insecure")
"""The options that require --uri."""
NOT_REMOTE = ("data", "config")


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("a server elsewhere").add_argument
    add("--uri", help="connect to a server at grpc+tls://host:port, or grpc://host:port without TLS")
    add("--user", help=f"user name; the password is read from --password-file or {PASSWORD}, or prompted for")
    add("--password-file", metavar="FILE", type=Path, help="file with the password")
    add("--token", help="token instead of a user; visible to other users of this machine, so prefer --token-file")
    add("--token-file", metavar="FILE", type=Path, help=f"file with the token, or set {TOKEN}")
    add("--tls-ca", metavar="FILE", type=Path, help="trusted certificates (PEM) for the server")
    add("--insecure", action="store_true", default=None,
        help="do not check the server's certificate; with grpc://, allow credentials in clear text")  # fmt: skip


def remote_backend(options: argparse.Namespace) -> RemoteShellBackend:
    """Connects. Raises ValueError for invalid options, or a Pinakes error if the connection fails."""
    address = _address(options)
    login = _login(options, address)
    # The error messages replace gRPC's own log output about handshakes and the like.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from pinakes.client.shell_backend import (
        RemoteShellBackend,  # lazy: loaded after the password prompt, since it is slow
    )

    return RemoteShellBackend(address, login)


def _address(options: argparse.Namespace) -> Address:
    from pinakes.client.address import Address

    authority = None if options.tls_ca is None else _certificates(options.tls_ca)
    return Address.of(options.uri, authority, insecure=bool(options.insecure))


def _login(options: argparse.Namespace, address: Address) -> Login:
    from pinakes.client.login import Login

    login = Login(options.user, None, None if options.user is not None else _token(options))
    if options.user is not None and (options.token is not None or options.token_file is not None):
        raise ValueError("a token says who one is: leave out --user, or the token")
    if options.user is None and options.password_file is not None:
        raise ValueError("--password-file needs --user")
    if login.is_known and not address.tls and not address.is_local and not options.insecure:
        raise ValueError(
            f"{address.uri} has no TLS: a password or token could be read on its way. Use grpc+tls://, or say "
            f"--insecure if that does not matter"
        )
    return login if options.user is None else Login(options.user, _password(options, address))


def _token(options: argparse.Namespace) -> str | None:
    if options.token is not None and options.token_file is not None:
        raise ValueError("--token and --token-file say the same: give one")
    given: str | None = options.token if options.token is not None else os.environ.get(TOKEN)
    if options.token_file is not None:
        given = _read(options.token_file, "--token-file").strip()
    if given is not None and not (given and given.isascii() and given.isprintable()):
        # The message does not show the secret.
        raise ValueError("the token is empty, or has characters that no token has")
    return given


def _password(options: argparse.Namespace, address: Address) -> str:
    if options.password_file is not None:
        return _read(options.password_file, "--password-file").rstrip("\r\n")
    return (
        os.environ[PASSWORD]
        if PASSWORD in os.environ
        else _prompt_for(f"Password of {options.user} at {address.uri}: ")
    )


def _prompt_for(prompt: str) -> str:
    """Prompts on the terminal, regardless of stdin."""
    from getpass import getpass

    try:
        with Path("/dev/tty").open("r+b", buffering=0):
            pass
        return getpass(prompt)
    except (OSError, EOFError) as error:
        raise ValueError(
            f"there is no terminal to prompt for the password: give --password-file, or set {PASSWORD}"
        ) from error


def _certificates(path: Path) -> bytes:
    """Reads certificates and validates them, since gRPC would not report what is invalid."""
    import ssl

    text = _read(path, "--tls-ca")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError as error:
        raise ValueError(f"--tls-ca {str(path)!r} has no certificates in PEM") from error
    return text.encode()


def _read(path: Path, option: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{option} {str(path)!r} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{option} {str(path)!r} is not UTF-8") from error
