"""Output of formats that produce bytes: to the buffer of the text stream, or as text if it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO, Union

if TYPE_CHECKING:
    import pyarrow as pa

Sink = Callable[[Union[bytes, "pa.Buffer"]], object]


def sink(out: TextIO) -> Sink:
    """Returns a function that writes UTF-8 bytes to `out`."""
    below = getattr(out, "buffer", None)
    if below is None:
        return lambda data: out.write(str(data, "utf-8"))
    out.flush()  # keeps the order with text printed before
    write: Sink = below.write
    return write
