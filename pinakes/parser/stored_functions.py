"""SQL functions as properties of a namespace. A form of a function is the statement that creates it, in the property
`pinakes.function.f.2` for `f` with two parameters, and if it is long also in `pinakes.function.f.2.1` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pinakes.core.errors import PinakesError
from pinakes.core.names import Part
from pinakes.parser.classify import classify
from pinakes.parser.statements import CreateFunction, FunctionForm

PREFIX = "pinakes.function."
"""The start of the keys of the properties that hold functions."""
NAME = re.compile(r"[^\W\d]\w*")
"""The names that a function may have."""
LONGEST = 20_000
"""Characters of the statement that creates a form of a function."""
_PIECE = 1000
"""Characters of a property: SQL catalogs on servers have columns of this length."""


def keys_of(name: str, arguments: int, known: Iterable[str]) -> list[str]:
    """Returns those of the known keys that hold a form of a function."""
    start = f"{PREFIX}{name}.{arguments}"
    return [key for key in known if key == start or (key.startswith(f"{start}.") and key[len(start) + 1 :].isdigit())]


def properties_of(name: str, arguments: int, text: str) -> dict[str, str]:
    """Returns the properties that hold a form of a function."""
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    start = f"{PREFIX}{name}.{arguments}"
    return {start if number == 0 else f"{start}.{number}": piece for number, piece in enumerate(pieces)}


def functions_in(properties: Mapping[str, str], wanted: Part | None = None) -> dict[str, list[FunctionForm]]:
    """Returns the functions that properties of a namespace hold, or those of the wanted name. A text that can't be read
    is left out: another program wrote it."""
    found: dict[str, list[FunctionForm]] = {}
    for key in sorted(properties):
        name, _, arguments = key.removeprefix(PREFIX).rpartition(".")
        if not key.startswith(PREFIX) or not NAME.fullmatch(name) or not arguments.isdigit():
            continue
        if wanted is not None and not wanted.matches(name):
            continue
        form = _read(_whole(key, properties))
        if form is not None and form.most == int(arguments):
            found.setdefault(name, []).append(form)
    for forms in found.values():
        forms.sort(key=lambda form: form.most)
    return found


def _whole(key: str, properties: Mapping[str, str]) -> str:
    pieces, number = [properties[key]], 1
    while (piece := properties.get(f"{key}.{number}")) is not None:
        pieces.append(piece)
        number += 1
    return "".join(pieces)


@lru_cache(maxsize=256)
def _read(text: str) -> FunctionForm | None:
    try:
        statement = classify(text)
    except PinakesError:
        return None
    return statement.forms[0] if isinstance(statement, CreateFunction) and len(statement.forms) == 1 else None
