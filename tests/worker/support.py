"""Workers for tests: programs in a temporary directory, started as anybody would start them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinakes.worker.client import Client
from pinakes.worker.client.catalog_mixin import CatalogClientMixin

EXAMPLES = Path(__file__).parents[2] / "examples" / "workers"


class CatalogClient(CatalogClientMixin, Client):
    """As the documentation has it."""


def command(path: Path, *arguments: str) -> str:
    """What LOCATION says for a program in Python."""
    return " ".join([sys.executable, str(path), *arguments])


def example(name: str) -> str:
    return command(EXAMPLES / f"{name}.py")


def program(directory: Path, text: str, name: str = "worker.py") -> Path:
    path = directory / name
    path.write_text(textwrap.dedent(text))
    return path


@contextmanager
def listening(path: Path, *arguments: str) -> Iterator[str]:
    """A worker that serves a socket or HTTP; its address as it prints it."""
    process = subprocess.Popen([sys.executable, str(path), *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        kind, _, address = process.stdout.readline().strip().partition(":")
        yield f"unix://{address}" if kind == "UNIX" else address
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


NUMBERS = """
    import pyarrow as pa
    from pinakes.worker import ScalarFunction, TableFunctionGenerator, Worker

    class Numbers(TableFunctionGenerator):
        '''So many numbers.'''
        ARGUMENTS = pa.schema([("n", pa.int64()), ("start", pa.int64())])
        DEFAULTS = {"start": 0}
        FIXED_SCHEMA = pa.schema([("i", pa.int64()), ("square", pa.int64())])
        PROJECTION_PUSHDOWN = FILTER_PUSHDOWN = True
        MAX_WORKERS = 3

        @classmethod
        def splits(cls, params):
            return range(6)

        @classmethod
        def process(cls, params, state, out):
            start = params.arguments["start"]
            found = range(start + params.split, start + params.arguments["n"], 6)
            rows = {"i": list(found), "square": [i * i for i in found]}
            out.emit(pa.RecordBatch.from_pydict({n: rows[n] for n in params.output_schema.names}))
            out.finish()

    class Endless(TableFunctionGenerator):
        FIXED_SCHEMA = pa.schema([("i", pa.int64())])

        @classmethod
        def process(cls, params, state, out):
            out.emit(pa.record_batch({"i": [1] * 1000}))

        @classmethod
        def on_cancel(cls, params, state):
            import pathlib, sys
            pathlib.Path(sys.argv[0]).with_name("canceled").touch()

    class Twice(ScalarFunction):
        '''Twice as much.'''
        ARGUMENTS = pa.schema([("x", pa.int64())])
        OUTPUT = pa.int64()

        @classmethod
        def compute(cls, params, x):
            return pa.array([None if v is None else 2 * v for v in x.to_pylist()], pa.int64())

    class Answer(ScalarFunction):
        OUTPUT = pa.int32()
        DETERMINISTIC = False

        @classmethod
        def compute(cls, params):
            return pa.scalar(42, pa.int32())

    class NumberWorker(Worker):
        catalog_name = "numbers"
        functions = [Numbers, Endless, Twice, Answer]

    if __name__ == "__main__":
        NumberWorker().run()
"""
