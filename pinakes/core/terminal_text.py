"""What every view of a result on a screen needs: no character that could fool the reader, and widths that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

NULL = "NULL"
"""How a NULL is shown; a text that reads so stands in quotes, or nobody could tell them apart."""
NARROWEST = 8
"""No column is made narrower than this to fit."""

# Control characters must not reach the terminal: they could move the cursor or worse. Nor may those that turn round
# the direction of what follows: they would let a value look like another.
_HIDDEN = (*range(32), *range(127, 160), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
VISIBLE = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _HIDDEN}
VISIBLE |= {ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}
"""For `str.translate`: such characters as something that can be seen."""
BUT_BREAKS = {code: text for code, text in VISIBLE.items() if code != ord("\n")}
"""The same, and line breaks stay."""
_PRINTABLE = {code: text for code, text in BUT_BREAKS.items() if code != ord("\t")}
HAS_HIDDEN = r"[\x00-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]"
"""The same for Arrow's regular expressions."""


def printable(text: str) -> str:
    """A text for a terminal: control characters, which names and messages of others may have, are shown as escapes.
    Line breaks and tabs stay. All that is printed goes through this; results have `cli/formats`."""
    return text.translate(_PRINTABLE)


def one_line(text: str) -> str:
    """The same for one line of a log or a status line: a line break is an escape, too."""
    return text.translate(VISIBLE)


def is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa  # not loaded by all that prints

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def fitted(widths: Sequence[int], total: int | None, firm: Sequence[bool] = ()) -> list[int]:
    """Widths of a box's columns that fit into the total where possible: the widest give first, firm ones (numbers: a
    part of one is a wrong one) only when nothing else can."""
    fit = list(widths)
    spare = (total or 0) - 3 * len(fit) - 1
    soft = [at for at in range(len(fit)) if not (firm and firm[at])]
    for giving in (soft, range(len(fit))):
        while total is not None and sum(fit) > spare and max((fit[at] for at in giving), default=0) > NARROWEST:
            widest = max(giving, key=lambda at: fit[at])
            second = max((fit[at] for at in giving if fit[at] < fit[widest]), default=NARROWEST)
            fit[widest] = max(fit[widest] - (sum(fit) - spare), second - 1, NARROWEST)
    return fit
