"""Where a format that makes bytes puts them: below the text stream, or as text where there is nothing below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO, Union

if TYPE_CHECKING:
    import pyarrow as pa

Sink = Callable[[Union[bytes, "pa.Buffer"]], object]


def sink(out: TextIO) -> Sink:
    """What takes UTF-8 bytes for `out`."""
    below = getattr(out, "buffer", None)
    if below is None:
        return lambda data: out.write(str(data, "utf-8"))
    out.flush()  # what was printed before comes before
    write: Sink = below.write
    return write
