"""Scripts of several statements, run in order. The first failure ends the script and is reported with its line."""

from __future__ import annotations

from pinakes.cli.runner import IncludeFailed, Leave, Runner
from pinakes.cli.steps import Script, Step, steps


def run_script(script: Script, runner: Runner) -> bool:
    """Runs the statements and commands of a script in order; returns False if one failed, which ends the script. `\\q`
    also ends it."""
    try:
        return run_steps(script, runner)
    except Leave:
        return True


def run_steps(script: Script, runner: Runner) -> bool:
    """Like `run_script`, but raises Leave for `\\q`."""
    start = (1, 1)
    try:
        for step in steps(script.text):
            start = step.line, step.offset - script.text.rfind("\n", 0, step.offset)
            _run_step(step, runner)
    except (BrokenPipeError, Leave):
        raise
    except IncludeFailed:
        return False
    except Exception as error:  # noqa: BLE001 - other exceptions are bugs; neither shows a traceback
        runner.console.error(error, script.place(start[0]), start)
        return False
    return True


def _run_step(step: Step, runner: Runner) -> None:
    if step.is_command:
        from pinakes.cli.commands import run_command  # lazy: only scripts with commands need it

        script = run_command(step.text, runner, step.buffer)
        if script is not None:
            _include(script, runner)
    else:
        runner.state.last = step.text
        runner.run(step.text)


def _include(script: Script, runner: Runner) -> None:
    runner.state.depth += 1
    try:
        fine = run_script(script, runner)
    finally:
        runner.state.depth -= 1
    if not fine:
        raise IncludeFailed
