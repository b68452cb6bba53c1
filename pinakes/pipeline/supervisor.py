"""The process that stands between us and a program that we start: it ends the program when we are gone, however.

    python keeper.py LOG COMMAND…

Its standard input is a pipe whose other end we hold: the system closes it with our process, also when that is killed.
The kernel kills the program if the keeper itself is killed, where it can (Linux). It stands in a session of its own, so
that a Ctrl-C that is meant for a statement does not reach the program. It is a program of the standard library alone,
because it must start fast.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 5.0


def main(log: str, command: list[str]) -> int:
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: os.write(tell, b"."))
    with Path(log).open("ab") as output:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, preexec_fn=_die_with_keeper
        )
    select.select([0, told], [], [])  # nobody writes to us: what comes is the end of whoever started us
    if program.poll() is None:
        program.terminate()
        try:
            program.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            program.kill()
    return program.wait()


def _die_with_keeper() -> None:
    with contextlib.suppress(OSError, AttributeError):  # a system without it has the pipe alone
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
