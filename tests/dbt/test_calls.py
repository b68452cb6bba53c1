"""What dbt's cache and its docs ask of a catalog: the schemas and tables of the project, however many there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import requests

from tests.dbt.projects import Project
from tests.flight.identities import asked
from tests.flight.serving import Serving, serving

pytestmark = pytest.mark.slow

SCHEMAS, TABLES = 6, 5
OWN = "{% macro generate_schema_name(name, node) %}{{ name or target.schema }}{% endmacro %}"


def test_the_docs_ask_for_the_project_alone(dbt_python: Path, tmp_path: Path) -> None:
    with serving(data=str(tmp_path / "lake")) as server:
        for schema in range(SCHEMAS):
            asked(server, f"CREATE SCHEMA lake.s{schema}")
            for table in range(TABLES):
                asked(server, f"CREATE TABLE lake.s{schema}.t{schema}{table} (a INTEGER)")
        for cache in ("listings", "table_metadata"):
            asked(server, f"CALL system.runtime.flush_cache('{cache}')")
        project = Project(tmp_path / "project", server.port, schema="s0")
        project.write("macros/schema.sql", OWN)
        for schema, table in ((0, 0), (0, 1), (1, 0)):
            config = f"{{{{ config(materialized='table', schema='s{schema}') }}}}"
            project.models(**{f"t{schema}{table}": f"{config} select 1 as a"})
        before = calls(server)
        done = project.dbt("docs", "generate")
        assert done.code == 0, done.output
        made = {
            name: count - before.get(name, 0) for name, count in calls(server).items() if count > before.get(name, 0)
        }
    assert made.pop("load_table") == 3
    assert (made["list_tables"], made["list_views"]) == (2, 2)
    assert sum(made.values()) <= 6


def calls(server: Serving) -> dict[str, float]:
    """Calls of the catalog by what they are, since the server began."""
    text = requests.get(f"{server.metrics}/metrics", timeout=60).text
    found: dict[str, float] = {}
    for labels, value in re.findall(r"^pinakes_catalog_calls_total\{([^}]*)\} (\S+)$", text, re.MULTILINE):
        name = re.search(r'operation="([^"]*)"', labels)
        if name and 'catalog="lake"' in labels:
            found[name[1]] = found.get(name[1], 0) + float(value)
    return found
