"""A request to read files: paths, format and options. `tables.py` opens them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.parser.statements import Bound, FileArgument, FileCall, TableCall


@dataclass(frozen=True, slots=True)
class Reading:
    """A request to read files. Without a format, the file extension decides. `what` names the function in errors."""

    paths: tuple[str, ...]
    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    what: str = ""

    @property
    def key(self) -> str:
        """A short key, equal for equal readings, for use in plans."""
        said = repr((self.format, self.paths, sorted(self.options.items(), key=lambda item: item[0])))
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def reading_of(call: FileCall, parameters: Mapping[int, Any]) -> Reading:
    """Returns the reading of a call; `parameters` are the values of its placeholders, by position in the text."""
    arguments = arguments_of(call, parameters)
    paths = arguments[0] if len(arguments) == 1 else None
    paths = (paths,) if isinstance(paths, str) else tuple(paths) if isinstance(paths, tuple | list) else ()
    if not paths or not all(isinstance(path, str) for path in paths):
        raise InvalidArgument(
            f"{call.name} takes one path or a list of them, as in {call.name}('data/*.{call.format}') or "
            f"{call.name}(['a.{call.format}', 'b.{call.format}']), and then its options by name"
        )
    options = options_of(call, parameters)
    if "NDJSON" in call.name.upper():
        options.setdefault("format", "newline_delimited")
    return Reading(paths, call.format, options, call.name)


def arguments_of(call: TableCall, parameters: Mapping[int, Any]) -> list[Any]:
    """Returns the positional arguments of a call."""
    return [_value(argument, parameters) for argument in call.arguments]


def options_of(call: TableCall, parameters: Mapping[int, Any]) -> dict[str, Any]:
    """Returns the named arguments of a call."""
    return {key: _value(a, parameters) for key, a in call.options}


def _value(argument: FileArgument, parameters: Mapping[int, Any]) -> Any:
    match argument:
        case Bound():
            bound = parameters[argument.span.start]
            return bound.as_py() if isinstance(bound, pa.Scalar) else bound
        case tuple():
            return tuple(_value(a, parameters) for a in argument)
        case dict():
            return {name: _value(a, parameters) for name, a in argument.items()}
    return argument
