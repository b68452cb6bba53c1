"""The sections of the configuration for running a server: `[server.statements]` and `[server.metrics]`.

They hold values only; `engine/execution/admission.py` applies the first, `flight/operations` the second. A limit of 0
means no limit.
"""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.core import machine
from pinakes.core.values import documented, duration, size, text, truth, whole

RUNNING, PER_USER = 8, 6
MOST_WORKERS = 512


def _running() -> int:
    return max(RUNNING, machine.processors())


def _running_per_user() -> int:
    return max(PER_USER, machine.processors() * 3 // 4)


@dataclass(frozen=True, slots=True)
class StatementLimits:
    """[server.statements]: limits on the number, size and duration of statements"""

    running: int = documented(
        whole(1),
        "Statements that run at the same time; more wait. What reads no table, or one system table only, never waits.",
        factory=_running,
        shown=f"the number of processors, at least {RUNNING}",
    )
    running_per_user: int = documented(
        whole(1),
        "How many of them may be one user's.",
        factory=_running_per_user,
        shown=f"three quarters of the processors, at least {PER_USER}",
    )
    queued: int = documented(whole(0), "Statements that may wait; one more is refused.", 1000)
    queued_per_user: int = documented(whole(0), "How many of them may be one user's.", 200)
    queue_time: float = documented(
        duration, "How long one waits before it is refused, in seconds or as `5min`; 0 is for ever.", 300.0
    )
    timeout: float = documented(
        duration,
        "Time after which a statement is stopped whatever its session has set, with the time that it waited, in "
        "seconds or as `1h`; 0 is never.",
        0.0,
    )
    text_size: int = documented(
        size, "Length of a statement's text at most, in characters or as `1MB`; 0 is no limit.", 10_000_000
    )
    parameters_size: int = documented(
        size, "Memory that the values of one statement's parameters may take, in bytes or as `256MB`.", 256 * 1024**2
    )
    results_per_user: int = documented(
        whole(1), "Results of one user that may wait to be fetched; a statement more is refused.", 100
    )
    sessions_per_user: int = documented(
        whole(1), "Sessions (connections) of one user; for one more, the idle one unused for longest is closed.", 1000
    )

    def workers(self, partitions: int) -> int:
        """Returns the number of DataFusion threads: enough for all running statements, and some for work that must not
        wait for them.
        """
        return min(MOST_WORKERS, self.running * partitions + max(4, partitions))


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """[server.metrics]: the endpoint of /health, /ready and /metrics"""

    enabled: bool = documented(truth, "Whether it tells at all.", True)
    host: str = documented(
        text, "Address that it tells it on. There is no authentication: think before it is another.", "127.0.0.1"
    )
    port: int = documented(
        whole(0, 65_535), "Port that it tells it on; 0 is any that is free, and is told at start.", 31_338
    )
