"""Promise: dbt costs less than 150 ms per model over the same statement through ADBC; eight threads build 40 small
models in at most half the time of one; and the docs of a project of 500 models, in a lake of 100,000 tables, ask the
catalog for those 500 only.

The peer is the driver alone: `CREATE OR REPLACE TABLE … AS` of the same query by an ADBC cursor. `dbt.py lake` and
`dbt.py models` choose.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import requests
from _harness import promise
from _wide_catalog import fill_sqlite, template

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from tests.dbt.projects import Outcome, Project
from tests.flight.serving import Serving, serving

MODELS, ROUNDS = 40, 3
SPACES = 5
QUERY = "select x % 10 as k, count(*) as n from generate_series(1, 1000) as t(x) group by 1"
SCHEMA = "{% macro generate_schema_name(name, node) %}{{ name or target.schema }}{% endmacro %}"


def main() -> None:
    chosen = sys.argv[1:] or ["models", "lake"]
    with TemporaryDirectory() as place:
        if "models" in chosen:
            models(Path(place))
        if "lake" in chosen:
            lake(Path(place))


# --- time per model ------------------------------------------------------------------------------------------------


def models(place: Path) -> None:
    with serving(data=str(place / "few")) as server:
        project = Project(place / "models", server.port)
        for number in range(MODELS):
            project.models(**{f"m{number:02}": "{{ config(materialized='table') }} " + QUERY})
        built(project, 1)  # the server imports, the statements are known
        bare = statistics.median(bare_statement(server) for _ in range(MODELS))
        one, eight, each = [], [], []
        for _ in range(ROUNDS):
            alone = built(project, 1)
            one.append(alone.elapsed)
            each += [node["execution_time"] for node in alone.nodes.values()]
            eight.append(built(project, 8).elapsed)
    print(f"the statement alone {bare * 1e3:.0f} ms, as a model {statistics.median(each) * 1e3:.0f} ms")
    promise("dbt's part of a model", (statistics.median(each) - bare) * 1e3, 150, " ms")
    print(f"{MODELS} models: one thread {min(one):.1f} s, eight {min(eight):.1f} s")
    promise("eight threads, of one thread's time", min(eight) / min(one), 0.5, "")


class Built(Outcome):
    elapsed: float


def built(project: Project, threads: int) -> Built:
    done = project.dbt("run", "--threads", str(threads))
    assert done.code == 0, done.output
    results = json.loads((project.directory / "target" / "run_results.json").read_text())
    outcome = Built(done.code, done.output, results)
    outcome.elapsed = results["elapsed_time"]
    return outcome


def bare_statement(server: Serving) -> float:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchall()
        began = time.perf_counter()
        cursor.execute(f"CREATE OR REPLACE TABLE lake.proj.m00 AS {QUERY}")
        return time.perf_counter() - began


# --- calls in a large lake -----------------------------------------------------------------------------------------


def lake(place: Path) -> None:
    data = place / "wide"
    with open_engine(parse_config(f"[engine]\ndata = '{data}'", place)) as engine:
        location = template(engine.session(), "lake")
    fill_sqlite(next(data.glob("*.db")), location, range(1000))
    with serving(data=str(data)) as server:
        project = Project(place / "docs", server.port, schema="ns0000", threads=4)
        project.write("macros/schema.sql", SCHEMA)
        for number in range(SPACES * 100):
            space, table = divmod(number, 100)
            name = f"t{space:04}_{table:05}"
            project.models(**{name: f"{{{{ config(materialized='table', schema='ns{space:04}') }}}} select 1 as a"})
        before = calls(server)
        done = project.dbt("docs", "generate")
        assert done.code == 0, done.output
        made = {name: count - before.get(name, 0) for name, count in calls(server).items()}
    catalog = json.loads((project.directory / "target" / "catalog.json").read_text())
    told = {name: count for name, count in made.items() if count}
    print(f"docs of {len(catalog['nodes'])} models among 100,000 tables: {told}")
    assert len(catalog["nodes"]) == SPACES * 100
    promise("tables loaded", told.get("load_table", 0), SPACES * 100, "")
    promise("other calls", sum(told.values()) - told.get("load_table", 0), 3 * SPACES, "")


def calls(server: Serving) -> dict[str, float]:
    text = requests.get(f"{server.metrics}/metrics", timeout=60).text
    found: dict[str, float] = {}
    for labels, value in re.findall(r"^pinakes_catalog_calls_total\{([^}]*)\} (\S+)$", text, re.MULTILINE):
        operation = re.search(r'operation="([^"]*)"', labels)
        if operation and 'catalog="lake"' in labels:
            found[operation[1]] = found.get(operation[1], 0) + float(value)
    return found


if __name__ == "__main__":
    main()
