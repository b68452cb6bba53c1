"""Commands for the current and previous statements: \\g, \\gx, \\p, \\r, \\s."""

from __future__ import annotations

from pinakes.cli.commands.base import Call
from pinakes.core.errors import InvalidArgument
from pinakes.parser import mask


def run_again(call: Call) -> None:
    """\\g"""
    sql = call.statement or call.state.last
    if not sql:
        raise InvalidArgument("there is no statement to run yet")
    call.state.last = sql
    call.runner.run(sql)


def run_expanded(call: Call) -> None:
    """\\gx"""
    display = call.console.display
    before, display.expanded = display.expanded, "on"
    try:
        run_again(call)
    finally:
        display.expanded = before


def show_statement(call: Call) -> None:
    text = call.statement or call.state.last
    call.console.say(mask(text) if text else "no statement yet")


def forget(call: Call) -> None:
    call.state.last = call.state.drafted = ""
    call.console.say("the statement is cleared")


def history(call: Call) -> None:
    """\\s [number]"""
    typed = [] if call.state.typed is None else list(call.state.typed())
    if call.argument:
        if not call.argument.isdecimal():
            raise InvalidArgument(f"\\s takes a number of entries, not {call.argument!r}")
        typed = typed[-int(call.argument) :] if int(call.argument) else []
    call.console.say("\n".join(typed))
