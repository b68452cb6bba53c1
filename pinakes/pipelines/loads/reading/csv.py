"""CSV files: every field is read as text and then cast, so that the reason of a failed cast is exact.

Files are grouped by their header, which is read here: columns are matched by name, in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pinakes.core.values import truth
from pinakes.engine.remote.text import quoted_text
from pinakes.pipelines.loads.reading import shape
from pinakes.pipelines.loads.reading.bad_records import text_lines
from pinakes.pipelines.loads.reading.inputs import Input, Unreadable
from pinakes.pipelines.loads.reading.interface import check_names, find_unknown, merge_columns, unite_frames
from pinakes.pipelines.loads.reading.shape import Column, position
from pinakes.pipelines.loads.reading.sniff import delimiter_of, header_of, inspect_files

if TYPE_CHECKING:
    from pinakes.spark.dataframes import SparkSession

OPTIONS = (
    "delimiter", "sep", "header", "quote", "escape", "comment", "nullValue", "encoding", "multiLine", "dateFormat",
    "timestampFormat",
)  # fmt: skip
_LONGEST_FIELD = 16 << 20
_OURS = ("dateFormat", "timestampFormat", "delimiter", "sep")


@dataclass(frozen=True, slots=True)
class CsvFiles:
    """`groups` maps each header to its files."""

    spark: SparkSession
    options: Mapping[str, str]
    groups: Mapping[tuple[str, ...], Sequence[Input]]
    unreadable: list[Unreadable]

    @classmethod
    def of(cls, spark: SparkSession, options: Mapping[str, str], inputs: Sequence[Input]) -> CsvFiles:
        seen, unreadable = inspect_files(lambda entry: header_of(entry.file, options), inputs)
        groups: dict[tuple[str, ...], list[Input]] = {}
        for entry, header in seen.values():
            if header:  # an empty file has no records
                check_names(header, entry.path)
                groups.setdefault(header, []).append(entry)
        return cls(spark, options, groups, unreadable)

    @property
    def inputs(self) -> Sequence[Input]:
        return [entry for group in self.groups.values() for entry in group]

    def only(self, uris: Collection[str]) -> CsvFiles:
        groups = {header: [i for i in group if i.uri in uris] for header, group in self.groups.items()}
        return replace(self, groups={header: group for header, group in groups.items() if group})

    def inferred(self) -> list[Column]:
        shapes = []
        for header, group in self.groups.items():
            found = self._reader().option("inferSchema", "true").csv([entry.uri for entry in group]).schema
            shapes.append([Column(n, f.dataType.simpleString()) for n, f in zip(header, found.fields, strict=True)])
        return merge_columns(shapes)

    def unknown(self, columns: Sequence[Column]) -> dict[str, str]:
        found: dict[str, str] = {}
        for header, group in self.groups.items():
            for name in find_unknown(header, columns) if self._is_named else ():
                found.setdefault(name, group[0].path)
        return found

    def frame(self, columns: Sequence[Column]) -> Any:
        return unite_frames(self._group(header, group, columns) for header, group in self.groups.items())

    @property
    def _is_named(self) -> bool:
        return truth(self.options.get("header", "true"))

    def _reader(self) -> Any:
        defaults = {"columnPruning": "false", "multiLine": "true", "columnNameOfCorruptRecord": shape.CORRUPT}
        return self.spark.read.options(**{**defaults, **self._options()})

    def _options(self) -> dict[str, str]:
        given = {key: value for key, value in self.options.items() if key not in _OURS}
        defaults = {
            "header": "true",
            "escape": self.options.get("quote", '"'),
            "maxCharsPerColumn": str(_LONGEST_FIELD),
            "mode": "PERMISSIVE",
        }
        return {**defaults, **given, "sep": delimiter_of(self.options)}

    def _group(self, header: tuple[str, ...], group: Sequence[Input], columns: Sequence[Column]) -> Any:
        width = len(header) if self._is_named else len(columns)
        fields = [f"c{at}" for at in range(width)]
        schema = ", ".join(f"{name} STRING" for name in (*fields, shape.CORRUPT))
        read = self._reader().schema(schema).csv([entry.uri for entry in group])
        values, branches = self._values(header, columns, width)
        raw = f"coalesce({shape.CORRUPT}, {self._written(fields)})"
        typed = read.selectExpr("*", f"_metadata.file_path AS {shape.FILE}", *values)
        why = f"{shape.reason_sql(branches)} AS {shape.REASON}"
        ours = [f"v{at}" for at in range(len(columns))]
        judged = typed.selectExpr(*ours, shape.FILE, why, f"{raw} AS {shape.RAW}")
        return judged.selectExpr("*", f"CAST(NULL AS string) AS {shape.EXTRA}")

    def _written(self, fields: Sequence[str]) -> str:
        """Returns the SQL that formats fields as a record."""
        return f"to_csv(struct({', '.join(fields)}), map('sep', {quoted_text(delimiter_of(self.options))}))"

    def lines(self) -> Any:
        """Returns the line numbers of records. A record with the expected number of fields is identified by its fields,
        regardless of their quoting."""
        options = {**self._options(), "header": "false", "multiLine": "false"}
        options_sql = ", ".join(f"{quoted_text(key)}, {quoted_text(value)}" for key, value in options.items())
        found = []
        for header, group in self.groups.items():
            fields = [f"c{at}" for at in range(len(header))]
            schema = quoted_text(", ".join(f"{name} STRING" for name in fields))
            texts = text_lines(self.spark, group, self.options.get("encoding"))
            if texts is not None:
                parsed = texts.selectExpr("*", f"from_csv(text, {schema}, map({options_sql})) AS p")
                key = self._written([f"p.{name} AS {name}" for name in fields])
                found.append(parsed.selectExpr("uri", "line", f"explode(array_distinct(array(text, {key}))) AS key"))
        return unite_frames(found)

    def _values(self, header: Sequence[str], columns: Sequence[Column], width: int) -> tuple[list[str], list[str]]:
        values = []
        branches = [f"WHEN {shape.CORRUPT} IS NOT NULL THEN 'the record has not as many fields as the {width} columns'"]
        for at, column in enumerate(columns):
            where = position(column.name, header) if self._is_named else at
            source = "CAST(NULL AS string)" if where is None else f"c{where}"
            values.append(f"{shape.from_text(source, column.type, self.options)} AS v{at}")
            if where is None or column.type == "string":
                source = f"v{at}"
            branches += shape.misfit_branches(column, source, f"v{at}", source)
        return values, branches
