"""[server]: limits on state kept for clients, its lifetime, and concurrent requests."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.core.values import documented, duration, whole

_TTL = "How long {} without being used, in seconds or as `5min`."
_MOST = "{} at most; for one more, the one unused for longest of the user who has most goes."


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
        whole(1), "Calls that are answered at a time; one more is told to try again. Each holds a thread.", 256
    )
    worker_threads: int | None = documented(
        whole(1, 1024),
        "Threads that compute, for all queries together. More than processors, so that queries which don't let go of "
        "theirs for long leave some to the others; the environment variable TOKIO_WORKER_THREADS goes before it.",
        None,
        shown="all that the statements that run at a time can keep busy, and some more",
    )
    drain_time: float = documented(
        duration,
        "How long a server that is told to stop waits for what runs, in seconds or as `5min`; 0 stops it at once.",
        20.0,
    )
    session_idle: float = documented(
        _lasting, "Time after which a session or a log-in that nobody used ends.", 8 * 3600.0, shown="8h"
    )
    session_age: float = documented(
        duration, "Time after which a session or a log-in ends, used or not; 0 is never.", 24 * 3600.0, shown="24h"
    )
    most_sessions: int = documented(whole(1), _MOST.format("Sessions"), 10_000)
    prepared_ttl: float = documented(_lasting, _TTL.format("a prepared statement is kept"), 3600.0)
    most_prepared: int = documented(whole(1), _MOST.format("Prepared statements"), 10_000)
    transaction_ttl: float = documented(
        _lasting,
        _TTL.format("a transaction that a client began by an action is kept") + " Then it is rolled back.",
        1800.0,
    )
    most_transactions: int = documented(whole(1), _MOST.format("Such transactions"), 10_000)
    result_ttl: float = documented(_lasting, "How long a result waits to be fetched, in seconds or as `5min`.", 600.0)
    most_results: int = documented(whole(1), _MOST.format("Results that wait"), 1_000)
