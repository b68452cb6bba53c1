"""DataFusion's, Arrow's and pyiceberg's exceptions, translated at the door into errors a user can act on.

DataFusion raises ValueError while it plans, bare Exception when it collects and ArrowInvalid while it streams; what
went wrong is in the text. Where it panics, a PanicException comes. Anything unknown becomes an ExecutionError with the
first line of the original.
"""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from pinakes.core import errors
from pinakes.core.errors import (
    AmbiguousName,
    ColumnNotFound,
    DataCorrupt,
    ExecutionError,
    FunctionNotFound,
    InternalError,
    InvalidArgument,
    NotSupportedError,
    OutOfMemory,
    ParseError,
    PinakesError,
    Position,
    QueryCanceled,
    QueryTimeout,
    TableNotFound,
    TypeMismatch,
)
from pinakes.providers.foreign_errors import translate_foreign

Located = Callable[[int, int], Position | None]
"""Line and column in the planned text -> the position in the user's own."""


@contextmanager
def translated(locate: Located | None = None) -> Iterator[None]:
    """Let our own errors pass and translate everyone else's."""
    try:
        yield
    except PinakesError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise translate(error, locate) from error


def let_go(error: BaseException) -> None:
    """Empty the frames that the error of a stopped query came through: a plan with a subquery keeps it at work for as
    long as somebody holds the plan, and an error is often kept."""
    if isinstance(error, QueryCanceled | QueryTimeout):
        seen: BaseException | None = error
        while seen is not None:
            traceback.clear_frames(seen.__traceback__)
            seen = seen.__cause__ or seen.__context__


def is_panic(error: BaseException) -> bool:
    """Whether DataFusion panicked. Such an error is no Exception: nobody who means well would catch it."""
    return type(error).__module__ == "pyo3_runtime"


def translate(error: BaseException, locate: Located | None = None) -> PinakesError:
    """The typed error for a foreign one."""
    if isinstance(error, PinakesError):
        return error
    if is_panic(error):
        return ExecutionError(f"DataFusion failed on this statement: {str(error).splitlines()[0][:500]}")
    inner = _own_error(error)
    if inner is not None:
        return inner
    if not isinstance(error, ValueError | OSError | pa.ArrowException) and type(error) is not Exception:
        return InternalError(f"{type(error).__name__}: {error}")
    if isinstance(error, OSError) and (known := translate_foreign(error, "this statement")) is not None:
        return known
    from pinakes.engine.scan.blame import told_by_store  # only when something went wrong

    if (told := told_by_store(error)) is not None:
        return told
    text = _clean(str(error))
    for pattern, make in _RULES:
        found = pattern.search(text)
        if found:
            return make(found, text)
    found = _PARSE.search(text)
    if found:
        line, column = int(found.group(2)), int(found.group(3))
        return ParseError(f"syntax error: {found.group(1).strip()}", position=locate(line, column) if locate else None)
    found = _PARSE_NOWHERE.search(text)
    if found:
        return ParseError(f"syntax error: {found.group(1)}")
    return ExecutionError(text or type(error).__name__)


def _own_error(error: BaseException) -> PinakesError | None:
    """One of ours that crossed DataFusion and came back as the cause of a foreign one."""
    seen = error.__cause__
    while seen is not None:
        if isinstance(seen, PinakesError):
            return seen
        seen = seen.__cause__
    return _rebuilt(str(error))


_CROSSED = re.compile(
    r"<class 'pinakes\.core\.errors\.(\w+)'>, value: \w+\(('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\)", re.DOTALL
)
_STREAMED = re.compile(r"External error: ([A-Z]\w+): (.*)", re.DOTALL)


