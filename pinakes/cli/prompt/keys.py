"""Key bindings of the prompt in addition to those of prompt-toolkit."""

from __future__ import annotations

from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from pinakes.cli.steps import steps

WORDS = frozenset({"exit", "quit", "help"})
"""Words that are commands without backslash and semicolon."""
INDENT = 4


def is_complete(text: str) -> bool:
    """Whether Enter runs the text: a command, or statements that end with a semicolon (outside of quotes and
    comments)."""
    if not text.strip() or text.strip().rstrip(";").strip().lower() in WORDS:
        return True
    found = steps(text)
    return not found or found[-1].closed


def bindings() -> KeyBindings:
    keys = KeyBindings()
    complete = Condition(lambda: is_complete(get_app().current_buffer.text))
    chosen = Condition(_has_chosen)
    indents = Condition(lambda: _is_indentation(get_app().current_buffer.document.current_line_before_cursor))

    @keys.add("enter", filter=complete & ~chosen)
    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("enter", filter=chosen)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None  # keeps the selected completion

    @keys.add("tab", filter=indents & ~chosen)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(" " * INDENT)

    return keys


def _has_chosen() -> bool:
    """Whether an entry of the completion menu is selected."""
    state = get_app().current_buffer.complete_state
    return state is not None and state.current_completion is not None


def _is_indentation(line: str) -> bool:
    """Whether Tab indents: at the beginning of a line other than the first."""
    return not line.strip() and get_app().current_buffer.document.cursor_position_row > 0
