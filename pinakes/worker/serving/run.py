"""`Worker.run()`: the command line of a worker, and its transports.

./my-worker                       standard input and output
./my-worker --unix /run/w.sock    a local socket; prints UNIX:<path> once it listens
./my-worker --http --port 8080    HTTP; prints HTTP:<address> once it listens
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.worker.channel import Channel
from pinakes.worker.exceptions import WorkerDied
from pinakes.worker.serving.dispatch import Caller
from pinakes.worker.serving.pipe import serve

if TYPE_CHECKING:
    from pinakes.worker.worker import Worker


def run(worker: Worker, argv: Sequence[str] | None = None) -> None:
    arguments = _parsed(argv)
    logging.basicConfig(
        stream=sys.stderr, level=arguments.log_level.upper(), format="%(levelname)s %(name)s: %(message)s"
    )
    if arguments.http:
        from pinakes.worker.serving.http import serve_http

        serve_http(worker, arguments)
    elif arguments.unix:
        from pinakes.worker.serving.unix import serve_unix

        serve_unix(worker, arguments.unix, arguments.idle_timeout, arguments.max_connections)
    else:
        _serve_standard(worker)


def _serve_standard(worker: Worker) -> None:
    """Serves on standard input and output. The protocol uses standard output exclusively: the worker's prints go to
    standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process, which then ends this one
    out = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        serve(Channel(0, out, patient=True), worker.dispatcher(), Caller())
    except WorkerDied:
        return  # the caller has closed the connection


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A worker: it serves catalogs and functions (VGI worker protocol).")
    add = parser.add_argument
    add("--unix", metavar="PATH", help="serve on a socket of this machine")
    add("--http", action="store_true", help="serve over HTTP")
    add("--host", default="127.0.0.1", help="address to serve HTTP on")
    add("--port", type=int, default=0, help="port to serve HTTP on; 0 is any free one")
    add("--prefix", default="", help="path that stands before the protocol's in addresses")
    add("--port-file", metavar="PATH", help="write the port here once it is open")
    add("--token-file", metavar="PATH", help="bearer tokens that are let in over HTTP: lines of 'name token'")
    add("--seal-key-file", metavar="PATH", help="a secret that several processes over HTTP share")
    add("--idle-timeout", type=float, default=0.0, help="end after so many seconds without a connection; 0 is never")
    add("--max-connections", type=int, default=64, help="connections at the same time")
    add("--log-level", default="info", choices=("debug", "info", "warning", "error"))
    return parser.parse_args(argv)