def _rebuilt(text: str) -> PinakesError | None:
    """One of ours that was raised within a scan: DataFusion keeps nothing of it but its repr; or, when it came through
    a stream of Arrow's, the name of its class and its message."""
    found = _CROSSED.search(text)
    if found is not None:
        kind = getattr(errors, found.group(1), ExecutionError)
        return kind(ast.literal_eval(found.group(2)))
    found = _STREAMED.search(text)
    streamed = getattr(errors, found.group(1), None) if found is not None else None
    own = isinstance(streamed, type) and issubclass(streamed, PinakesError)
    return streamed(found.group(2)) if found is not None and own and streamed is not None else None


_PREFIXES = re.compile(
    r"^(DataFusion error|Arrow error|Parquet error|External error|Execution error|Error during planning|Schema error|"
    r"SQL error|Internal error|Invalid argument error|Compute error|Python Error|ExecutionJoin|ParquetError|"
    r"Optimizer rule '[^']*' failed|type_coercion|caused by|Context):?\s*",
    re.MULTILINE,
)
_SYNTAX_TREE = re.compile(r" ?\{.*", re.DOTALL)
"""A piece of DataFusion's own syntax tree within a message."""
_BUG_NOTE = re.compile(r"\.?\s*This issue was likely caused by a bug in DataFusion's code\..*", re.DOTALL)
_TRACEBACK = re.compile(r"\. Detail: Python exception: .*", re.DOTALL)
"""What Arrow adds to an error that was raised in somebody's Python and came through a stream."""
_PARSE = re.compile(r"(?:ParserError|TokenizerError)\(\"(.*?) at Line: (\d+), Column: (\d+)", re.DOTALL)

_PARSE_NOWHERE = re.compile(r"ParserError\(\"(.*)\"\)", re.DOTALL)


def _clean(text: str) -> str:
    """The message without the names of the layers it came through."""
    text = _TRACEBACK.sub("", text).strip().rsplit("\ncaused by\n", 1)[-1]
    while True:
        shorter = _PREFIXES.sub("", text, count=1).lstrip() if _PREFIXES.match(text) else text
        if shorter == text:
            return _BUG_NOTE.sub("", text)
        text = shorter


def _unqualified(fields: str) -> str:
    """DataFusion's list of valid fields with the table in front of each dropped when there is only one table."""
    parts = re.findall(r'(?:(?:"(?:[^"]|"")*"|[^\s",.]+)\.)*(?:"(?:[^"]|"")*"|[^\s",.]+)', fields)
    split = [re.findall(r'"(?:[^"]|"")*"|[^\s",.]+', p) for p in parts]
    split = [p for p in split if not p[-1].startswith('"$pinakes')]  # a change adds where each row stands
    tables = {tuple(p[:-1]) for p in split}
    own = len(tables) <= 1
    shown = [p[-1] if own or p[-2:-1] == ['"$target"'] else ".".join(p[-2:]) for p in split]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")


def _signatures(text: str) -> str:
    """A function's complaint about its arguments, each accepted type named once and without the layers' names."""
    wanted = dict.fromkeys(re.findall(r"requires ([A-Za-z0-9]+), but received", text))
    given = re.search(r"but received (.+?)\.", text)
    if not wanted or given is None:
        return text
    return f"{text.split(' failed to match')[0]} takes {', '.join(wanted)}, not {given.group(1)}; add explicit casts"


def _column(found: re.Match[str], _text: str) -> PinakesError:
    asked, known = found.group(1), found.group("fields")
    asked = asked.replace('"', "") if asked.count(".") == 0 else asked
    known_text = f"; there is {_unqualified(known)}" if known else "; no columns are in scope here"
    return ColumnNotFound(f"column {asked} does not exist{known_text}")


