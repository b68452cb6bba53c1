"""The shell's history: a file that only its owner can read, and no secret value in it."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from pinakes.parser import mask


def history_file() -> Path:
    return Path(platformdirs.user_state_dir("pinakes", appauthor=False)) / "history"


def open_history(path: Path | None = None) -> History:
    """The history in a file; one that is forgotten at exit when the file can't be written."""
    path = path or history_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError:
        return MaskedMemory()
    return MaskedHistory(str(path))


class MaskedHistory(FileHistory):
    def append_string(self, string: str) -> None:
        super().append_string(mask(string))


class MaskedMemory(InMemoryHistory):
    def append_string(self, string: str) -> None:
        super().append_string(mask(string))
