"""Projects for tests: files in a directory, a profile for a server, dbt run as its users run it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.dbt.environment import python, surroundings

PATIENCE = 600
_DBT = "import sys; from dbt.cli.main import cli; sys.argv[0] = 'dbt'; cli()"


class Project:
    """A dbt project in a directory of its own."""

    def __init__(self, directory: Path, port: int, **profile: Any) -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self._profile = {
            "type": "pinakes",
            "host": "127.0.0.1",
            "port": port,
            "schema": "proj",
            "threads": 4,
            **profile,
        }
        target = {"test": {"target": "dev", "outputs": {"dev": self._profile}}}
        self.write("profiles.yml", json.dumps(target))
        if not (directory / "dbt_project.yml").exists():
            self.write(
                "dbt_project.yml",
                json.dumps({"name": "test", "version": "1.0.0", "config-version": 2, "profile": "test"}),
            )

    def write(self, name: str, text: str) -> None:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def models(self, **models: str) -> None:
        for name, sql in models.items():
            self.write(f"models/{name}.sql", sql)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [python(), "-c", _DBT, "--no-use-colors", *arguments, "--profiles-dir", str(self.directory)]
        return subprocess.Popen(
            command,
            cwd=self.directory,
            env=surroundings(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def dbt(self, *arguments: str, **environment: str) -> Outcome:
        return finished(self.start(*arguments, **environment), self.directory)


class Outcome:
    """What a run of dbt said, and what became of each node."""

    def __init__(self, code: int, output: str, results: Mapping[str, Any]) -> None:
        self.code, self.output = code, output
        self.nodes = {r["unique_id"].split(".")[2]: r for r in results.get("results", [])}

    def status(self, node: str) -> str:
        return str(self.nodes[node]["status"])

    def message(self, node: str) -> str:
        return str(self.nodes[node]["message"])


def finished(process: subprocess.Popen[str], directory: Path, target: str = "target") -> Outcome:
    output, _ = process.communicate(timeout=PATIENCE)
    file = directory / target / "run_results.json"
    return Outcome(process.returncode, output, json.loads(file.read_text()) if file.exists() else {})
