"""Scripts: texts of several statements, run in order. The first that fails ends them, with its line."""

from __future__ import annotations

from pinakes.cli.runner import Runner
from pinakes.cli.shell_state import IncludeFailed, Leave
from pinakes.cli.steps import Script, Step, steps


def run_script(script: Script, runner: Runner) -> bool:
    """Run a script's statements and commands in order; False when one failed, which ends it. `\\q` ends it, too."""
    try:
        return run_steps(script, runner)
    except Leave:
        return True


def run_steps(script: Script, runner: Runner) -> bool:
    """The same for who has to know that somebody wants to leave."""
    start = (1, 1)
    try:
        for step in steps(script.text):
            start = step.line, step.offset - script.text.rfind("\n", 0, step.offset)
            _run_step(step, runner)
    except (BrokenPipeError, Leave):
        raise
    except IncludeFailed:
        return False
    except Exception as error:  # noqa: BLE001 - what is not an error of ours is a bug; neither shows a traceback
        runner.console.error(error, script.place(start[0]), start)
        return False
    return True


def _run_step(step: Step, runner: Runner) -> None:
    if step.is_command:
        from pinakes.cli.commands import run_command  # a script without commands doesn't pay for them

        script = run_command(step.text, runner, step.buffer)
        if script is not None:
            _include(script, runner)
    else:
        runner.desk.last = step.text
        runner.run(step.text)


def _include(script: Script, runner: Runner) -> None:
    runner.desk.depth += 1
    try:
        fine = run_script(script, runner)
    finally:
        runner.desk.depth -= 1
    if not fine:
        raise IncludeFailed
