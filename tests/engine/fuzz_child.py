"""Runs spoilt statements in a process of its own, so that a crash or a hang of it is a finding and not the end.

    python -m tests.engine.fuzz_child SEED FIRST COUNT DIRECTORY

`DIRECTORY/now` always holds the statement that runs; each finding is a line of JSON on stdout; the last line counts.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from collections import Counter
from itertools import islice
from pathlib import Path

from pinakes.core.errors import InternalError, PinakesError
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.fuzz_corpus import PREPARE, READABLE, spoilt
from tests.engine.support import an_engine, chance, rows

BATCHES = 20
"""Batches that are read of a result: a huge number makes a huge series."""
EVERY = 200
"""After so many statements the catalog is looked after."""
ADDRESS_SPACE = 12 * 1024**3
"""What asks for more memory than this shall end this process, not the machine."""


def main(seed: int, first: int, count: int, directory: Path) -> None:
    os.chdir(directory)  # where a spoilt ATTACH may make something
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    outcomes: Counter[str] = Counter()
    now = directory / "now"
    with an_engine(directory / "lake", statement_timeout=5.0, memory_limit=200_000_000) as engine:
        session = renewed(engine)
        for number in range(first, first + count):
            sql = spoilt(chance(seed, number)).replace("${TMP}", str(directory))
            now.write_bytes(f"{number}: {sql}".encode("utf-8", "replace"))
            outcome, finding = attempt(session, sql)
            outcomes[outcome] += 1
            if finding:
                say({"number": number, "sql": sql, "finding": finding})
            if number % EVERY == EVERY - 1:
                session = renewed(engine)
        renewed(engine)
    say({"outcomes": outcomes})


def attempt(session: Session, sql: str) -> tuple[str, str]:
    """What became of a statement, and what is wrong with that: nothing unless it is a bug of ours."""
    try:
        result = session.run(sql, {"1": 1, "2": "two", "name": None})
        try:
            for _ in islice(result, BATCHES):
                pass
        finally:
            result.close()
    except InternalError as error:
        return error.code, "".join(traceback.format_exception(error))
    except PinakesError as error:
        return error.code, _unsayable(error, sql)
    except BaseException as error:  # noqa: BLE001 - anything else is what we look for
        return "BUG", "".join(traceback.format_exception(error))
    return "ok", ""


def _unsayable(error: PinakesError, sql: str) -> str:
    """An error must be something that can be told."""
    length = len(str(error).strip())
    return "" if 0 < length <= 10_000 + 3 * len(sql) else f"{error.code} says too little or too much: {length}"


def renewed(engine: Engine) -> Session:
    """The engine still answers: what was dropped or spoilt by a valid statement is made again, and is readable."""
    session = engine.session()
    home = engine.config.engine.data
    session.run(f"ATTACH IF NOT EXISTS '{home}' AS lake (TYPE sqlite, DEFAULT_NAMESPACE 'default')").close()
    if rows(session, "SELECT 42") != [(42,)]:
        raise AssertionError("the engine does not answer")
    for sql in PREPARE:
        try:
            session.run(sql).close()
        except PinakesError:
            _make_anew(session, sql)
    for sql in READABLE:
        rows(session, sql)
    return session


def _make_anew(session: Session, sql: str) -> None:
    """A statement renamed, retyped or dropped what this one needs: begin with an empty place."""
    for name in ("t", "s.p", "n", '"Mixed"', "v"):
        for what in ("TABLE", "VIEW"):
            try:
                session.run(f"DROP {what} {name}").close()
            except PinakesError:
                continue
    for earlier in PREPARE[: PREPARE.index(sql) + 1]:
        session.run(earlier).close()


def say(finding: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(finding) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]).absolute())
