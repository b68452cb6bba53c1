"""[server]: limits on state kept for clients, its lifetime, and concurrent requests."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.core import machine
from pinakes.core.values import documented, duration, share_or_size, whole

_TTL = "Time after which an unused {} ends, in seconds or as `5min`."
_MOST = "Maximum number of {}; beyond it, the least recently used of the user who has most is removed."


def _lasting(value: object) -> float:
    """Parses a positive duration."""
    found = duration(value)
    if found <= 0:
        raise ValueError("a duration above 0, in seconds or as `5min`")
    return found


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """[server]: limits on state kept for clients, its lifetime, and concurrent requests"""

    most_calls: int = documented(
        whole(1),
        "Maximum number of concurrent calls; further calls fail and can be retried. Each call uses a thread.",
        256,
    )
    worker_threads: int | None = documented(
        whole(1, 1024),
        "Threads for all queries together. There are more threads than processors, so that long-running queries do not "
        "block others. The environment variable TOKIO_WORKER_THREADS takes precedence.",
        None,
        shown="enough for all concurrent statements, and some more",
    )
    process_memory: int = documented(
        share_or_size(machine.memory),
        "Memory of the process above which the statement that takes most is stopped: `12GB`, or a share of the "
        "machine's or the container's such as `90%`.",
        factory=lambda: machine.memory() * 9 // 10,
        shown="90%",
    )
    client_memory_per_user: int = documented(
        share_or_size(machine.memory),
        "Memory for one user besides running statements: prepared statements and their parameters, unfetched results, "
        "and messages that are being received. Beyond it, calls fail, and connections with larger messages are closed.",
        factory=lambda: machine.memory() // 10,
        shown="10%",
    )
    client_memory: int = documented(
        share_or_size(machine.memory),
        "The same for all users together.",
        factory=lambda: machine.memory() // 4,
        shown="25%",
    )
    drain_time: float = documented(
        duration,
        "Time for running statements to finish after SIGTERM, in seconds or as `5min`; 0 cancels them immediately.",
        20.0,
    )
    session_idle: float = documented(
        _lasting, "Time after which an unused session or login ends.", 8 * 3600.0, shown="8h"
    )
    session_age: float = documented(
        duration, "Maximum age of a session or login; 0 for no limit.", 24 * 3600.0, shown="24h"
    )
    most_sessions: int = documented(whole(1), _MOST.format("sessions"), 10_000)
    prepared_ttl: float = documented(_lasting, _TTL.format("prepared statement"), 3600.0)
    most_prepared: int = documented(whole(1), _MOST.format("prepared statements"), 10_000)
    transaction_ttl: float = documented(
        _lasting,
        _TTL.format("transaction of a client action") + " It is rolled back.",
        1800.0,
    )
    most_transactions: int = documented(whole(1), _MOST.format("transactions of client actions"), 10_000)
    result_ttl: float = documented(
        _lasting, "Time for which an unfetched result is kept, in seconds or as `5min`.", 600.0
    )
    most_results: int = documented(whole(1), _MOST.format("unfetched results"), 1_000)
