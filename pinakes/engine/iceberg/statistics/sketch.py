"""A theta sketch: estimates the number of distinct values from a sample of their hashes.

All hashes below a limit (theta) are kept. When there are too many, the limit is lowered so that a fixed number remains:
their share of the hash space gives the estimate. The format is that of Apache DataSketches, as used by Iceberg: the
hashes are MurmurHash3 with seed 9001, and `to_bytes` returns the compact form. The Python API of that library accepts
only numbers and strings, not bytes, so only the tests use it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

SIZE = 4096
"""The number of hashes kept; the estimate is mostly within 1.6 %. The same as in Iceberg for Spark."""
SEED = 9001
_ALL = (1 << 63) - 1
"""The limit while all hashes are kept."""
_SEED_HASH = 0x93CC
"""Identifies the seed in a sketch: 16 bits of its hash."""
_VERSION, _COMPACT = 3, 3
_READ_ONLY, _EMPTY, _IS_COMPACT, _ORDERED, _SINGLE = 2, 4, 8, 16, 32


class ThetaSketch:
    def __init__(self) -> None:
        self.theta = _ALL
        self._hashes: set[int] = set()

    def add(self, hashes: Iterable[int]) -> None:
        """Adds hashes of values, of 63 bits each (`hashes.py`)."""
        self._hashes.update(h for h in hashes if h < self.theta)
        self._trim()

    def add_array(self, hashes: pa.Array) -> None:
        """Adds many hashes, and first drops those above the limit."""
        mattering = pc.unique(hashes.filter(pc.less(hashes, pa.scalar(self.theta, pa.uint64()))))
        if len(mattering) <= 2 * SIZE:
            self._hashes.update(mattering.to_pylist())
            self._trim()
            return
        least = pc.select_k_unstable(
            mattering, SIZE + 2, [("", "ascending")]
        )  # one may be 0, which is not a valid hash
        self._hashes.update(mattering.take(least).to_pylist())
        self._hashes.discard(0)
        self._cut()

    def _trim(self) -> None:
        """Trims when the size has doubled, not at each hash."""
        self._hashes.discard(0)
        if len(self._hashes) > 2 * SIZE:
            self._cut()

    def _cut(self) -> None:
        ordered = sorted(self._hashes)
        self.theta, self._hashes = ordered[SIZE], set(ordered[:SIZE])

    def hashes(self) -> list[int]:
        """Returns the kept hashes, sorted."""
        if len(self._hashes) > SIZE:
            self._cut()
        return sorted(self._hashes)

    @property
    def estimate(self) -> float:
        kept = len(self.hashes())
        return float(kept) if self.theta == _ALL else kept * (2.0**63 / self.theta)

    def to_bytes(self) -> bytes:
        """Returns the compact, ordered form: a preamble, the limit if there is one, and the hashes."""
        kept = self.hashes()
        flags = _READ_ONLY | _IS_COMPACT | _ORDERED
        if self.theta != _ALL:
            head = _preamble(3, flags) + struct.pack("<ifq", len(kept), 1.0, self.theta)
        elif len(kept) > 1:
            head = _preamble(2, flags) + struct.pack("<if", len(kept), 1.0)
        else:
            head = _preamble(1, flags | (_SINGLE if kept else _EMPTY))
        return head + struct.pack(f"<{len(kept)}q", *kept)


def _preamble(longs: int, flags: int) -> bytes:
    return struct.pack("<BBBBBBH", longs, _VERSION, _COMPACT, 0, 0, flags, _SEED_HASH)
