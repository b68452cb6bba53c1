"""Every *.slt here becomes tests, one per record, on an engine of the file's own (see tests/sqllogic.py)."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.sqllogic import Mismatch, Record, check, completed, parse

if TYPE_CHECKING:
    from pinakes.engine.catalogs.authorization.policy import Policy
    from pinakes.engine.engine import Engine
    from pinakes.engine.session import Session


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return SltFile.from_parent(parent, path=file_path) if file_path.suffix == ".slt" else None


class SltFile(pytest.File):
    """A file of records. Its engine starts with the first record that is run and closes after the last."""

    engine: Engine

    def collect(self) -> Iterable[pytest.Item]:
        text = self.path.read_text(encoding="utf-8")
        if text.startswith("# slow:"):
            self.add_marker("slow")
        self.records = parse(text, self.path)
        self.done = 0
        for record in self.records:
            yield SltRecord.from_parent(self, name=str(record.line), record=record)

    def setup(self) -> None:
        self.tmp = Path(tempfile.mkdtemp(prefix="pinakes-slt-"))
        from pinakes.api.build import open_engine
        from pinakes.config.model import parse_config

        config = parse_config(f"[engine]\ndata = '{self.tmp / 'lake'}'", self.tmp)
        self.engine = open_engine(config, self.policy())
        self.connections: dict[str, Session] = {}
        self.labels: dict[str, list[str]] = {}

    def policy(self) -> Policy:
        """As that of a server when the file begins with `# everybody may: …`; else that of an embedded engine."""
        from pinakes.engine.catalogs.authorization.policy import EMBEDDED, Policy

        said = re.match(r"# everybody may: (.*)", self.path.read_text(encoding="utf-8"))
        return EMBEDDED if said is None else Policy(said.group(1).split())

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.close()
        shutil.rmtree(self.tmp)
        if self.complete:
            text = self.path.read_text(encoding="utf-8")
            self.path.write_text(completed(text, self.records), encoding="utf-8")

    @property
    def complete(self) -> bool:
        return bool(self.config.getoption("--complete"))

    def connect(self, record: Record) -> Session:
        from pinakes.core.identity import Identity

        if record.connection not in self.connections:
            identity = Identity(record.user) if record.user else None
            self.connections[record.connection] = self.engine.session(identity)
        return self.connections[record.connection]

    def run(self, record: Record) -> None:
        """Run a record, after those before it that were left out (as with -k), whatever became of them."""
        for earlier in self.records[self.done : self.records.index(record)]:
            try:
                self._run(earlier)
            except Mismatch:
                continue
        self.done = self.records.index(record) + 1
        self._run(record)

    def _run(self, record: Record) -> None:
        run = self.connect(record).run
        check(record, run, str(self.tmp), self.labels, complete=self.complete)


class SltRecord(pytest.Item):
    """One record of a file."""

    parent: SltFile

    def __init__(self, *, record: Record, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.record = record

    def runtest(self) -> None:
        self.parent.run(self.record)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, Mismatch):
            return super().repr_failure(excinfo)
        return f"{self.path}:{self.record.line}\n{self.record.sql}\n\n{excinfo.value}"

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.record.line - 1, f"{self.path.name}:{self.record.line}"
