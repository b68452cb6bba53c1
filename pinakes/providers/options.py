"""Options of a catalog type: a frozen dataclass with documented fields, which is filled from ATTACH's key-value list.

A field of type `str`, `int`, `float` or `bool`, or one of them or None, is an option of the same name in upper case. A
field without a default is required. A class with `OPEN = True` ignores unknown options; `others_of` returns them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_type_hints

from pinakes.core.errors import InvalidArgument, OptionNotFound
from pinakes.core.names import Namespace, undotted
from pinakes.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue


Options = TypeVar("Options")

_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def option(doc: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Returns a field of an options dataclass, with the description that errors and the reference show."""
    return dataclasses.field(default=default, metadata={"doc": doc})


def parse_options(cls: type[Options], given: Mapping[str, OptionValue], what: str) -> Options:
    """Returns the options dataclass `cls` with the user's values. `what` names the catalog type in errors."""
    fields = {field.name.upper(): field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, value in given.items():
        field = fields.get(key.upper())
        if field is None and getattr(cls, "OPEN", False):
            continue
        if field is None:
            raise OptionNotFound(
                f"{what} has no option {key.upper()}.{did_you_mean(key, fields)} {_known_options(cls)}"
            )
        values[field.name] = _parse_value(key.upper(), value, hints[field.name], what)
    missing = [key for key, field in fields.items() if field.name not in values and _is_required(field)]
    if missing:
        raise InvalidArgument(f"{what} needs the option {', '.join(missing)}. {_known_options(cls)}")
    return cls(**values)


def others_of(cls: type[Options], given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Returns the options that are not fields of the class, with their names in lower case."""
    known = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    return {key.lower(): value for key, value in given.items() if key.lower() not in known}


def describe_options(cls: type[object]) -> list[tuple[str, str]]:
    """Returns (KEY, description) of each option, in order."""
    return [(field.name.upper(), str(field.metadata["doc"])) for field in dataclasses.fields(cls)]  # type: ignore[arg-type]


def _known_options(cls: type[object]) -> str:
    known = "; ".join(f"{key} ({doc})" for key, doc in describe_options(cls))
    return f"Options: {known}" if known else "It has no options."


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _parse_value(key: str, value: OptionValue, hint: Any, what: str) -> OptionValue:
    kinds = get_args(hint) or (hint,)
    if value is None and type(None) in kinds:
        return None
    kind = next(k for k in kinds if k is not type(None))
    try:
        return _convert(value, kind)
    except (ValueError, KeyError, TypeError):
        # The value may be a secret, so the message does not contain it.
        raise InvalidArgument(f"option {key} of {what} must be {_KINDS[kind]}") from None


def _convert(value: OptionValue, kind: type) -> OptionValue:
    if value is None or (isinstance(value, bool) and kind is not bool):
        raise TypeError
    if kind is bool:
        return value if isinstance(value, bool) else _WORDS[str(value).lower()]
    if kind is int and isinstance(value, float) and not value.is_integer():
        raise ValueError
    result: OptionValue = kind(value)
    return result


_KINDS: dict[type, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


# --- DEFAULT_NAMESPACE -------------------------------------------------------------------------------------------


C = TypeVar("C")


def with_default_namespace(cls: type[C], option: str | None) -> type[C]:
    """Returns the class itself without the option; otherwise a subclass whose catalogs have this default namespace."""
    if option is None:
        return cls
    namespace = undotted(option)
    if not namespace or not all(namespace):
        raise InvalidArgument(f"option DEFAULT_NAMESPACE must be a namespace such as 'a.b', not {option!r}")
    found: type[C] = _subclass_of(cast("Any", cls), namespace)
    return found


@cache
def _subclass_of(cls: Any, namespace: Namespace) -> Any:
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "default_namespace": namespace})
