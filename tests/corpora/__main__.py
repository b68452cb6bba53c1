"""python -m tests.corpora DIR: what becomes of the statements of sqllogictest files, by feature, and the wrong ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.corpora.one_file import CLASSES, WRONG, Outcome
from tests.corpora.runs import files_below, run_files, sample


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora", description=__doc__)
    parser.add_argument("directory", type=Path, help="a directory of *.test files, or one such file")
    parser.add_argument("--sample", type=int, metavar="N", help="run N files only")
    parser.add_argument("--seed", type=int, default=1, help="which N files (1)")
    parser.add_argument("--queries", type=int, metavar="N", help="run about N queries of each file only")
    parser.add_argument("--show", action="append", choices=CLASSES, default=[], help="write out these, too")
    options = parser.parse_args()
    directory = options.directory.absolute()
    files = sample(files_below(directory), options.sample, options.seed)

    def progress(path: Path, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.kind == WRONG or outcome.kind in options.show:
                sys.stdout.write(f"{outcome.kind}: {path}:{outcome.line}\n{outcome.sql}\n{outcome.detail}\n\n")
        sys.stdout.flush()

    report = run_files(files, directory, progress, options.queries)
    for path, reason in report.given_up:
        sys.stdout.write(f"given up: {path}: {reason}\n")
    sys.stdout.write(f"\n{report.table()}\n")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
