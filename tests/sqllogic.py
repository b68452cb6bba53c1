"""SQL tests as text files, in the words of sqllogictest: what a record is, how a file is read, compared and completed.

    statement ok                          it runs
    statement count 3                     it runs and changes three rows
    statement error TABLE_NOT_FOUND: …    it fails, and "CODE: message" contains the text
    statement error /regex/               … or matches the regular expression
    query IT rowsort [label]              its rows follow after ----, one per line, columns separated by tabs
    query error …                         like statement error
    file NAME                             the lines that follow become this file in ${TMP}
    connection NAME [user=alice]          the next record runs on this named session of the same engine
    halt                                  nothing after this line is read

Column types: T text, I integer, R real or decimal, B boolean, D date, P timestamp, ? anything. Sort modes: nosort (as
they come), rowsort (rows sorted as texts), valuesort (each value on its own line, all sorted). Results with the same
label must be equal. A failing record does not stop those after it.
`${TMP}` is a temporary directory of the file's own, `${PYTHON}` and `${EXAMPLES}` are where they are. NULL prints as
NULL, an empty text as (empty), a tab or a line break within a value as \\t and \\n. `#` starts a comment line; a file
that begins with `# slow: …` is run by `make test` alone. `pytest tests/sql --complete` writes the rows observed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from pinakes.core.errors import PinakesError
from pinakes.core.output.value_format import as_text, rows

WHERE = {"PYTHON": sys.executable, "EXAMPLES": str(Path(__file__).parents[1] / "examples")}
SORTS = ("nosort", "rowsort", "valuesort")
_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Mismatch(Exception):
    """A record whose outcome is not the expected one."""


class SltSyntaxError(Exception):
    """A file that does not follow the form."""


@dataclass
class Record:
    """One statement or query of a file, with what is expected of it."""

    line: int
    sql: str
    kind: str  # "ok", "count", "error", "query" or "file"
    expected: str = ""  # the count, the error's text, or the file's name
    types: str = ""
    sort: str = "nosort"
    label: str | None = None
    rows: list[str] = field(default_factory=list)
    connection: str = ""
    user: str | None = None
    header: int = 0  # index of the line that opens the record
    body: tuple[int, int] = (0, 0)  # indexes of the lines from ---- to the last row, for --complete
    observed: tuple[str, list[str]] | None = None


# --- reading -----------------------------------------------------------------------------------------------------


def parse(text: str, path: Path | None = None) -> list[Record]:
    """The records of a file."""
    lines = text.splitlines()
    records: list[Record] = []
    connection, user, at = "", None, 0
    while at < len(lines):
        line = lines[at].strip()
        words = line.split()
        if not words or line.startswith("#"):
            at += 1
        elif words == ["halt"]:
            break
        elif words[0] == "connection" and len(words) in (2, 3):
            connection, user = words[1], words[2].removeprefix("user=") if len(words) == 3 else None
            at += 1
        else:
            record, at = _record(lines, at, path)
            record.connection, record.user = connection, user
            connection, user = "", None
            records.append(record)
    return records


def _record(lines: list[str], at: int, path: Path | None) -> tuple[Record, int]:
    header = at
    record = _opening(lines[at], at + 1, path)
    at += 1
    start = at
    while at < len(lines) and lines[at].strip() and lines[at] != "----":
        at += 1
    record.sql, record.header = "\n".join(lines[start:at]).strip(), header
    if not record.sql:
        raise SltSyntaxError(f"{path}:{header + 1}: no SQL follows {lines[header]!r}")
    record.body = (at, at)
    if at < len(lines) and lines[at] == "----":
        if record.kind != "query":
            raise SltSyntaxError(f"{path}:{at + 1}: only a query has rows")
        end = at + 1
        while end < len(lines) and lines[end].strip():
            end += 1
        record.rows, record.body, at = lines[at + 1 : end], (at, end), end
    return record, at


def _opening(line: str, number: int, path: Path | None) -> Record:
    """The first line of a record."""
    match line.split():
        case ["statement", "ok"]:
            return Record(number, "", "ok")
        case ["file", name]:
            return Record(number, "", "file", name)
        case ["statement", "count", count] if count.isdigit():
            return Record(number, "", "count", count)
        case ["statement" | "query", "error", *_]:
            return Record(number, "", "error", line.split("error", 1)[1].strip())
        case ["query", types, *rest] if re.fullmatch(r"[TIRBDP?]+", types):
            sort = rest.pop(0) if rest and rest[0] in SORTS else "nosort"
            if len(rest) <= 1:
                return Record(number, "", "query", types=types, sort=sort, label=rest[0] if rest else None)
    raise SltSyntaxError(f"{path}:{number}: not the beginning of a record: {line!r}")


# --- running -----------------------------------------------------------------------------------------------------

Run = Callable[[str], Any]
"""SQL in, a `pinakes.engine.result.Result` out."""


def check(record: Record, run: Run, tmp: str, labels: dict[str, list[str]], *, complete: bool = False) -> None:
    """Run a record and raise Mismatch unless what happens is what it expects."""
    sql = record.sql.replace("${TMP}", tmp)
    for name, value in WHERE.items():
        sql = sql.replace(f"${{{name}}}", value)
    if record.kind == "file":
        return _write(Path(tmp) / record.expected, sql)
    if record.kind == "error":
        return _check_error(record, sql, run, tmp)
    try:
        result = run(sql)
        table: pa.Table = result.read_all()
    except PinakesError as error:
        raise Mismatch(f"it failed: {error_text(error, tmp)}") from error
    if record.kind == "count" and result.count != int(record.expected):
        raise Mismatch(f"expected {record.expected} rows to change, got {result.count}")
    if record.kind == "query":
        _check_rows(record, table, tmp, labels, complete)
    return None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def _check_error(record: Record, sql: str, run: Run, tmp: str) -> None:
    try:
        table = run(sql).read_all()
    except PinakesError as error:
        got = error_text(error, tmp)
        if not _contains(got, record.expected):
            raise Mismatch(f"expected an error with\n  {record.expected}\ngot\n  {got}") from error
        return
    raise Mismatch(f"expected an error with {record.expected!r}; it succeeded with {table.num_rows} rows")


def _contains(got: str, expected: str) -> bool:
    if len(expected) > 1 and expected[0] == expected[-1] == "/":
        return re.search(expected[1:-1], got, re.DOTALL) is not None
    return expected in got


def error_text(error: PinakesError, tmp: str) -> str:
    return f"{error.code}: {error}".replace(tmp, "${TMP}")


def _check_rows(record: Record, table: pa.Table, tmp: str, labels: dict[str, list[str]], complete: bool) -> None:
    types = "".join(map(letter, table.schema.types))
    got = arranged(format_rows(table, tmp), record.sort)
    record.observed = (_kept_types(record.types, types), got)
    known = labels.setdefault(record.label, got) if record.label else got
    if known != got:
        raise Mismatch(f"the label {record.label} had other rows before\n{difference(known, got)}")
    if complete:
        return
    if record.observed[0] != record.types:
        raise Mismatch(f"expected columns of types {record.types}, got {types} ({table.schema.names})")
    if got != record.rows:
        raise Mismatch(difference(record.rows, got))


def _kept_types(expected: str, got: str) -> str:
    """The types observed, with `?` kept where it was written."""
    if len(expected) != len(got):
        return got
    return "".join(e if e == "?" else g for e, g in zip(expected, got, strict=True))


def letter(kind: pa.DataType) -> str:
    """The letter of a column's type."""
    types = pa.types
    for test, name in (
        (types.is_boolean, "B"),
        (types.is_integer, "I"),
        (types.is_floating, "R"),
        (types.is_decimal, "R"),
        (types.is_date, "D"),
        (types.is_timestamp, "P"),
        (types.is_string, "T"),
        (types.is_large_string, "T"),
        (types.is_string_view, "T"),
    ):
        if test(kind):
            return name
    return letter(kind.value_type) if types.is_dictionary(kind) else "?"


