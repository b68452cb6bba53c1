"""[spark] of the configuration: the Spark to connect to, and when it is selected."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.core import machine
from pinakes.core.values import documented, duration, share_or_size, size, text, truth, whole


def _remote(value: object) -> str:
    found = text(value)
    if not found.startswith("sc://"):
        raise ValueError("an address of Spark Connect such as sc://host:15002")
    return found


@dataclass(frozen=True, slots=True)
class SparkConfig:
    """[spark]"""

    remote: str | None = documented(
        _remote,
        "Address of a Spark Connect server, `sc://host:15002`; without it a local one is started at the first need.",
        None,
    )
    ui: str | None = documented(
        text,
        "Address of the web interface of the Spark at `remote`, such as `http://host:4040`: its executors and tasks "
        "are then in `system.runtime`. That of a local Spark is known.",
        None,
    )
    spool: str | None = documented(
        text,
        "Directory or URI that both the Spark at `remote` and this process can reach: large results go through files "
        "there. A local Spark uses a temporary directory.",
        None,
    )
    master: str | None = documented(
        text,
        "Where a Spark that is started here runs its work: `spark://host:7077` for a standalone cluster; in its own "
        "process if not set.",
        None,
    )
    driver_memory: int = documented(
        share_or_size(machine.memory),
        "Memory of a Spark that is started here: `2GB`, or a share of the machine's such as `25%`.",
        factory=lambda: max(1 << 30, machine.memory() // 4),
        shown="25%",
    )
    executor_memory: int = documented(size, "Memory of each executor of a cluster at `master`.", 1 << 30)
    cores: int = documented(
        whole(1, 1024),
        "Tasks that a Spark in its own process runs at the same time.",
        factory=machine.processors,
        shown="the number of processors",
    )
    threshold: int = documented(
        share_or_size(machine.memory),
        "With `SET engine = 'auto'`, a statement whose scans plan to read more than this goes to Spark: `20GB`, or a "
        "share of the machine's memory such as `50%`. One that joins, groups or sorts goes there already when it plans "
        "to read more than `memory_limit` of `[engine]`.",
        factory=machine.memory,
        shown="100%",
    )
    start_timeout: float = documented(duration, "How long the start of a local Spark may take.", 180.0)
    cache: str | None = documented(
        text,
        "Directory in which the jars that Spark needs are kept once they were fetched; the user's cache directory if "
        "not set.",
        None,
    )
    offline: bool = documented(truth, "Never fetch jars: only those in the cache are used.", False, shown="false")
