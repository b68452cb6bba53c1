"""Reads Spark's monitoring REST API: executors, and the tasks of running and ended statements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from pinakes.engine.remote.interface import RemoteNode, RemoteTask

_TIMEOUT = 20.0
_MOST_TASKS = 100_000
_STATES = {"SUCCESS": "FINISHED", "RUNNING": "RUNNING", "FAILED": "FAILED", "KILLED": "CANCELED", "PENDING": "PLANNED"}
_OPENER = build_opener(ProxyHandler({}))


class Ui:
    """`version` is Spark's version."""

    def __init__(self, address: str, version: str) -> None:
        self._api = f"{address.rstrip('/')}/api/v1/applications"
        self._version = version
        self._application = ""

    def nodes(self) -> list[RemoteNode]:
        return [self._node(found) for found in self._of("allexecutors") or ()]

    def tasks(self, query_id: str, user: str) -> list[RemoteTask]:
        """Returns the tasks of a statement, by the tag of its jobs."""
        jobs = [job for job in self._of("jobs") or () if any(t.endswith(query_id) for t in job.get("jobTags", ()))]
        if not jobs:
            return []
        hosts = {found["id"]: found["hostPort"] for found in self._of("allexecutors") or ()}
        stages = sorted({stage for job in jobs for stage in job["stageIds"]})
        return [task for stage in stages for task in self._stage(stage, query_id, user, hosts)]

    def _stage(self, stage: int, query_id: str, user: str, hosts: dict[str, str]) -> Iterator[RemoteTask]:
        for attempt in self._of(f"stages/{stage}") or ():
            number = attempt["attemptId"]
            for task in self._of(f"stages/{stage}/{number}/taskList?length={_MOST_TASKS}") or ():
                yield _task(task, f"{query_id}.{stage}.{number}", query_id, user, hosts)

    def _node(self, found: dict[str, Any]) -> RemoteNode:
        return RemoteNode(
            found["hostPort"],
            f"Spark {self._version}",
            _moment(found["addTime"]) or datetime.now(UTC),
            int(found["totalCores"]),
            int(found["maxMemory"]),
            "active" if found.get("isActive", True) else "shutdown",
        )

    def _of(self, what: str) -> Any:
        """Returns the answer of the API; None if there is none, such as for a stage that has not started, or if Spark
        has ended."""
        try:
            if not self._application:
                self._application = str(_get(self._api)[0]["id"])
            return _get(f"{self._api}/{self._application}/{what}")
        except (URLError, OSError, ValueError, IndexError):
            return None


def _get(address: str) -> Any:
    with _OPENER.open(address, timeout=_TIMEOUT) as answer:
        return json.load(answer)


def _task(task: dict[str, Any], stage_id: str, query_id: str, user: str, hosts: dict[str, str]) -> RemoteTask:
    metrics = task.get("taskMetrics") or {}
    read, written = metrics.get("inputMetrics") or {}, metrics.get("outputMetrics") or {}
    shuffle = metrics.get("shuffleReadMetrics") or {}
    wrote = metrics.get("shuffleWriteMetrics") or {}
    began = _moment(task["launchTime"]) or datetime.now(UTC)
    duration = int(task.get("duration") or 0)
    state = _STATES.get(str(task.get("status", "")).upper(), "RUNNING")
    return RemoteTask(
        query_id,
        user,
        hosts.get(str(task["executorId"]), str(task.get("host", ""))),
        stage_id,
        f"{stage_id}.{task['taskId']}",
        state,
        rows=int(read.get("recordsRead") or shuffle.get("recordsRead") or 0),
        bytes=int(read.get("bytesRead") or 0),
        output_rows=int(written.get("recordsWritten") or wrote.get("recordsWritten") or 0),
        output_bytes=int(written.get("bytesWritten") or wrote.get("bytesWritten") or 0),
        shuffled_bytes=int(shuffle.get("remoteBytesRead") or 0) + int(shuffle.get("localBytesRead") or 0),
        milliseconds=duration,
        created=began,
        ended=None
        if state in ("RUNNING", "PLANNED")
        else datetime.fromtimestamp(began.timestamp() + duration / 1000, UTC),
    )


def _moment(text: str | None) -> datetime | None:
    """Parses Spark's format: 2026-11-17T05:00:00.123GMT."""
    if not text:
        return None
    return datetime.strptime(text.removesuffix("GMT") + "+0000", "%Y-%m-%dT%H:%M:%S.%f%z")
