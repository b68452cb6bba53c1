"""`pinakes user add | list | remove`: manages the users of `pinakes serve` in the file server.users_file.

On a terminal the password is prompted for, with a confirmation; otherwise it is the first line of stdin. It is never an
argument, since all users of the machine can see arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.server.logins.users_file import Entry

OK, FAILED, USAGE = 0, 1, 2
SHORTEST = 8


def users(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    from pinakes.core.errors import ConfigError, PinakesError

    options = make_parser().parse_args(arguments)
    try:
        path = _file(options)
        return int(options.run(path, options))
    except ConfigError as error:
        _say(f"pinakes: {error.render()}")
        return USAGE
    except PinakesError as error:
        _say(f"pinakes: {error.message}")
        return FAILED
    except ImportError as error:
        _say(f"pinakes: this needs {error.name}: pip install 'pinakes[server]'")
        return FAILED
    except (KeyboardInterrupt, EOFError):
        _say("\npinakes: nothing was changed")
        return FAILED


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pinakes user", description="Users of `pinakes serve`.", allow_abbrev=False)
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--users", metavar="FILE", type=Path, help="file of users (default: server.users_file)")
    where.add_argument("--config", metavar="FILE", type=Path, help="configuration file (TOML)")
    commands = parser.add_subparsers(metavar="add | list | remove", required=True)
    add = commands.add_parser("add", parents=[where], help="add a user or change a password")
    add.add_argument("name")
    add.add_argument("--admin", action="store_true", help="the user is an administrator")
    add.add_argument("--token", action="store_true", help="create a token, which is shown once, instead of a password")
    add.set_defaults(run=_add)
    shown = commands.add_parser("list", parents=[where], help="list users")
    shown.set_defaults(run=_list)
    remove = commands.add_parser("remove", parents=[where], help="remove a user and their tokens")
    remove.add_argument("name")
    remove.set_defaults(run=_remove)
    return parser


def _file(options: argparse.Namespace) -> Path:
    from pinakes.config.model import load_config
    from pinakes.core.errors import ConfigError

    if options.users is not None:
        return Path(options.users)
    config = load_config(options.config)
    if config.server.logins.users_file is None:
        whence = "the configuration" if config.source is None else str(config.source)
        raise ConfigError(f'which file? Give --users FILE, or set users_file = "users" under [server] in {whence}')
    return Path(config.server.logins.users_file)


def _add(path: Path, options: argparse.Namespace) -> int:
    from pinakes.server.logins.hashes import hashed_password, hashed_token, new_token
    from pinakes.server.logins.users_file import Entry, change_users, check_name

    check_name(options.name)
    token = new_token() if options.token else None
    stored = hashed_token(token) if token is not None else hashed_password(_password())
    entry = Entry(options.name, stored, options.admin)
    change_users(path, lambda entries: [*_without(entries, entry), entry])
    if token is not None:
        print(token)  # noqa: T201
        _say("This token is shown only now. Clients send it as `Authorization: Bearer …`.")
    _say(f"{'Administrator' if options.admin else 'User'} {options.name} is in {path}.")
    return OK


def _without(entries: list[Entry], new: Entry) -> list[Entry]:
    """Returns the entries without those that the new one replaces: a user has one password and any number of tokens."""
    return [e for e in entries if e.name != new.name or e.kind == "token" or new.kind == "token"]


def _list(path: Path, options: argparse.Namespace) -> int:
    from pinakes.server.logins.users_file import read_users

    for entry in read_users(path):
        print(f"{entry.name}\t{entry.kind}\t{'administrator' if entry.is_admin else 'user'}")  # noqa: T201
    return OK


def _remove(path: Path, options: argparse.Namespace) -> int:
    from pinakes.core.errors import NotFoundError, listing
    from pinakes.server.logins.users_file import change_users

    def without(entries: list[Entry]) -> list[Entry]:
        left = [entry for entry in entries if entry.name != options.name]
        if len(left) == len(entries):
            raise NotFoundError(
                f"there is no user {options.name!r} in {path}; available: {listing({e.name for e in entries})}"
            )
        return left

    change_users(path, without)
    _say(f"{options.name} was removed from {path}. A running server notices at once.")
    return OK


def _password() -> str:
    from getpass import getpass

    from pinakes.core.errors import InvalidArgument

    if sys.stdin.isatty():
        password = getpass("Password: ")
        if getpass("Once more: ") != password:
            raise InvalidArgument("these were two different passwords: nothing was changed")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if len(password) < SHORTEST:
        raise InvalidArgument(f"a password has at least {SHORTEST} characters: nothing was changed")
    return password


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201
