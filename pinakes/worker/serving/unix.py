"""Requests over a local socket: a thread for each connection."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.worker.channel import Channel
from pinakes.worker.exceptions import WorkerDied
from pinakes.worker.serving.dispatch import Caller, Dispatcher
from pinakes.worker.serving.pipe import serve

if TYPE_CHECKING:
    from pinakes.worker.worker import Worker

LOGGER = logging.getLogger("pinakes.worker")


def serve_unix(worker: Worker, path: str, idle_timeout: float, max_connections: int) -> None:
    """Serves until no client was connected for `idle_timeout` seconds, if that is not 0. Only the same user may
    connect.
    """
    place = Path(path)
    if place.is_socket():
        place.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        before = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        listener.listen(max_connections)
        listener.settimeout(0.2)
        sys.stdout.write(f"UNIX:{path}\n")
        sys.stdout.flush()
        try:
            _accept(listener, worker.dispatcher(), idle_timeout, threading.BoundedSemaphore(max_connections))
        finally:
            place.unlink(missing_ok=True)


def _accept(
    listener: socket.socket, dispatcher: Dispatcher, idle_timeout: float, places: threading.BoundedSemaphore
) -> None:
    busy: set[threading.Thread] = set()
    used = time.monotonic()
    while True:
        busy = {thread for thread in busy if thread.is_alive()}
        used = time.monotonic() if busy else used
        if idle_timeout and time.monotonic() - used > idle_timeout:
            return
        try:
            connected, _ = listener.accept()
        except TimeoutError:
            continue
        if not places.acquire(blocking=False):
            connected.close()
            LOGGER.warning("a connection was refused: there are as many as may be")
            continue
        thread = threading.Thread(target=_serve, args=(connected, dispatcher, places), daemon=True)
        thread.start()
        busy.add(thread)


def _serve(connected: socket.socket, dispatcher: Dispatcher, places: threading.BoundedSemaphore) -> None:
    try:
        with connected:
            connected.setblocking(True)
            serve(Channel(connected.fileno(), connected.fileno(), patient=True), dispatcher, Caller())
    except WorkerDied as error:
        LOGGER.debug("a connection ended: %s", error)
    finally:
        places.release()
