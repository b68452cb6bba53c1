"""Reads the sqllogictest files of DuckDB and sqlite as records, with their loops written out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

LOOP_LIMIT = 12
"""Rounds of a loop that are run; the rest would repeat them with other numbers."""

DATABASES = frozenset({"duckdb", "postgresql"})
"""The names under which `onlyif` and `skipif` mean us."""

_SORTS = ("nosort", "rowsort", "valuesort", "sort")
_IGNORED = frozenset("hash-threshold restart load set reset sleep tags reconnect continue".split())
_STOPS = frozenset("unzip include template concurrentloop require-env test-env".split())
_PROVIDED = frozenset(
    "parquet json icu core_functions skip_reload vector_size noforcestorage no_force_storage no_alternative_verify "
    "notwindows notmingw block_size 64bit no_extension_autoloading no_vector_verification no_latest_storage "
    "allow_unsigned_extensions longdouble mingw_ok exact_vector_size noalternativeverify strinline".split()
)
_SIGNED = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_UNSIGNED = ("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint")
_GROUPS = {
    "<signed>": _SIGNED,
    "<unsigned>": _UNSIGNED,
    "<integral>": _SIGNED + _UNSIGNED,
    "<numeric>": (*_SIGNED, *_UNSIGNED, "float", "double"),
    "<alltypes>": (*_SIGNED, *_UNSIGNED, "float", "double", "bool", "interval", "varchar"),
}


@dataclass(frozen=True)
class Record:
    """A statement or a query, and the session that runs it."""

    line: int
    sql: str
    is_query: bool = False
    sorted: bool = False
    """Whether the file compares its rows in another order than they come in."""
    connection: str = ""
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stop:
    """The rest of a file can't be run."""

    line: int
    reason: str


@dataclass(frozen=True)
class Loop:
    names: tuple[str, ...]
    rounds: tuple[tuple[str, ...], ...]
    body: tuple[Record | Stop | Loop, ...] = field(default=())


def read(text: str) -> Iterator[Record | Stop]:
    """The records of a file in the order they are run."""
    lines = text.splitlines()
    items, _ = _block(lines, 0)
    yield from _expanded(items, {})


def _block(lines: Sequence[str], at: int) -> tuple[tuple[Record | Stop | Loop, ...], int]:
    """Everything up to `endloop` or the end."""
    items: list[Record | Stop | Loop] = []
    conditions: tuple[str, ...] = ()
    skipping = False
    while at < len(lines):
        words = lines[at].split("#")[0].split()
        match words:
            case []:
                at += 1
            case ["endloop", *_]:
                return tuple(items), at + 1
            case ["halt", *_]:
                return (*items, Stop(at + 1, "halt")), len(lines)
            case ["mode", what, *_]:
                skipping = what == "skip" if what in ("skip", "unskip") else skipping
                at += 1
            case [("onlyif" | "skipif") as word, *condition]:
                conditions += (f"{word} {' '.join(condition)}",)
                at += 1
            case ["loop" | "foreach", *_]:
                loop = _loop(words)
                body, at = _block(lines, at + 1)
                if not skipping:
                    items.append(replace(loop, body=body))
            case ["require", what, *_] if what.lower() in _PROVIDED:
                at += 1
            case ["statement", _, *rest]:
                record, at = _record(lines, at)
                if not skipping:
                    items.append(replace(record, connection=rest[0] if rest else "", conditions=conditions))
                conditions = ()
            case ["query", _, *rest]:
                record, at = _record(lines, at)
                if not skipping:
                    connection = next((w for w in rest if re.fullmatch(r"con\w*", w)), "")
                    is_sorted = any(w in _SORTS[1:] for w in rest)
                    items.append(replace(record, is_query=True, sorted=is_sorted, connection=connection,
                                         conditions=conditions))  # fmt: skip
                conditions = ()
            case [word, *_] if word in _IGNORED:
                at += 1
            case [word, *_] if word in _STOPS or word == "require":
                return (*items, Stop(at + 1, " ".join(words[:2]))), len(lines)
            case _:
                return (*items, Stop(at + 1, f"unknown directive {words[0]}")), len(lines)
    return tuple(items), at


def _record(lines: Sequence[str], at: int) -> tuple[Record, int]:
    start = at
    at += 1
    while at < len(lines) and lines[at].strip() and lines[at].strip() != "----":
        at += 1
    sql = "\n".join(lines[start + 1 : at])
    while at < len(lines) and lines[at].strip():  # the rows or the error that the file expects
        at += 1
    return Record(start + 1, sql), at


def _loop(words: Sequence[str]) -> Loop:
    if words[0] == "loop":
        name, first, end = words[1:4]
        return Loop((name,), tuple((str(i),) for i in islice(range(int(first), int(end)), LOOP_LIMIT)))
    names = tuple(words[1].split(","))
    values: list[str] = []
    for word in words[2:]:
        if word.startswith("!"):
            values = [v for v in values if v != word[1:]]
        else:
            values += _GROUPS.get(word, (word,))
    split = [tuple(v.split(",")) if len(names) > 1 else (v,) for v in values]
    return Loop(names, tuple(v for v in split[:LOOP_LIMIT] if len(v) == len(names)))


# --- loops, written out ------------------------------------------------------------------------------------------


def _expanded(items: Sequence[Record | Stop | Loop], values: Mapping[str, str]) -> Iterator[Record | Stop]:
    for item in items:
        match item:
            case Loop():
                for values_of_round in item.rounds:
                    yield from _expanded(item.body, {**values, **dict(zip(item.names, values_of_round, strict=True))})
            case Stop():
                yield item
                return
            case Record() if all(_holds(c, values) for c in item.conditions):
                yield replace(item, sql=_substituted(item.sql, values))


def _substituted(sql: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        sql = sql.replace(f"${{{name}}}", value).replace(f"{{{name}}}", value)
    return sql


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    word, _, rest = condition.partition(" ")
    found = re.fullmatch(r"(\w+)\s*(=|!=|<>)\s*(\S+)", rest)
    if found is None:
        is_true = rest in DATABASES
    else:
        name, operator, value = found.groups()
        is_true = (values.get(name) == value) == (operator == "=")
    return is_true if word == "onlyif" else not is_true
