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
        "Address of a Spark Connect server, `sc://host:15002`; by default a local Spark is started on first use.",
        None,
    )
    ui: str | None = documented(
        text,
        "Address of the web interface of the Spark at `remote`, such as `http://host:4040`, to show its executors and "
        "tasks in `system.runtime`. Not needed for a local Spark.",
        None,
    )
    spool: str | None = documented(
        text,
        "Directory or URI that both the Spark at `remote` and this process can access, for transferring large results. "
        "A local Spark uses a temporary directory.",
        None,
    )
    master: str | None = documented(
        text,
        "Master of a local Spark: `spark://host:7077` for a standalone cluster; by default it runs in its own process.",
        None,
    )
    driver_memory: int = documented(
        share_or_size(machine.memory),
        "Memory of a local Spark: `2GB`, or a share of the machine's such as `25%`.",
        factory=lambda: max(1 << 30, machine.memory() // 4),
        shown="25%",
    )
    executor_memory: int = documented(size, "Memory of each executor of the cluster at `master`.", 1 << 30)
    cores: int = documented(
        whole(1, 1024),
        "Number of concurrent tasks of a local Spark.",
        factory=machine.processors,
        shown="the number of processors",
    )
    threshold: int = documented(
        share_or_size(machine.memory),
        "With `SET engine = 'auto'`, statements that read more than this run on Spark: `20GB`, or a share of the "
        "machine's memory such as `50%`. Statements that join, group or sort already run there if they read more than "
        "`memory_limit` of `[engine]`.",
        factory=machine.memory,
        shown="100%",
    )
    start_timeout: float = documented(duration, "Time-out for starting a local Spark.", 180.0)
    cache: str | None = documented(
        text,
        "Directory for downloaded jars; by default the user's cache directory.",
        None,
    )
    offline: bool = documented(truth, "Whether to use only jars in the cache, without downloads.", False, shown="false")
