"""Text for terminals: escapes control characters and fits column widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

NULL = "NULL"
"""The display of NULL; an equal text is shown in quotes to distinguish it."""
NARROWEST = 8
"""The minimum width of a column."""

# Control characters must not reach the terminal: they could move the cursor or worse. Characters that change the text
# direction could disguise a value.
_HIDDEN = (*range(32), *range(127, 160), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
VISIBLE = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _HIDDEN}
VISIBLE |= {ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}
"""For `str.translate`: visible replacements of such characters."""
BUT_BREAKS = {code: text for code, text in VISIBLE.items() if code != ord("\n")}
"""The same without line breaks."""
_PRINTABLE = {code: text for code, text in BUT_BREAKS.items() if code != ord("\t")}
HAS_HIDDEN = r"[\x00-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]"
"""The same for Arrow's regular expressions."""


def printable(text: str) -> str:
    """Escapes the control characters of a text, which names and foreign messages may contain. Line breaks and tabs
    stay. All output passes through this; results have `cli/formats`.
    """
    return text.translate(_PRINTABLE)


def one_line(text: str) -> str:
    """Does the same for one line of a log or a status line: line breaks are escaped too."""
    return text.translate(VISIBLE)


def is_number(kind: pa.DataType) -> bool:
    import pyarrow as pa  # loaded only where it is needed

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def fit_width(widths: Sequence[int], total: int | None, firm: Sequence[bool] = ()) -> list[int]:
    """Shrinks column widths to fit into the total where possible: the widest columns first, firm ones (numbers, which
    must not be cut) last.
    """
    fit = list(widths)
    spare = (total or 0) - 3 * len(fit) - 1
    soft = [at for at in range(len(fit)) if not (firm and firm[at])]
    for giving in (soft, range(len(fit))):
        while total is not None and sum(fit) > spare and max((fit[at] for at in giving), default=0) > NARROWEST:
            widest = max(giving, key=lambda at: fit[at])
            second = max((fit[at] for at in giving if fit[at] < fit[widest]), default=NARROWEST)
            fit[widest] = max(fit[widest] - (sum(fit) - spare), second - 1, NARROWEST)
    return fit
