"""`pinakes pipeline init | validate | plan | run`: loads and transformations on Spark, declared in a project.

Progress goes to stderr, results to stdout. Exit codes are those of `pinakes`: 0 success, 1 a table failed, 2 wrong
usage, invalid project or configuration, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.output.terminal_text import one_line, printable

if TYPE_CHECKING:
    from pinakes.api.pipelines import Options, PipelineRun
    from pinakes.engine.engine import Engine

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
_ERASE = "\r\x1b[K"


def pipeline(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    from pinakes.core.errors import ConfigError, FileNotFound, InvalidArgument, PinakesError, PipelineInvalid

    options = make_parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (ConfigError, PipelineInvalid, InvalidArgument, FileNotFound) as error:
        _say(f"pinakes: {error.render()}")
        return USAGE
    except PinakesError as error:
        _say(f"pinakes: {error.render()}")
        return FAILED


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pinakes pipeline", description="Pipelines on Spark.", allow_abbrev=False)
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--config", metavar="FILE", type=Path, help="configuration file (TOML)")
    where.add_argument("--data", metavar="DIR", help="directory of the embedded catalog `lake`")
    spec = argparse.ArgumentParser(add_help=False)
    spec.add_argument("spec", type=Path, nargs="?", default=Path("spec.yml"),
                      help="spec file of the pipeline (default: %(default)s)")  # fmt: skip
    what = argparse.ArgumentParser(add_help=False)
    what.add_argument("--full-refresh", metavar="TABLE", nargs="*",
                      help="recompute these tables and all that depend on them; without names, all tables")  # fmt: skip
    what.add_argument("--select", metavar="TABLE", nargs="+", default=[], help="run only these tables")
    commands = parser.add_subparsers(metavar="init | validate | plan | run", required=True)
    init = commands.add_parser("init", help="create a small project")
    init.add_argument("directory", type=Path)
    init.set_defaults(run=_init)
    validate = commands.add_parser("validate", parents=[spec, where], help="list all errors, without Spark")
    validate.set_defaults(run=_validate)
    plan = commands.add_parser("plan", parents=[spec, what, where],
                               help="show the order and what would be loaded and computed, without Spark")  # fmt: skip
    plan.set_defaults(run=_plan)
    run = commands.add_parser("run", parents=[spec, what, where], help="run the pipeline")
    run.add_argument("--resume", action="store_true",
                     help="continue the last run if it failed; completed tables are kept")  # fmt: skip
    run.set_defaults(run=_run)
    return parser


def _init(options: argparse.Namespace) -> int:
    from pinakes.api.pipelines import make_project

    made = make_project(options.directory)
    _say(f"Made {made}. Next: pinakes pipeline run {made}")
    return OK


def _validate(options: argparse.Namespace) -> int:
    from pinakes.api.pipelines import validate

    with _engine(options) as engine:
        steps = validate(engine, options.spec)
    _say(f"{options.spec}: nothing is wrong; {steps} {'step' if steps == 1 else 'steps'}.")
    return OK


def _plan(options: argparse.Namespace) -> int:
    from pinakes.api.pipelines import plan

    with _engine(options) as engine:
        found = plan(engine, options.spec, _options(options))
    width = max((len(step.name) for step in found), default=0)
    for at, step in enumerate(found, 1):
        made_of = f" of {', '.join(step.inputs)}" if step.inputs else ""
        line = f"{at:3}  {step.name:{width}}  {step.kind}{made_of}: {step.what}  [{step.where}]"
        print(printable(line))  # noqa: T201
    return OK


def _run(options: argparse.Namespace) -> int:
    from pinakes.api.interruptible import Foreground
    from pinakes.api.pipelines import PipelineRun

    with _engine(options) as engine:
        run = PipelineRun(engine, options.spec, _options(options))
        screen = _Screen(run)
        waiting = Foreground(lambda: run.run(screen.show_step), run.cancel, meanwhile=screen.tick)
        try:
            report = waiting.run()
        except Exception as error:
            screen.erase()
            if waiting.interrupted:
                _say(f"Canceled: {error}")
                return INTERRUPTED
            raise
        screen.erase()
    _say(f"Run {report.run_id} of {report.pipeline}: {len(report.tables)} tables, {report.state}.")
    return OK


def _options(options: argparse.Namespace) -> Options:
    from pinakes.api.pipelines import Options

    return Options(options.full_refresh, options.select, resume=getattr(options, "resume", False))


def _engine(options: argparse.Namespace) -> Engine:
    from pinakes.api.build import open_engine
    from pinakes.config.model import load_config

    config = load_config(options.config, data=options.data)
    logging.basicConfig(level=config.log.level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return open_engine(config)


class _Screen:
    """Prints a line for each finished table, and on a terminal a progress line."""

    def __init__(self, run: PipelineRun) -> None:
        self._run, self._now, self._began = run, "", time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def show_step(self, step: object, state: str, record: object) -> None:
        from pinakes.pipelines.runs.records import TableRecord

        name = getattr(step, "name", "")
        if not isinstance(record, TableRecord):
            self._now = name
            return
        seconds = time.monotonic() - self._began
        self.erase()
        _say(f"{seconds:7.1f} s  {name}: {state.lower()}{_summary(record)}")

    def tick(self) -> None:
        if self._is_terminal and self._now:
            line = one_line(f"{self._now}: {self._run.progress}")[:100]
            print(f"{_ERASE}{line}", end="", file=sys.stderr, flush=True)  # noqa: T201

    def erase(self) -> None:
        if self._is_terminal:
            print(_ERASE, end="", file=sys.stderr, flush=True)  # noqa: T201


def _summary(record: object) -> str:
    from pinakes.pipelines.runs.records import TableRecord

    assert isinstance(record, TableRecord)
    if record.error is not None:
        return f": {record.error}"
    made = record.made
    said = [f"{made.rows:,} rows"] if record.kind != "temporary_view" and not made.was_there else []
    if made.bad_rows:
        said.append(f"{made.bad_rows:,} bad records kept apart")
    failed = [o for o in made.outcomes if o.failed]
    said += [f"{o.expectation.name}: {o.failed:,} rows fail ({o.expectation.action})" for o in failed]
    return f", {', '.join(said)}" if said else ""


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201
