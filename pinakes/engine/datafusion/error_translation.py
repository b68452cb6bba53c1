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
    ExecutionError,
    InternalError,
    ParseError,
    PinakesError,
    Position,
    QueryCanceled,
    QueryTimeout,
)
from pinakes.engine.datafusion.error_rules import by_rule, misspelt
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
    """Clear the frames of the error of a cancelled query: a plan with a subquery keeps running for as long as an object
    holds the plan, and errors are often kept."""
    if isinstance(error, QueryCanceled | QueryTimeout):
        seen: BaseException | None = error
        while seen is not None:
            traceback.clear_frames(seen.__traceback__)
            seen = seen.__cause__ or seen.__context__


def is_panic(error: BaseException) -> bool:
    """Whether DataFusion panicked. Such an error is not an Exception."""
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
    if isinstance(error, OSError | MemoryError) and (known := translate_foreign(error, "this statement")) is not None:
        return known
    if not isinstance(error, ValueError | OSError | pa.ArrowException) and type(error) is not Exception:
        return InternalError(f"{type(error).__name__}: {error}")
    from pinakes.engine.datafusion.store_errors import store_error  # only when something went wrong

    if (of_store := store_error(error)) is not None:
        return of_store
    text = _clean(_cut(str(error)))
    if (known := by_rule(text)) is not None:
        return known
    found = _PARSE.search(text)
    if found:
        line, column = int(found.group(2)), int(found.group(3))
        said = f"syntax error: {found.group(1).strip()}{misspelt(found.group(1))}"
        return ParseError(said, position=locate(line, column) if locate else None)
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
_BUG_NOTE = re.compile(r"\.?\s*This issue was likely caused by a bug in DataFusion's code\..*", re.DOTALL)
_TRACEBACK = re.compile(r"\. Detail: Python exception: .*", re.DOTALL)
"""What Arrow adds to an error that was raised in Python code and came through a stream."""
_PARSE = re.compile(r"(?:ParserError|TokenizerError)\(\"(.*?) at Line: (\d+), Column: (\d+)", re.DOTALL)

_PARSE_NOWHERE = re.compile(r"ParserError\(\"(.*)\"\)", re.DOTALL)


LONGEST = 20_000
"""Characters of a message that are read: one may repeat a text of a statement, which has megabytes."""


def _cut(text: str) -> str:
    """The beginning and the end of a message that is too long, where its words are."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def _clean(text: str) -> str:
    """The message without the names of the layers it came through."""
    text = _TRACEBACK.sub("", text).strip().rsplit("\ncaused by\n", 1)[-1]
    while True:
        shorter = _PREFIXES.sub("", text, count=1).lstrip() if _PREFIXES.match(text) else text
        if shorter == text:
            return _BUG_NOTE.sub("", text)
        text = shorter
