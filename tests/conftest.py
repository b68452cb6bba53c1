"""What all tests share: the option --complete, the order of files, the long tests, and the time by directory."""

from __future__ import annotations

import os
import signal
from collections import Counter, defaultdict
from itertools import groupby

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import junkdrawer

pytest_plugins = ["tests.servers.plugin"]

# How long an example takes says more about the machine than about us. To explain a failure, hypothesis traces every
# line, which is slow, and which Python 3.11 has been seen to spin in for ever.
# A change is judged by the same examples each time; the long run looks for new ones.
settings.register_profile(
    "pinakes",
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],
    derandomize=not os.environ.get("PINAKES_LONG"),
)
settings.load_profile("pinakes")
# It times the collector of garbage. A query that is interrupted just then would be interrupted in there, to no effect.
junkdrawer._gc_initialized = True

# Whoever runs the tests in the background may have told them to ignore Ctrl-C, which some of them press.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MANY = 20
"""Tests in a file, from which it has many."""
MANY_TO_SUM_UP = 1000
"""Tests in a run, from which the time by directory is printed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete", action="store_true", help="write the rows that the queries of *.slt files return into the files"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than processors: tests wait for servers, child processes and the disk, too."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get("PINAKES_LONG"):
        skip = pytest.mark.skip(reason="long: set PINAKES_LONG=1")
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(skip)
    if hasattr(config, "workerinput"):
        files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
        items[:] = [item for file in sorted(files, key=_turn) for item in file]


def _turn(tests: list[pytest.Item]) -> tuple[int, int]:
    """The place of a file in a run of several processes, which take whole files.

    Files with many quick tests are first, since servers are being installed and started meanwhile; then the slow ones,
    which may need a server; the small ones are last, so that no process has a long file when the others are done.
    """
    if any(item.get_closest_marker("slow") for item in tests):
        return 1, -len(tests)
    return (0 if len(tests) >= MANY else 2), -len(tests)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the time that tests took by directory, and the longest files: the budget of a run."""
    reports = [r for found in terminalreporter.stats.values() for r in found if isinstance(r, pytest.TestReport)]
    if len({report.nodeid for report in reports}) < MANY_TO_SUM_UP:
        return
    counts = Counter[str]()
    directories, files = defaultdict[str, float](float), defaultdict[str, float](float)
    for report in reports:
        file = report.nodeid.partition("::")[0]
        directory = "/".join(file.split("/")[:2])
        directories[directory] += report.duration
        files[file] += report.duration
        counts[directory] += report.when == "call"
    total = sum(directories.values())
    terminalreporter.section("time by directory")
    for directory, seconds in sorted(directories.items(), key=lambda entry: -entry[1]):
        terminalreporter.write_line(f"{seconds:8.1f} s {seconds / total:6.1%} {counts[directory]:6} tests  {directory}")
    terminalreporter.section("longest files")
    for file, seconds in sorted(files.items(), key=lambda entry: -entry[1])[:20]:
        terminalreporter.write_line(f"{seconds:8.1f} s  {file}")
