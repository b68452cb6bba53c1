"""Workers that listen on a local socket."""

from __future__ import annotations

import os
import socket

from pinakes.worker.channel import Channel
from pinakes.worker.client.connection import PipeConnection
from pinakes.worker.exceptions import WorkerDied


def connect(path: str, timeout: float) -> PipeConnection:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.settimeout(timeout)
        try:
            made.connect(path)
        except OSError as error:
            raise WorkerDied(f"nothing answers at '{path}': {error.strerror or error}") from error
        reading = os.dup(made.fileno())
    return PipeConnection(Channel(reading, reading), lambda: "it hung up", lambda: None)
