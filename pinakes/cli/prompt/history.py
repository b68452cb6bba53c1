"""The shell's history: a file that only its owner can read, with secrets redacted."""

from __future__ import annotations

import logging
from pathlib import Path

import platformdirs
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from pinakes.parser import mask

log = logging.getLogger(__name__)


def history_file() -> Path:
    return Path(platformdirs.user_state_dir("pinakes", appauthor=False)) / "history"


def open_history(path: Path | None = None) -> History:
    """Opens the history file; falls back to memory if it can't be written."""
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

    def store_string(self, string: str) -> None:
        try:
            super().store_string(string)
        except OSError as error:  # disk full or directory removed: the history stays in memory
            log.debug("the history could not be written", exc_info=error)


class MaskedMemory(InMemoryHistory):
    def append_string(self, string: str) -> None:
        super().append_string(mask(string))
