"""The supervisor process of a program that Pinakes starts: it ends the program when the Pinakes process ends for any
reason.

    python supervisor.py LOG COMMAND…

Its standard input is a pipe that the Pinakes process holds open: the system closes it when that process ends, also when
it is killed. On Linux the kernel kills the program if the supervisor itself is killed. The supervisor runs in its own
session, so that a Ctrl-C for a statement does not reach the program. It uses the standard library only, to start fast.
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
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: os.write(writable, b"."))
    with Path(log).open("ab") as output:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, preexec_fn=_die_with_supervisor
        )
    select.select([0, readable], [], [])  # no data is sent on the pipe: it becomes readable when the parent ends
    if program.poll() is None:
        program.terminate()
        try:
            program.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            program.kill()
    return program.wait()


def _die_with_supervisor() -> None:
    with contextlib.suppress(OSError, AttributeError):  # other systems rely on the pipe alone
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
