"""Databases refuse to run as root; then they run as `nobody`, in directories that are nobody's."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.servers.base import Unavailable


def owned_by_nobody(path: Path) -> Path:
    path.mkdir(mode=0o700)
    path.parent.chmod(0o755)
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return path


def as_nobody(arguments: Sequence[str | Path], text: str = "") -> None:
    """Run a command that must succeed, as nobody if we are root."""
    nobody = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    done = subprocess.run(
        [str(argument) for argument in arguments],
        input=text,
        user=nobody.pw_uid if nobody else None,
        group=nobody.pw_gid if nobody else None,
        extra_groups=[] if nobody else None,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"{Path(arguments[0]).name} failed: {(done.stderr or done.stdout).strip()[-500:]}")
