"""Processors and memory that this process may use, within the limits of a container."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_FALLBACK_MEMORY = 4 * 1024**3


def processors() -> int:
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory(limits: tuple[Path, ...] = _CGROUP_LIMITS) -> int:
    """Returns the memory that this process may use, in bytes: the smaller of the machine's and the container's."""
    return min([_physical_memory(), *(limit for path in limits if (limit := _limit(path)) is not None)])


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows, or a system that does not report it
        return _FALLBACK_MEMORY


def _limit(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:  # no such control group: nothing is limited
        return None
    return int(text) if text.isdigit() else None
