"""`make demo`: makes two catalogs, starts a server on them, tells the story, and leaves the server running.

Everything is below build/demo, made anew each time. `--once` stops the server at the end, `--port 0` takes a free one.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
from data import make_lake
from rich.console import Console
from rich.syntax import Syntax
from story import steps

HOME = Path("build/demo")
PINAKES = (sys.executable, "-m", "pinakes")
QUESTION = (
    "SELECT n_name, count(*) AS suppliers FROM tpch.supplier JOIN tpch.nation ON s_nationkey = n_nationkey GROUP BY 1"
)

console = Console(highlight=False)


def main() -> int:
    options = _options()
    begun = time.monotonic()
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir(parents=True)
    _title("Creating two catalogs: TPC-H at scale factor 0.1 as Iceberg tables, and ratings of a partner")
    for table, rows in make_lake(HOME / "lake", HOME / "partner"):
        console.print(f"  {table:30}{rows:>10,} rows")
    with _server(options.port) as uri:
        for step in steps(str(HOME / "partner")):
            _title(step.says)
            console.print(Syntax(step.sql, "sql", background_color="default"))
            subprocess.run((*PINAKES, "--uri", uri, "--no-rc", "-c", step.sql), check=True)
        _title("Query the server from Python with ADBC")
        _through_adbc(uri)
        _title(f"The demo took {time.monotonic() - begun:.0f} seconds. The server keeps running at {uri}")
        console.print(_next_steps(uri))
        if not options.once:
            _wait()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--port", type=int, default=31337, help="port of the server; 0 chooses a free port")
    parser.add_argument("--once", action="store_true", help="stop the server at the end")
    return parser.parse_args()


@contextmanager
def _server(port: int) -> Iterator[str]:
    """`pinakes serve` on the lake; its address is in the first line that it prints."""
    command = (*PINAKES, "serve", "--data", str(HOME / "lake"), "--port", str(port), "--metrics-port", "0")
    _title("Starting a server: pinakes serve --data build/demo/lake")
    with subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            first = server.stdout.readline().strip()
            if "grpc://" not in first:
                sys.exit(f"the server did not start: {first} {server.stdout.read().strip()}")
            console.print(f"  {first}")
            yield first.split()[2]
        finally:
            server.terminate()


def _through_adbc(uri: str) -> None:
    console.print(Syntax(f'adbc.connect("{uri}").cursor().execute("{QUESTION}")', "python", background_color="default"))
    with adbc.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(QUESTION)
        table = cursor.fetch_arrow_table()
    console.print(f"  {table.num_rows} rows of {table.schema.names}: {table.slice(0, 2).to_pylist()} …")


def _next_steps(uri: str) -> str:
    return (
        f"  pinakes --uri {uri}     connect the shell (.venv/bin/pinakes)\n"
        f"  jdbc:arrow-flight-sql://{uri.removeprefix('grpc://')}/?useEncryption=false"
        "     connect DBeaver: docs/how-to/connect-dbeaver.md\n"
        "  docs/tutorial.md     continue with the tutorial"
    )


def _wait() -> None:
    console.print("  Press Ctrl-C to stop it.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        console.print("stopped")


def _title(text: str) -> None:
    console.print(f"\n[bold cyan]{text}[/]")


if __name__ == "__main__":
    sys.exit(main())
