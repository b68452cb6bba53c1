"""What the benchmarks share: two contestants in turns, medians of wall and CPU time, and the promise beside them.

Rounds are interleaved, so that whatever else the machine does hits both alike; the ratio is what to look at, and the
CPU time where others share the machine. `make bench` runs every file here whose name does not begin with `_`.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parents[1]))  # some take from `tests` what the engine itself can't make


@dataclass(frozen=True, slots=True)
class Times:
    """Medians per call, in seconds. CPU is of this process and of those it started, with all their threads."""

    wall: float
    cpu: float


def compare(
    ours: Callable[[], object], peer: Callable[[], object], *, rounds: int = 15, calls: int = 1
) -> tuple[Times, Times]:
    """Run both in turns, `calls` times per round, after one round that does not count."""
    taken: tuple[list[Times], list[Times]] = ([], [])
    for number in range(rounds + 1):
        for side, call in enumerate((ours, peer)):
            times = timed(call, calls)
            if number:
                taken[side].append(times)
    mine, theirs = (Times(median(t.wall for t in side), median(t.cpu for t in side)) for side in taken)
    return mine, theirs


@dataclass(frozen=True, slots=True)
class Added:
    """Seconds of wall time that single calls take more than the peer's: as a rule, and where nothing else got in the
    way of either."""

    usual: float
    best: float


def added(ours: Callable[[], float], peer: Callable[[], float], *, calls: int = 300) -> Added:
    """The medians and the shortest of single calls in turns; each tells its own seconds."""
    mine, theirs = zip(*((ours(), peer()) for _ in range(calls)), strict=True)
    return Added(median(mine) - median(theirs), min(mine) - min(theirs))


def promise_added(words: str, more: Added, limit: float) -> None:
    """The promise is that of the median; the best is told beside it."""
    promise(f"{words}, median", more.usual * 1e3, limit, " ms")
    print(f"         at best: {more.best * 1e3:.3g} ms")


def calibrate(rounds: int = 30) -> None:
    """How quick the machine is, and how busy: a loop of Python alone, at its best and in the median."""
    taken = [timed(lambda: sum(range(1_000_000)), 1).wall for _ in range(rounds)]
    best, usual = min(taken) * 1e3, median(taken) * 1e3
    print(f"calibration: a million numbers are summed in {best:.1f} ms at best, in {usual:.1f} ms in the median")


def report(name: str, ours: Times, peer: Times, peer_name: str) -> None:
    """One line per contestant, and the ratios."""
    print(f"{name}")
    print(f"  ours   {_shown(ours)}")
    print(f"  peer   {_shown(peer)}   ({peer_name})")
    print(f"  ratio  wall {ours.wall / peer.wall:8.2f}      cpu {ours.cpu / max(peer.cpu, 1e-9):8.2f}")


def promise(words: str, value: float, limit: float, unit: str = "") -> None:
    """The promise, what was measured and whether it is kept."""
    print(f"  {'kept' if value <= limit else 'MISSED':6} {words}: {value:.3g}{unit} (at most {limit:g}{unit})")


def timed(call: Callable[[], object], calls: int) -> Times:
    cpu, wall = _cpu(), time.perf_counter()
    for _ in range(calls):
        call()
    return Times((time.perf_counter() - wall) / calls, (_cpu() - cpu) / calls)


def _cpu() -> float:
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def _shown(times: Times) -> str:
    return f"wall {_scaled(times.wall)}   cpu {_scaled(times.cpu)}"


def _scaled(seconds: float) -> str:
    for factor, unit in ((1.0, "s "), (1e-3, "ms")):
        if seconds >= factor:
            return f"{seconds / factor:8.2f} {unit}"
    return f"{seconds / 1e-6:8.2f} µs"
