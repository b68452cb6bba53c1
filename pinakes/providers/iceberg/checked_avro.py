"""A bounds-checking Avro decoder. pyiceberg's decoder reads beyond the end of a file if a length in the file says so:
it would return other memory of this process, or crash the process. This one checks each length first.
"""

from __future__ import annotations

from pyiceberg.avro.decoder_fast import CythonBinaryDecoder

from pinakes.core.errors import DataCorrupt


class CheckedDecoder:
    """Raises DataCorrupt for bytes that the content does not have, and EOFError for a truncated number, as pyiceberg
    does.
    """

    def __init__(self, content: bytes) -> None:
        self._inner = CythonBinaryDecoder(content)
        self._size = len(content)
        self.tell = self._inner.tell
        self.read_int = self._inner.read_int  # it checks each byte of a number itself
        self.skip_int = self._inner.read_int

    def _check(self, count: int) -> None:
        left = self._size - self.tell()
        if not 0 <= count <= left:
            raise DataCorrupt(f"an Avro file of the table is damaged: it names {count} bytes where there are {left}")

    def read(self, n: int) -> bytes:
        self._check(n)
        return self._inner.read(n)

    def read_boolean(self) -> bool:
        self._check(1)
        return self._inner.read_boolean()

    def read_float(self) -> float:
        self._check(4)
        return self._inner.read_float()

    def read_double(self) -> float:
        self._check(8)
        return self._inner.read_double()

    def read_ints(self, count: int) -> tuple[int, ...]:
        self._check(count)
        return tuple(self.read_int() for _ in range(count))

    def read_int_bytes_dict(self, count: int, dest: dict[int, bytes]) -> None:
        self._check(count)
        for _ in range(count):
            key = self.read_int()
            dest[key] = self.read_bytes()

    def read_bytes(self) -> bytes:
        return self.read(self.read_int())

    def read_utf8(self) -> str:
        return self.read_bytes().decode()

    def skip(self, n: int) -> None:
        self._check(n)
        self._inner.skip(n)

    def skip_boolean(self) -> None:
        self.skip(1)

    def skip_float(self) -> None:
        self.skip(4)

    def skip_double(self) -> None:
        self.skip(8)

    def skip_bytes(self) -> None:
        self.skip(self.read_int())

    def skip_utf8(self) -> None:
        self.skip(self.read_int())
