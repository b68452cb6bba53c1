"""Reads the objects of a JSON file with their lines: one per line, concatenated, or in one array."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any

from pinakes.core.errors import DataCorrupt
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.options import JsonOptions
from pinakes.engine.files.reading.streams import text_stream

_CHUNK = 1024 * 1024
_LONGEST = 512 * 1024 * 1024
_NEAR_END = 16
"""An error this close to the end of the buffer may be due to a value that is not complete yet."""
_NOT_WHITE = re.compile(r"[^ \t\r\n]")


def objects(file: File, options: JsonOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line, object) for each object."""
    if options.ignore_errors and not is_array(file, options):
        yield from _good_lines(file, options)
        return
    for line, value in _values(_Text(file, options), options):
        if not isinstance(value, dict):
            raise DataCorrupt(
                f'{file}, line {line}: a table\'s rows are objects such as {{"a": 1}}, and here is {_kind_name(value)}'
            )
        yield line, value


def is_array(file: File, options: JsonOptions) -> bool:
    if options.format != "auto":
        return options.format == "array"
    with text_stream(file, options.compression) as stream:
        while chunk := stream.read(4096):
            start = chunk.removeprefix(b"\xef\xbb\xbf").lstrip()
            if start:
                return bool(start.startswith(b"["))
    return False


def _good_lines(file: File, options: JsonOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    import io

    with text_stream(file, options.compression) as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace"), 1):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield number, value


class _Text:
    """A buffer of a file's text: `at` is the current position, in line `line` of the file."""

    def __init__(self, file: File, options: JsonOptions) -> None:
        self.file = file
        self.text = ""
        self.at = 0
        self._line, self._counted = 1, 0
        self._chunks = self._read(options)

    def _read(self, options: JsonOptions) -> Iterator[str]:
        import codecs

        decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        with text_stream(self.file, options.compression) as stream:
            while chunk := stream.read(_CHUNK):
                yield decode(chunk)
            yield decode(b"", final=True)

    def more(self, chunks: int = 1) -> bool:
        """Reads more and drops the consumed text; returns False at the end."""
        self._line = self.line
        self.text, self.at, self._counted = self.text[self.at :], 0, 0
        for _ in range(chunks):
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self.text += chunk
        return True

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def sees(self, mark: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] == mark

    def skip(self, length: int = 0) -> bool:
        """Skips some characters and the white space after them; returns False at the end."""
        self.at += length
        while True:
            found = _NOT_WHITE.search(self.text, self.at)
            if found is not None:
                self.at = found.start()
                return True
            self.at = len(self.text)
            if not self.more():
                return False

    def fault(self, said: str) -> DataCorrupt:
        return DataCorrupt(f"{self.file}, line {self.line}: {said}")


def _values(text: _Text, options: JsonOptions) -> Iterator[tuple[int, Any]]:
    decoder = JSONDecoder()
    there = text.skip()
    array = text.sees("[") and options.format != "newline_delimited"
    if array:
        there = text.skip(1)
    first = True
    while there:
        if array and text.sees("]"):
            if text.skip(1):
                raise text.fault("something follows the end of the array")
            return
        if array and not first:
            if not text.sees(","):
                raise text.fault("invalid JSON: a comma or ] is missing")
            text.skip(1)
        yield text.line, _decode(decoder, text)
        first = False
        there = text.skip()
    if array:
        raise text.fault("the array is not closed: ] is missing")


def _decode(decoder: JSONDecoder, text: _Text) -> Any:
    """Decodes the value at the current position, and moves past it."""
    chunks = 1
    while True:
        try:
            value, text.at = decoder.raw_decode(text.text, text.at)
            return value
        except JSONDecodeError as error:
            cut_off = error.msg.startswith("Unterminated") or error.pos >= len(text.text) - _NEAR_END
            ahead = error.pos - text.at
            if not cut_off or len(text.text) - text.at > _LONGEST or not text.more(chunks):
                text.at += min(ahead, len(text.text) - text.at)
                said = f"invalid JSON: {error.msg.lower()}. Correct it, or leave such lines out with"
                raise text.fault(f"{said} ignore_errors => true.") from error
            chunks *= 2
        except RecursionError as error:
            raise text.fault("this value is nested too deeply") from error


def _kind_name(value: Any) -> str:
    match value:
        case list():
            return "a list"
        case str():
            return "a text"
        case None:
            return "null"
        case bool():
            return "a truth value"
        case _:
            return "a number"
