"""The option DEFAULT_NAMESPACE: the namespace of names that have none."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Namespace, undotted

C = TypeVar("C")


def with_default(cls: type[C], option: str | None) -> type[C]:
    """Returns the class itself without the option; otherwise a subclass whose catalogs have this default namespace."""
    if option is None:
        return cls
    namespace = undotted(option)
    if not namespace or not all(namespace):
        raise InvalidArgument(f"option DEFAULT_NAMESPACE must be a namespace such as 'a.b', not {option!r}")
    found: type[C] = _subclass(cast("Any", cls), namespace)
    return found


@cache
def _subclass(cls: Any, namespace: Namespace) -> Any:
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "default_namespace": namespace})
