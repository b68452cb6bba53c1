"""What all tests share: the option --complete, and the long tests that only run when asked for."""

from __future__ import annotations

import os
import signal

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete", action="store_true", help="write the rows that the queries of *.slt files return into the files"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("PINAKES_LONG"):
        return
    skip = pytest.mark.skip(reason="long: set PINAKES_LONG=1")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
