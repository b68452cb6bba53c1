"""Statements in a process with a limit on its address space, so that one that takes too much memory ends it.

    python -m tests.security.hostile_child GIGABYTES TIMEOUT < a JSON list of statements, or of [statement, parameters]

Prints a line of JSON for each statement: what became of it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time

from pinakes.config.serving import StatementLimits
from pinakes.core.errors import PinakesError
from pinakes.engine.execution.admission import Admission
from tests.engine.support import an_engine

MEMORY_LIMIT = 1 << 30


def main(gigabytes: int, timeout: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
    with an_engine(memory_limit=MEMORY_LIMIT, target_partitions=2) as engine:
        engine.admission = Admission(StatementLimits())  # as on a server
        session = engine.session()
        session.run(f"SET statement_timeout = {timeout}")
        for entry in json.load(sys.stdin):
            sql, parameters = (entry, None) if isinstance(entry, str) else entry
            begun = time.monotonic()
            answer: dict[str, object]
            try:
                result = session.run(sql, parameters)
                answer = {"rows": sum(batch.num_rows for batch in result)}
            except PinakesError as error:
                answer = {"code": error.code, "message": error.message}
            answer["seconds"] = round(time.monotonic() - begun, 1)
            answer["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    # A batch of a statement that has failed may still be computed. Its call of a Python function aborts a process that
    # ends meanwhile, which is not what is tested.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
