"""The command `pinakes`: its arguments, and what becomes of them. Heavy imports wait until there is something to run.

Exit codes: 0 fine, 1 a statement failed, 2 wrong usage or configuration; like any Unix tool 130 after Ctrl-C and 141
when the reader of our output has gone.
"""

from __future__ import annotations

import argparse
import atexit
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from pinakes import __version__
from pinakes.cli.formats import FORMATS

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from pinakes.cli.console import Console
    from pinakes.cli.script import Script
    from pinakes.core.config import Config

OK, FAILED, USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    try:
        options = _parser().parse_args(arguments)
        signal.signal(signal.SIGTERM, _terminate)
        return _run(options)
    except OSError as error:
        return _unwritten(error)
    except KeyboardInterrupt:
        return INTERRUPTED


def run_and_leave() -> NoReturn:
    """The command as a process. It ends without waiting for DataFusion's threads: one that still logs or calls back
    while the interpreter goes down would abort it."""
    _open_streams()
    try:
        code: int | str | None = main()
    except SystemExit as leaving:
        code = leaving.code
    if code != INTERRUPTED:  # then a thread may still wait for somebody to take its rows
        code = _flushed(code)
    if "datafusion" not in sys.modules or not isinstance(code, int | None):
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code or OK)


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """argparse's own takes a help that nobody could write for a success."""
        print(message, end="", file=file or sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pinakes",
        description="SQL on Iceberg tables. Without -c and -f: a prompt, or the script in stdin.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("subcommand", nargs="?", choices=("doctor",), metavar="doctor",
        help="check installation, configuration and each catalog, and say what to do (also --format json)")  # fmt: skip
    add("-c", "--command", metavar="SQL", dest="scripts", action="append", type=_inline, default=[],
        help="run these statements; may be given several times, and mixed with -f")  # fmt: skip
    add("-f", "--file", metavar="FILE", dest="scripts", action="append", type=_file, help="run a script; - is stdin")
    add("--data", metavar="DIR", help="directory of the embedded catalog `lake`; :memory: is one that goes at exit")
    add("--config", metavar="FILE", type=Path, help="configuration (TOML)")
    add("--format", choices=FORMATS, default="table", help="how results are printed (default: %(default)s)")
    add("--no-rc", action="store_true", help="don't run the shell's start-up script (shell.sql)")
    add("--version", action="version", version=f"pinakes {__version__}")
    return parser


def _inline(sql: str) -> tuple[str, str]:
    return "sql", sql


def _file(path: str) -> tuple[str, str]:
    return "file", path


def _run(options: argparse.Namespace) -> int:
    from pinakes.cli.console import Console

    console = Console(options.format)
    _utf8(console)
    if options.subcommand == "doctor":
        return _doctor(options)
    try:
        config = _config(options)
        scripts = _scripts(options)
    except _UsageError as error:
        print(f"pinakes: {error}", file=sys.stderr)  # noqa: T201
        return USAGE
    return _with_engine(config, scripts, console, with_rc=not options.no_rc)


def _doctor(options: argparse.Namespace) -> int:
    from pinakes.cli.doctor.finding import Patient
    from pinakes.cli.doctor.run import doctor

    if options.scripts or options.format not in ("table", "json"):
        print("pinakes: doctor runs no statements, and prints a table or json", file=sys.stderr)  # noqa: T201
        return USAGE
    return OK if doctor(Patient(options.config, options.data), options.format) else FAILED


class _UsageError(Exception):
    """What can't even begin."""


def _config(options: argparse.Namespace) -> Config:
    import logging

    from pinakes.core.config import load_config
    from pinakes.core.errors import ConfigError

    try:
        config = load_config(options.config, data=options.data)
    except ConfigError as error:
        raise _UsageError(f"{error.code}: {error}") from error
    logging.basicConfig(level=config.log.level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return config


def _scripts(options: argparse.Namespace) -> list[Script] | None:
    """What to run, read before anything runs; None opens the prompt."""
    from pinakes.cli.script import STDIN, Script, read_script
    from pinakes.core.errors import FileNotFound

    given = options.scripts or ([] if sys.stdin.isatty() else [("file", STDIN)])
    scripts = []
    for kind, text in given:
        try:
            scripts.append(Script(text) if kind == "sql" else read_script(text))
        except FileNotFound as error:
            raise _UsageError(error.message) from error
    return scripts or None


def _with_engine(config: Config, scripts: list[Script] | None, console: Console, *, with_rc: bool = True) -> int:
    from pinakes.api.build import open_engine
    from pinakes.cli.runner import Runner
    from pinakes.cli.script import run_script
    from pinakes.core.errors import PinakesError

    try:
        with open_engine(config) as engine:
            runner = Runner(engine.session(), console)
            if scripts is None:
                from pinakes.cli.shell import Shell, startup_file

                shell = Shell(runner)
                shell.start(startup_file() if with_rc else None)
                shell.loop()
                return OK
            return OK if all(run_script(script, runner) for script in scripts) else FAILED
    except PinakesError as error:
        console.error(error)
        return FAILED


def _utf8(console: Console) -> None:
    """Output is UTF-8 whatever the locale says; a lone surrogate is escaped, not an error."""
    import io

    for stream in (console.out, console.err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _open_streams() -> None:
    """A stream that the shell has closed (`>&-`) is None: what would go there, nobody wants."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - it stays open


def _flushed(code: int | str | None) -> int | str | None:
    """Print what is left to print; the exit code if that went well."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        return code if code and not isinstance(error, BrokenPipeError) else _unwritten(error)
    return code


def _unwritten(error: OSError) -> int:
    """Our output could not be written: say so, unless its reader has gone."""
    _discard_output()
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    with suppress(OSError):  # if it is stderr that is full, nobody can be told
        print(f"pinakes: can't write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)  # noqa: T201
    return FAILED


def _discard_output() -> None:
    """Whoever read our output has gone: say nothing more, and don't fail while the interpreter flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """SIGTERM ends us in good order: a temporary data directory goes, too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    run_and_leave()
