"""The sections of the configuration for running a server: `[server.statements]` and `[server.metrics]`.

They hold values only; `engine/execution/admission.py` applies the first, `server/endpoints.py` the second. A limit of 0
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
        "Maximum number of running statements; others wait, except those that read no table or one system table.",
        factory=_running,
        shown=f"the number of processors, at least {RUNNING}",
    )
    running_per_user: int = documented(
        whole(1),
        "Maximum number of running statements per user.",
        factory=_running_per_user,
        shown=f"three quarters of the processors, at least {PER_USER}",
    )
    queued: int = documented(whole(0), "Maximum number of waiting statements; further ones are refused.", 1000)
    queued_per_user: int = documented(whole(0), "Maximum number of waiting statements per user.", 200)
    queue_time: float = documented(duration, "Maximum waiting time, in seconds or as `5min`; 0 for no limit.", 300.0)
    timeout: float = documented(
        duration,
        "Maximum time of a statement including its waiting time, regardless of session settings, in seconds or as "
        "`1h`; 0 for no limit.",
        0.0,
    )
    text_size: int = documented(
        size, "Maximum length of a statement, in characters or as `1MB`; 0 for no limit.", 10_000_000
    )
    plan_relations: int = documented(
        whole(0),
        "Relations in the plan of a statement, with those of views and of WITH wherever they are read; 0 is no limit.",
        400,
    )
    plan_joins: int = documented(
        whole(0), "Joins in it: other users wait while DataFusion optimizes a plan; 0 is no limit.", 100
    )
    parameters_size: int = documented(
        size, "Maximum memory of the parameters of a statement, in bytes or as `256MB`.", 256 * 1024**2
    )
    results_per_user: int = documented(
        whole(1), "Maximum number of unfetched results per user; further statements are refused.", 100
    )
    sessions_per_user: int = documented(
        whole(1),
        "Maximum number of sessions (connections) per user; beyond it, the least recently used idle one is closed.",
        1000,
    )

    def workers(self, partitions: int) -> int:
        """Returns the number of DataFusion threads: enough for all running statements, and some for work that must not
        wait for them.
        """
        return min(MOST_WORKERS, self.running * partitions + max(4, partitions))


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """[server.metrics]: the endpoint of /health, /ready and /metrics"""

    enabled: bool = documented(truth, "Whether to serve /health, /ready and /metrics.", True)
    host: str = documented(
        text, "Address of the endpoint. It has no authentication, so be careful with other addresses.", "127.0.0.1"
    )
    port: int = documented(
        whole(0, 65_535), "Port of the endpoint; 0 chooses a free port, which is printed at start.", 31_338
    )