_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str], str], PinakesError]]] = [
    (
        re.compile(
            r"No field named (.+?)\.(?: Did you mean .*?\?)?\s*"
            r"(?:Column names are case sensitive\..*?configuration\.)?\s*"
            r"(?:Valid fields are (?P<fields>.*?)\.)?\s*$",
            re.S,
        ),
        _column,
    ),
    (
        re.compile(r"Invalid function '([^']+)'\.?\s*(?:Did you mean '([^']+)'\?)?", re.S),
        lambda m, _: FunctionNotFound(
            f"function {m.group(1)} does not exist" + (f"; did you mean {m.group(2)}?" if m.group(2) else "")
        ),
    ),
    (
        re.compile(r"table function '([^']+)' not found"),
        lambda m, _: FunctionNotFound(
            f"table function {m.group(1)} does not exist; files are read by read_parquet, read_csv, read_json and "
            f"read_arrow"
        ),
    ),
    (
        re.compile(r"Arguments must be literals"),
        lambda _m, _t: NotSupportedError(
            "the arguments of a table function must be written out: parameters and columns are not supported there"
        ),
    ),
    (re.compile(r"table '([^']+)' not found"), lambda m, _: TableNotFound(f"table {m.group(1)} does not exist")),
    (
        re.compile(r"Ambiguous reference to (?:unqualified|qualified) field (\S+)"),
        lambda m, _: AmbiguousName(f"column {m.group(1)} is ambiguous: say which table it belongs to"),
    ),
    (
        re.compile(r'Projections require unique expression names but the expression "(?:.* AS )?(.*?)" at position'),
        lambda m, _: InvalidArgument(
            f"two columns of the result have the name {m.group(1)}: give one of them another, with AS"
        ),
    ),
    (
        re.compile(r"used disk space during the spilling process has exceeded the allowable limit of ([\d.]+ \w+)"),
        lambda m, _: OutOfMemory(
            f"what does not fit into memory would take more than {m.group(1)} on the disk, which is the most that a "
            f"session may have there. Raise memory_limit in the configuration."
        ),
    ),
    (
        re.compile(r"Resources exhausted|memory pool|Failed to allocate"),
        lambda _, t: OutOfMemory(
            f"{t.splitlines()[0]}. In fewer parts a query spills more and needs less at once: "
            f"SET target_partitions = 1, or raise memory_limit in the configuration."
        ),
    ),
    (
        re.compile(r"No space left on device|File too large|Disk quota exceeded|os error (?:28|27|122)\b"),
        lambda _, t: OutOfMemory(f"the disk is full: {t.splitlines()[0]}"),
    ),
    (
        re.compile(
            r"does not support logical expression (?:ScalarSubquery|Exists|InSubquery)|Schema contains qualified field"
        ),
        lambda _m, _t: NotSupportedError(
            "this subquery cannot be planned where it stands: EXISTS and IN (SELECT …) belong in WHERE, and one that "
            "refers to the row around it may only compare with = there. Write it as a join."
        ),
    ),
    (
        re.compile(r"This feature is not implemented: (.*)", re.S),
        lambda m, _: NotSupportedError(_SYNTAX_TREE.sub(" …", m.group(1).splitlines()[0])),
    ),
    (
        re.compile(r"No function matches the given name and argument types '([^']*)'"),
        lambda m, _: TypeMismatch(f"no function {m.group(1)}: its arguments have other types; add explicit casts"),
    ),
    (
        re.compile(
            r"failed to match any signature|[Cc]annot coerce|Cannot infer common|does not support zero arguments"
        ),
        lambda _, t: TypeMismatch(_signatures(t.splitlines()[0])),
    ),
    (re.compile(r"Cast error: (.*)"), lambda m, _: ExecutionError(m.group(1))),
    (
        re.compile(r"(No value found for placeholder .*|Placeholder .*|No placeholder .*)"),
        lambda m, _: InvalidArgument(m.group(1)),
    ),
    (re.compile(r"Divide by zero"), lambda _m, _t: ExecutionError("division by zero")),
    (
        re.compile(r"No such file or directory|FileNotFoundError|Parquet magic bytes|Not a parquet file|[Cc]orrupt"),
        lambda _, t: DataCorrupt(t.splitlines()[0]),
    ),
]
