"""The interface of sources: the available records, the new ones, and the records of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pinakes.pipelines.loads.context import LoadContext
from pinakes.pipelines.loads.discovery import are_unchanged, check_unchanged, compare_files, find_files
from pinakes.pipelines.loads.ledger import Batch, History, Mark
from pinakes.pipelines.loads.model import FileSource, Load
from pinakes.pipelines.loads.reading.csv import CsvFiles
from pinakes.pipelines.loads.reading.inputs import Copies
from pinakes.pipelines.loads.reading.interface import Reading
from pinakes.pipelines.loads.reading.json import JsonFiles
from pinakes.pipelines.loads.reading.parquet import ParquetFiles

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File


@dataclass(frozen=True, slots=True)
class NewBatch:
    """The content of a new batch: files, or rows between two cursor values. With `replaces` its rows replace those of
    the table."""

    files: tuple[Mark, ...] = ()
    cursor_from: str | None = None
    cursor_to: str | None = None
    replaces: bool = False


class Source(Protocol):
    @property
    def shown(self) -> str:
        """The name of the source for messages."""
        ...

    def look(self) -> bool:
        """Looks at the source; returns whether there is anything to infer a table from."""
        ...

    def new(self, history: History, run_id: str, *, refresh: bool) -> NewBatch | None:
        """Returns what is to be loaded; None if there is nothing. With `refresh`, everything is loaded."""
        ...

    def is_intact(self, batch: Batch) -> bool:
        """Whether the records of a batch are unchanged since it was planned."""
        ...

    def reading(self, batch: Batch | None, copies: Copies) -> Reading:
        """Returns the records of a batch, or all records."""
        ...


class Files:
    """The files of a source, as listed last."""

    def __init__(self, context: LoadContext, load: Load, source: FileSource) -> None:
        self._context = context
        self._load = load
        self._source = source
        self._found: dict[str, File] = {}

    @property
    def shown(self) -> str:
        return self._source.path

    def look(self) -> bool:
        self._found = find_files(self._context.session, self._source)
        return bool(self._found)

    def new(self, history: History, run_id: str, *, refresh: bool) -> NewBatch | None:
        found = compare_files(self._load, self._found, {} if refresh else history.loaded())
        check_unchanged(self._load, found.changed)
        return NewBatch(tuple(found.new)) if found.new or refresh else None

    def is_intact(self, batch: Batch) -> bool:
        return are_unchanged(batch.files, self._found)

    def reading(self, batch: Batch | None, copies: Copies) -> Reading:
        files = self._found if batch is None else {mark.path: self._found[mark.path] for mark in batch.files}
        inputs = list(copies.inputs(files))
        spark: Any = self._context.spark
        match self._source.format:
            case "csv":
                return CsvFiles.of(spark, self._source.options, inputs)
            case "json":
                return JsonFiles.of(spark, self._source.options, inputs)
            case "parquet" | "arrow":
                return ParquetFiles.of(spark, inputs, copies, arrow=self._source.format == "arrow")
