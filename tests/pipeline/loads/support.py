"""What tests of loads share: files to load, a table to load into, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pinakes.core.names import Name
from pinakes.pipelines.loads import FileSource, Load, LoadContext, LoadResult, run_load

Row = tuple[Any, ...]


class Stopped(BaseException):
    """What a test stops a load with: as when the process ends, nobody catches it."""


@dataclass(slots=True)
class Place:
    """`schema` is where tables of one test go, `directory` where its files are."""

    context: LoadContext
    schema: str
    directory: Path

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.directory / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def load(self, pattern: str = "*.csv", format: Any = "csv", table: str = "t", **more: Any) -> Load:
        options = more.pop("options", {})
        (self.directory / "in").mkdir(exist_ok=True)
        source = FileSource(str(self.directory / "in" / pattern), format, options)
        return Load(("lake", self.schema, table), source, **more)

    def run(self, load: Load, run_id: str = "r", **more: Any) -> LoadResult:
        return run_load(self.context, load, run_id, **more)

    def run_until(self, load: Load, step: str, **more: Any) -> None:
        """A run that ends right after a step, whatever it had still to do."""

        def reached(found: str) -> None:
            if found == step:
                raise Stopped

        try:
            run_load(replace(self.context, reached=reached), load, "stopped", **more)
        except Stopped:
            return
        raise AssertionError(f"the load never reached '{step}'")

    def rows(self, sql: str) -> list[Row]:
        """Of a query that says T for the schema."""
        found = self.context.session.run(sql.replace("T.", f"lake.{self.schema}.")).read_all()
        return [tuple(row.values()) for row in found.to_pylist()]

    def bad(self, table: str = "t") -> list[Row]:
        """Name of the file, record and reason of each bad record."""
        found = self.rows(f"SELECT file, record, reason FROM T.{table}_bad_records ORDER BY file, record, reason")
        return [(Path(file).name, record, reason) for file, record, reason in found]

    def snapshots(self, table: str = "t") -> list[Any]:
        name = Name.of("lake", self.schema, table)
        return list(self.context.session.resolver.described(name)[1].handle.metadata.snapshots)

    def ledger(self) -> list[Row]:
        """State and number of each word on a batch, in their order."""
        return self.rows(
            "SELECT number, state, count(*) FROM lake.pinakes_pipeline.loads "
            f"WHERE target LIKE '{self.schema}.%' GROUP BY number, state ORDER BY number, min(at)"
        )
