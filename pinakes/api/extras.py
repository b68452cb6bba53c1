"""Libraries that are needed for some things only; a missing one is an error that says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pinakes.core.errors import NotSupportedError


def needed(library: str, what: str) -> Any:
    """The library that `what` needs."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:  # it is there, and something that it needs itself is not
            raise
        raise NotSupportedError(f"{what} needs {library}, which is not installed: pip install {library}") from error
