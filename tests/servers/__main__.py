"""Servers for people: `python -m tests.servers start NAME…` runs them until Ctrl-C and tells how to attach them."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.servers.all import SERVERS, with_needs
from tests.servers.base import Unavailable
from tests.servers.shared import SharedServers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, does in (("start", "run them until Ctrl-C"), ("install", "fetch them into the cache")):
        names = commands.add_parser(command, help=does)
        names.add_argument(
            "names", metavar="NAME", nargs="+", choices=[*SERVERS, "all"], help=", ".join([*SERVERS, "all"])
        )
    if sys.argv[1:2] == ["ahead"]:  # for `SharedServers.prepare` alone
        return ahead(SharedServers(Path(sys.argv[2]), int(sys.argv[3])), sys.argv[4:])
    chosen = parser.parse_args()
    names = with_needs(list(SERVERS) if "all" in chosen.names else chosen.names)
    return install(names) if chosen.command == "install" else start(names)


def install(names: list[str]) -> int:
    def one(name: str) -> bool:
        began = time.monotonic()
        try:
            SERVERS[name].install()
        except Unavailable as error:
            say(f"{name}: {error}")
            return False
        say(f"{name}: installed after {time.monotonic() - began:.1f} s")
        return True

    with ThreadPoolExecutor(len(names)) as pool:
        return 0 if all(pool.map(one, names)) else 1


def start(names: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    servers = SharedServers.new()
    try:
        for name in names:
            facts = servers.get(name)
            took = servers.seconds(name)
            say(f"{name} is ready (install {took['install']:.1f} s, start {took['start']:.1f} s)")
            for key, value in facts.items():
                say(f"  {key} = {value}")
            say(SERVERS[name].attach(facts))
        say("Ctrl-C stops them.")
        signal.pause()
    except Unavailable as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("")
    finally:
        servers.close()
    return 0


def ahead(servers: SharedServers, names: list[str]) -> int:
    """Get these ready, all at the same time; why one is not is told to whoever asks for it."""

    def one(name: str) -> None:
        with suppress(Unavailable):
            servers.get(name)

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(one, names))
    return 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