def format_rows(table: pa.Table, tmp: str) -> list[str]:
    """Each row as a line."""
    return [
        "\t".join(_cell(value, tmp) for value in row) if row else "(no columns)"
        for batch in table.to_batches()
        for row in rows(batch)
    ]


def _cell(value: object, tmp: str) -> str:
    if value is None:
        return "NULL"
    return as_text(value).replace(tmp, "${TMP}").translate(_ESCAPES) or "(empty)"


def arranged(lines: Sequence[str], sort: str) -> list[str]:
    """Lines in the order that a sort mode gives them."""
    if sort == "rowsort":
        return sorted(lines)
    if sort == "valuesort":
        return sorted(value for line in lines for value in line.split("\t"))
    return list(lines)


def difference(expected: Sequence[str], got: Sequence[str]) -> str:
    def shown(lines: Sequence[str]) -> str:
        return "\n".join(f"  {line}" for line in lines) or "  (no rows)"

    return f"expected {len(expected)} rows\n{shown(expected)}\ngot {len(got)} rows\n{shown(got)}"


# --- completing --------------------------------------------------------------------------------------------------


def completed(text: str, records: Sequence[Record]) -> str:
    """The text with the rows and types that were observed in place of the expected ones."""
    lines = text.splitlines()
    for record in sorted(records, key=lambda r: r.header, reverse=True):
        if record.observed is not None:
            types, got = record.observed
            start, end = record.body
            lines[start:end] = ["----", *got]
            lines[record.header] = lines[record.header].replace(record.types, types, 1)
    return "\n".join(lines) + "\n"
