"""Runs many files in one child process at a time, and adds up what became of their statements.

The child runs file after file. One that takes too long, or that ends the process, is given up, and a new child goes on.
"""

from __future__ import annotations

import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.corpora.one_file import CLASSES, WRONG, Outcome, limited

FILE_SECONDS = 60.0
"""Processor time of a file before it is given up."""


@dataclass
class Report:
    """What became of the statements of all files."""

    by_feature: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[tuple[Path, Outcome]] = field(default_factory=list)
    given_up: list[tuple[Path, str]] = field(default_factory=list)

    def add(self, feature: str, path: Path, outcome: Outcome) -> None:
        self.by_feature.setdefault(feature, Counter())[outcome.kind] += 1
        if outcome.kind == WRONG:
            self.wrong.append((path, outcome))

    def table(self) -> str:
        """Statements by feature and class."""
        width = max((len(f) for f in self.by_feature), default=0) + 2
        heads = [c for c in CLASSES if any(counts[c] for counts in self.by_feature.values())]
        lines = [" " * width + "  ".join(heads)]
        total: Counter[str] = Counter()
        for feature, counts in sorted(self.by_feature.items()):
            total.update(counts)
            lines.append(feature.ljust(width) + "  ".join(str(counts[h]).rjust(len(h)) for h in heads))
        lines.append("total".ljust(width) + "  ".join(str(total[h]).rjust(len(h)) for h in heads))
        return "\n".join(lines)


def files_below(directory: Path) -> list[Path]:
    """All sqllogictest files, the slow ones of DuckDB apart."""
    return [directory] if directory.is_file() else sorted(directory.rglob("*.test"))


def sample(files: Sequence[Path], size: int | None, seed: int) -> list[Path]:
    if size is None or size >= len(files):
        return list(files)
    return sorted(random.Random(seed).sample(list(files), size))


def run_files(
    files: Sequence[Path],
    directory: Path,
    progress: Callable[[Path, Sequence[Outcome]], object] = lambda *_: None,
    queries: int | None = None,
) -> Report:
    """Run files, one at a time, and at most so many `queries` of each; `progress` gets the outcomes of each."""
    report = Report()
    root = corpus_root(directory)
    child: _Child | None = None
    for path in files:
        child = child or _Child(root, queries)
        outcomes: list[Outcome] = []
        try:
            for outcome in child.run(path):
                outcomes.append(outcome)
                report.add(_feature(path, directory), path, outcome)
        except _GivenUp as error:
            report.given_up.append((path, str(error)))
            child.end()
            child = None
        progress(path, outcomes)
    if child is not None:
        child.end()
    return report


def corpus_root(directory: Path) -> Path:
    """The directory that paths within the files start from: that beside whose `test` a directory `data` lies."""
    for parent in (directory, *directory.parents):
        if (parent / "data").is_dir() and (parent / "test").is_dir():
            return parent
    return directory if directory.is_dir() else directory.parent


def _feature(path: Path, directory: Path) -> str:
    parts = path.relative_to(directory).parts[:-1] if directory.is_dir() else ()
    return "/".join(parts[:2]) or "."


class _GivenUp(Exception):
    """A file that took too long, or ended the process."""


class _Child:
    """A process that runs files. It tells of each statement at once, so that little is lost with it."""

    def __init__(self, root: Path, queries: int | None) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.corpora.runs", *([] if queries is None else [str(queries)])],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def run(self, path: Path) -> Iterator[Outcome]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path.absolute()}\n")
        self.process.stdin.flush()
        over = threading.Event()
        with limited(FILE_SECONDS, self._used, lambda: (over.set(), self.lines.put(None))):
            while True:
                line = self.lines.get()
                if line is None:
                    raise _GivenUp("it took too long" if over.is_set() else "the process ended")
                if line == "done\n":
                    return
                if line.startswith("{"):
                    yield Outcome(**json.loads(line))

    def _used(self) -> float:
        """The processor time of the process; what it had used counts no more once it has ended."""
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return 0.0
        return float(times.user + times.system)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


def main() -> None:
    """The child: paths come in, outcomes go out."""
    from tests.corpora.one_file import run_file
    from tests.engine.support import an_engine

    queries = int(sys.argv[1]) if len(sys.argv) > 1 else None
    out = sys.stdout
    sys.stdout = sys.stderr  # what libraries print is no outcome
    for line in sys.stdin:
        tmp = Path(tempfile.mkdtemp(prefix="pinakes-corpus-"))
        try:
            with an_engine(tmp / "data", target_partitions=2) as engine:
                for outcome in run_file(Path(line.rstrip("\n")), Path.cwd(), engine, tmp, queries):
                    _tell(out, outcome.as_json())
        finally:
            shutil.rmtree(tmp, ignore_errors=True)
        out.write("done\n")
        out.flush()


def _tell(out: Any, outcome: dict[str, Any]) -> None:
    out.write(json.dumps(outcome) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
