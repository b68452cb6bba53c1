"""The command `pinakes` and its arguments. Expensive imports are deferred until there is something to run.

Exit codes: 0 success, 1 a statement failed, 2 wrong usage or configuration; as usual on Unix 130 after Ctrl-C and 141
when the reader of the output has closed the pipe.
"""

from __future__ import annotations

import argparse
import atexit
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from pinakes.cli.formats import FORMATS
from pinakes.cli.remote import OPTIONS, add_options
from pinakes.cli.streams import FAILED, flush_output, open_streams, report_unwritten, to_utf8
from pinakes.core.output.terminal_text import printable
from pinakes.core.suggestions import did_you_mean
from pinakes.core.version import __version__

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from pinakes.api.shell_backend import ShellBackend
    from pinakes.cli.console import Console
    from pinakes.cli.steps import Script
    from pinakes.config.model import Config

OK, USAGE, INTERRUPTED = 0, 2, 130
SUBCOMMANDS = ("doctor", "serve", "user", "config", "pipeline")
OF_SERVE = ("host", "port", "tls_cert", "tls_key", "metrics_port")
"""The options of `pinakes serve` only."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        if given[:1] == ["user"]:
            from pinakes.cli.subcommands.users import users

            return users(given[1:])
        if given[:1] == ["pipeline"]:
            from pinakes.cli.subcommands.pipeline import pipeline

            signal.signal(signal.SIGTERM, _terminate)
            return pipeline(given[1:])
        options = make_parser().parse_args(given)
        signal.signal(signal.SIGTERM, _terminate)
        return _run(options)
    except OSError as error:
        return report_unwritten(error)
    except KeyboardInterrupt:
        return INTERRUPTED


def run_and_leave() -> NoReturn:
    """Runs the command as a process. It exits without waiting for the threads of DataFusion and gRPC: a thread that
    logs or calls back during interpreter shutdown would abort the process."""
    open_streams()
    try:
        code: int | str | None = main()
    except SystemExit as leaving:
        code = leaving.code
    if code != INTERRUPTED:  # after an interrupt a thread may still block on writing rows
        code = flush_output(code)
    if not {"datafusion", "pyarrow.flight"} & set(sys.modules) or not isinstance(code, int | None):
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code or OK)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Reports the error in one line, without the usage page."""
        unknown = [word for word in message.split() if word.startswith("--")]
        options = [word for action in self._actions for word in action.option_strings]
        hint = did_you_mean(unknown[0], options) if "unrecognized" in message else ""
        self.exit(USAGE, f"pinakes: {message}.{hint} `pinakes --help` lists them.\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Prints a message. argparse's own method ignores write errors."""
        print(message, end="", file=file or sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pinakes",
        usage="%(prog)s [options] [FILE ... | " + " | ".join(SUBCOMMANDS) + "]",
        description="SQL on Iceberg tables and files. Without -c and -f, opens a prompt or runs the script on stdin. "
        "Each FILE (pinakes customers.csv) is a view with the name of the file (customers).",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("subcommand", nargs="?", metavar=" | ".join(SUBCOMMANDS),
        help="doctor: check the installation, the configuration and all catalogs (also with --format json); "
        "serve: start a Flight SQL server; user: manage users of the server (pinakes user --help); "
        "config check [FILE]: list all errors of a configuration; config show: show the effective configuration; "
        "pipeline: run loads and transformations on Spark (pinakes pipeline --help)")  # fmt: skip
    add("words", nargs="*", metavar="…", help=argparse.SUPPRESS)
    add("-c", "--command", metavar="SQL", dest="scripts", action="append", type=_inline, default=[],
        help="run statements; can be repeated and mixed with -f")  # fmt: skip
    add("-f", "--file", metavar="FILE", dest="scripts", action="append", type=_file, help="run a script; - is stdin")
    add("--data", metavar="DIR", help="directory of the embedded catalog `lake`; :memory: is removed at exit")
    add("--config", metavar="FILE", type=Path, help="configuration file (TOML)")
    add("--format", choices=FORMATS, default="table", help="output format (default: %(default)s)")
    add("--no-rc", action="store_true", help="do not run the start-up script of the shell (shell.sql)")
    serve = parser.add_argument_group("serve")
    serve.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to listen on; 0 chooses a free port (default: 31337)")
    serve.add_argument("--tls-cert", metavar="FILE", type=Path, help="certificate chain (PEM); requires --tls-key")
    serve.add_argument("--tls-key", metavar="FILE", type=Path, help="private key of the certificate (PEM)")
    serve.add_argument("--metrics-port", metavar="PORT", type=int,
                       help="port of /health, /ready and /metrics; 0 chooses a free port (default: 31338)")  # fmt: skip
    add_options(parser)
    add("--version", action="version", version=f"pinakes {__version__}")
    return parser


def _inline(sql: str) -> tuple[str, str]:
    return "sql", sql


def _file(path: str) -> tuple[str, str]:
    return "file", path


def _run(options: argparse.Namespace) -> int:
    from pinakes.cli.console import Console
    from pinakes.cli.files import UnusableFile, check_file, looks_like_file

    console = Console(options.format)
    to_utf8(console)
    if options.subcommand in ("user", "pipeline"):
        name = options.subcommand
        print(f"pinakes: {name} comes first, and has options of its own: pinakes {name} --help", file=sys.stderr)  # noqa: T201
        return USAGE
    files: list[str] = []
    if options.subcommand not in (None, *SUBCOMMANDS) and looks_like_file(options.subcommand):
        files, options.subcommand, options.words = [options.subcommand, *options.words], None, []
    if options.subcommand not in (None, *SUBCOMMANDS):
        hint = did_you_mean(options.subcommand, SUBCOMMANDS)
        said = f"unknown command {options.subcommand!r}.{hint} To run SQL: pinakes -c "
        print(f"pinakes: {said}'SELECT 1'", file=sys.stderr)  # noqa: T201
        return USAGE
    if options.words and options.subcommand != "config":
        said = f"unexpected argument {options.words[0]!r}; to run SQL, use -c"
        print(f"pinakes: {said}", file=sys.stderr)  # noqa: T201
        return USAGE
    try:
        for file in files:
            check_file(file)
        if options.uri is not None:
            if files:
                raise _UsageError(f"'{files[0]}' is on this machine: files can't be opened with --uri")
            return _remote(options, console)
        _only_for(options, OPTIONS, "--uri")
        if options.subcommand == "doctor":
            return _doctor(options)
        if options.subcommand == "config":
            return _configuration(options)
        config = _config(options)
        if options.subcommand == "serve":
            return _serve(config, options)
        _only_for(options, OF_SERVE, "`pinakes serve`")
        scripts = _scripts(options)
    except (_UsageError, UnusableFile) as error:
        print(printable(f"pinakes: {error}"), file=sys.stderr)  # noqa: T201
        return USAGE
    return _with_engine(config, scripts, console, files, with_rc=not options.no_rc)


def _doctor(options: argparse.Namespace) -> int:
    from pinakes.cli.subcommands.doctor.finding import Patient
    from pinakes.cli.subcommands.doctor.run import doctor

    if options.scripts or options.format not in ("table", "json"):
        raise _UsageError("doctor runs no statements, and prints a table or json")
    return OK if doctor(Patient(options.config, options.data), options.format) else FAILED


def _configuration(options: argparse.Namespace) -> int:
    from pinakes.cli.subcommands.config import run

    done = run(options.words, options.config, options.data)
    if done is None:
        print("pinakes: it is `pinakes config check [FILE]` or `pinakes config show`", file=sys.stderr)  # noqa: T201
        return USAGE
    return OK if done else FAILED


def _serve(config: Config, options: argparse.Namespace) -> int:
    from pinakes.cli.subcommands.serve import Listening, serve
    from pinakes.cli.subcommands.tls import Tls
    from pinakes.config.model import load_config

    if options.scripts:
        raise _UsageError("serve runs no statements of its own: leave out -c and -f")
    if options.metrics_port is not None and not 0 <= options.metrics_port <= 65_535:
        raise _UsageError(f"--metrics-port must be a number from 0 to 65535, not {options.metrics_port}")

    def listen(config: Config) -> Listening:
        return Listening.of(options.host, options.port, Tls.of(config.server.tls, options.tls_cert, options.tls_key))

    try:
        listen(config)
    except ValueError as error:
        raise _UsageError(str(error)) from error
    return OK if serve(lambda: load_config(options.config, data=options.data), listen, options.metrics_port) else FAILED


def _only_for(options: argparse.Namespace, names: Sequence[str], what: str) -> None:
    given = [name for name in names if getattr(options, name) is not None]
    if given:
        raise _UsageError(f"--{given[0].replace('_', '-')} is for {what}")


def _remote(options: argparse.Namespace, console: Console) -> int:
    """Runs the shell or scripts on a remote server."""
    import logging

    from pinakes.cli.remote import NOT_REMOTE, remote_backend
    from pinakes.core.errors import PinakesError

    if options.subcommand is not None:
        raise _UsageError(f"--uri is for the shell: {options.subcommand} is about this machine")
    _only_for(options, OF_SERVE, "`pinakes serve`")
    _only_for(options, NOT_REMOTE, "an embedded engine; with --uri, those of the server are used")
    scripts = _scripts(options)
    logging.basicConfig(level="WARNING")
    try:
        backend = remote_backend(options)
    except ValueError as error:
        raise _UsageError(str(error)) from error
    except PinakesError as error:
        console.error(error)
        return FAILED
    with closing(backend):
        return _run_session(backend, scripts, console, with_rc=not options.no_rc)


class _UsageError(Exception):
    """An error before anything runs."""


def _config(options: argparse.Namespace) -> Config:
    import logging

    from pinakes.config.model import load_config
    from pinakes.core.errors import ConfigError

    try:
        config = load_config(options.config, data=options.data)
    except ConfigError as error:
        raise _UsageError(f"{error.code}: {error}") from error
    logging.basicConfig(level=config.log.level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return config


def _scripts(options: argparse.Namespace) -> list[Script] | None:
    """Reads the scripts before anything runs; returns None to open the prompt."""
    from pinakes.cli.steps import STDIN, Script, read_script
    from pinakes.core.errors import FileNotFound

    given = options.scripts or ([] if sys.stdin.isatty() else [("file", STDIN)])
    scripts = []
    for kind, text in given:
        try:
            scripts.append(Script(text) if kind == "sql" else read_script(text))
        except FileNotFound as error:
            raise _UsageError(error.message) from error
    return scripts or None


def _with_engine(
    config: Config, scripts: list[Script] | None, console: Console, files: Sequence[str], *, with_rc: bool
) -> int:
    from pinakes.api.build import open_engine
    from pinakes.api.local_shell_backend import LocalShellBackend
    from pinakes.cli.files import open_files
    from pinakes.core.errors import PinakesError

    try:
        with open_engine(config) as engine:
            backend = LocalShellBackend(engine.session())
            if not open_files(files, backend, console, names=scripts is None):
                return FAILED
            return _run_session(backend, scripts, console, with_rc=with_rc)
    except PinakesError as error:
        console.error(error)
        return FAILED


def _run_session(backend: ShellBackend, scripts: list[Script] | None, console: Console, *, with_rc: bool) -> int:
    from pinakes.cli.runner import Runner
    from pinakes.cli.script import run_script

    runner = Runner(backend, console)
    if scripts is not None:
        return OK if all(run_script(script, runner) for script in scripts) else FAILED
    from pinakes.cli.prompt.shell import Shell, startup_file

    shell = Shell(runner)
    shell.start(startup_file() if with_rc else None)
    shell.loop()
    return OK


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Exits cleanly on SIGTERM, so that a temporary data directory is removed."""
    sys.exit(128 + number)


if __name__ == "__main__":
    run_and_leave()
