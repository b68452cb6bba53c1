"""Files on the command line: `pinakes customers.csv` opens each as a temporary view with the name of the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.console import Console
from pinakes.core.errors import PinakesError
from pinakes.core.file_formats import format_of, stem_of
from pinakes.core.names import quote

if TYPE_CHECKING:
    from pinakes.api.shell_backend import ShellBackend

_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3", ".duckdb", ".ddb")


_MAGIC = set("*?[")


class UnusableFile(ValueError):
    """An argument that is not a file of rows; says what to do instead."""


def looks_like_file(argument: str) -> bool:
    """Returns whether an argument is meant as a file, not as a command."""
    return "/" in argument or "." in argument or Path(argument).exists()


def check_file(argument: str) -> None:
    """Raises UnusableFile for a directory, a database or a missing file. The engine checks addresses and patterns."""
    if "://" in argument or _MAGIC & set(argument):
        return
    path = Path(argument).expanduser()
    if path.is_dir():
        raise UnusableFile(
            f"'{argument}' is a directory: `pinakes --data {argument}` opens the catalog in it, and "
            f"SELECT * FROM '{argument}' reads its files"
        )
    if path.suffix.lower() in _DATABASES:
        raise UnusableFile(f"'{argument}' is a database, not a file of rows: `pinakes` and ATTACH mount a catalog")
    if not path.exists():
        raise UnusableFile(f"file '{argument}' does not exist; `pinakes --help` lists the commands")
    if format_of(argument) is None:
        raise UnusableFile(
            f"the ending of '{argument}' does not say what is in it: "
            f"pinakes -c \"SELECT * FROM read_csv('{argument}')\" reads it as CSV"
        )


def open_files(files: Sequence[str], backend: ShellBackend, console: Console, *, names: bool) -> bool:
    """Creates the views and prints their `names`; returns False after an error, which is printed."""
    taken: set[str] = set()
    for argument in files:
        is_local = "://" not in argument
        path = str(Path(argument).expanduser().absolute()) if is_local else argument
        name = _name(argument, taken)
        literal = path.replace("'", "''")
        try:
            backend.run(f"CREATE TEMP VIEW {quote(name)} AS SELECT * FROM '{literal}'").close()
        except PinakesError as error:
            console.error(error)
            return False
        for warning in backend.take_warnings():
            console.warn(warning)
        if not names:
            continue
        shown = name if name.isidentifier() and name.islower() else quote(name)
        console.say(f"{shown}: '{argument}'")
    return True


def _name(argument: str, taken: set[str]) -> str:
    """Returns the file's name without its extensions; with a number if another file has the same."""
    plain = stem_of(argument.rpartition("/")[2])
    plain = "data" if not plain or _MAGIC & set(plain) else plain
    name, number = plain, 1
    while name.casefold() in taken:
        number += 1
        name = f"{plain}_{number}"
    taken.add(name.casefold())
    return name
