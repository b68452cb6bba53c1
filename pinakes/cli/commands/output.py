"""Commands for the output of results: \\x, \\timing, \\format, \\pset, \\o, \\echo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO, cast

from pinakes.cli.commands.base import Call
from pinakes.cli.formats import FORMATS
from pinakes.core.errors import InvalidArgument

if TYPE_CHECKING:
    from pinakes.cli.display import Expanded

SWITCH = ("on", "off")
EXPANDED = ("on", "off", "auto")
EDITING = ("emacs", "vi")
SETTINGS: dict[str, tuple[str, ...]] = {
    "editing": EDITING,
    "expanded": EXPANDED,
    "fit": SWITCH,
    "format": FORMATS,
    "pager": SWITCH,
    "timing": SWITCH,
}
"""The settings of \\pset and their values."""


def expanded(call: Call) -> None:
    display = call.console.display
    value = call.one_of(EXPANDED, "off" if display.expanded != "off" else "on")
    _put(call, "expanded", value)


def timing(call: Call) -> None:
    _put(call, "timing", "on" if call.switched(call.console.display.timing) else "off")


def choose_format(call: Call) -> None:
    if not call.argument:
        call.console.say(f"format is {call.console.format}; available: {', '.join(FORMATS)}")
        return
    _put(call, "format", call.one_of(FORMATS, ""))


def settings(call: Call) -> None:
    """\\pset [name [value]]"""
    name, _, value = call.argument.partition(" ")
    if not name:
        call.console.say(
            "\n".join(f"{each:10} {_value(call, each):10} {'|'.join(SETTINGS[each])}" for each in SETTINGS)
        )
        return
    if name not in SETTINGS:
        raise InvalidArgument(f"\\pset has no {name!r}; it has: {', '.join(SETTINGS)}")
    inner = Call(call.runner, f"\\pset {name}", value.strip())
    other = {"on": "off", "off": "on"}.get(_value(call, name), _value(call, name))
    _put(call, name, inner.one_of(SETTINGS[name], other))


def to_file(call: Call) -> None:
    """\\o [file]"""
    console = call.console
    stream = _opened(call) if call.argument else None
    screen = console.screen or console.out
    if console.screen is not None:
        console.out.close()
    console.out, console.screen = (screen, None) if stream is None else (stream, screen)


def _opened(call: Call) -> TextIO:
    try:
        return call.path().open("w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InvalidArgument(f"can't write {call.argument}: {error.strerror}") from error


def echo(call: Call) -> None:
    call.console.say(call.argument)


def _put(call: Call, name: str, value: str) -> None:
    display, console = call.console.display, call.console
    change: dict[str, Callable[[], None]] = {
        "editing": lambda: setattr(call.state, "editing", value),
        "format": lambda: setattr(console, "format", value),
        "expanded": lambda: setattr(display, "expanded", cast("Expanded", value)),
    }
    change.get(name, lambda: setattr(display, name, value == "on"))()
    console.say(f"{name} is {value}")


def _value(call: Call, name: str) -> str:
    if name in ("editing", "format"):
        return str(getattr(call.state if name == "editing" else call.console, name))
    value = getattr(call.console.display, name)
    return str(value) if isinstance(value, str) else "on" if value else "off"
