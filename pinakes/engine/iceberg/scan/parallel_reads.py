"""Reads metadata files in parallel, since each request to an object store takes a while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

AT_ONCE = 8
_POLL_SECONDS = 0.2


def read_in_parallel(read: Callable[[A], B], items: Sequence[A]) -> list[B]:
    """Reads all items in parallel and returns the results in order; raises the first error."""
    if len(items) < 2:
        return [read(item) for item in items]
    pool = ThreadPoolExecutor(min(AT_ONCE, len(items)), thread_name_prefix="pinakes-manifests")
    try:
        reads = [pool.submit(copy_context().run, read, item) for item in items]
        waiting = set(reads)
        while waiting:  # in Python, where an interrupt can surface
            done, waiting = wait(waiting, timeout=_POLL_SECONDS, return_when="FIRST_EXCEPTION")
            for one in done:
                one.result()
        return [one.result() for one in reads]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
