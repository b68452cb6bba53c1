"""The process that stands beside one server: it starts it, and ends it when told to or when its owner is gone.

    python keeper.py OWNER_PID LOG_FILE JSON

JSON is {"arguments", "environment", "directory", "signal", "user", "remove"}; the last goes with the owner. The keeper
runs in a session of its own, so that a Ctrl-C meant for the tests doesn't reach the server; the kernel kills the
server if the keeper is killed. It is a program of the standard library alone, because it must start fast.
"""

from __future__ import annotations

import ctypes
import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 20


def main() -> int:
    owner, log, text = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    order = json.loads(text)
    told, tell = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(tell, b"."))
    signal.signal(signal.SIGCHLD, lambda *_: os.write(tell, b"."))
    try:
        watched = os.pidfd_open(owner)
    except ProcessLookupError:
        return 0
    with log.open("ab") as output:
        server = subprocess.Popen(
            order["arguments"],
            env=os.environ | order["environment"],
            cwd=order["directory"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: become(order["user"]),
        )
    ready, _, _ = select.select([told, watched], [], [])
    if server.poll() is None:
        end(server, order["signal"])
    if watched in ready:  # nobody is left to clear up
        shutil.rmtree(order["remove"], ignore_errors=True)
    return server.returncode or 0


def become(user: str | None) -> None:
    """In the child: be another user, if asked for; then die with the keeper (the first would undo the second)."""
    os.setpgrp()
    if user:
        entry = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end(server: subprocess.Popen[bytes], gentle: int) -> None:
    os.killpg(server.pid, gentle)
    try:
        server.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
