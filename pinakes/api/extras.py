"""Optional libraries; a missing one is an error with the installation command."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pinakes.core.errors import NotSupportedError


def needed(library: str, what: str) -> Any:
    """Imports the library that `what` needs."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:  # the library exists, but one of its dependencies is missing
            raise
        raise NotSupportedError(f"{what} needs {library}, which is not installed: pip install {library}") from error
