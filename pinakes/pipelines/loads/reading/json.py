"""JSON files: one record per line, or one value per file (an object, or an array of objects).

Spark parses a line into the table's types; only if that fails, the fields are examined one by one to find the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pinakes.engine.remote.text import quoted, quoted_text
from pinakes.pipelines.loads.reading import shape
from pinakes.pipelines.loads.reading.bad_records import text_lines
from pinakes.pipelines.loads.reading.inputs import Input, Unreadable
from pinakes.pipelines.loads.reading.interface import merge_columns, unite_frames
from pinakes.pipelines.loads.reading.shape import Column
from pinakes.pipelines.loads.reading.sniff import inspect_files, is_document

if TYPE_CHECKING:
    from pinakes.spark.dataframes import SparkSession

OPTIONS = ("multiLine", "dateFormat", "timestampFormat", "encoding")
_PARSED = "__pinakes_parsed"
_FORMATS = ("dateFormat", "timestampFormat")


@dataclass(frozen=True, slots=True)
class JsonFiles:
    """`in_lines` have one record per line, `documents` are one value each."""

    spark: SparkSession
    options: Mapping[str, str]
    in_lines: Sequence[Input]
    documents: Sequence[Input]
    unreadable: list[Unreadable]

    @classmethod
    def of(cls, spark: SparkSession, options: Mapping[str, str], inputs: Sequence[Input]) -> JsonFiles:
        seen, unreadable = inspect_files(lambda entry: is_document(entry.file, options), inputs)
        lines = [entry for entry, document in seen.values() if not document]
        return cls(spark, options, lines, [entry for entry, document in seen.values() if document], unreadable)

    @property
    def inputs(self) -> Sequence[Input]:
        return [*self.in_lines, *self.documents]

    def only(self, uris: Collection[str]) -> JsonFiles:
        kept = [[i for i in group if i.uri in uris] for group in (self.in_lines, self.documents)]
        return replace(self, in_lines=kept[0], documents=kept[1])

    def lines(self) -> Any:
        texts = text_lines(self.spark, self.in_lines, self.options.get("encoding"))
        return None if texts is None else texts.selectExpr("uri", "line", "text AS key")

    def inferred(self) -> list[Column]:
        shapes = []
        for group, multi in ((self.in_lines, "false"), (self.documents, "true")):
            if group:
                given = {"inferTimestamp": "true", "multiLine": multi, **self._formats()}
                reader = self.spark.read.options(**given, columnNameOfCorruptRecord=shape.CORRUPT)
                shapes.append(shape.columns_of(reader.json([entry.uri for entry in group]).schema))
        return [column for column in merge_columns(shapes) if column.name != shape.CORRUPT]

    def unknown(self, columns: Sequence[Column]) -> dict[str, str]:
        return {}

    def frame(self, columns: Sequence[Column]) -> Any:
        found = []
        if self.in_lines:
            read = self._texts(self.in_lines, whole=False).filter("trim(value) <> ''")
            found.append(read.selectExpr("value", f"_metadata.file_path AS {shape.FILE}"))
        if self.documents:
            found.append(self._elements())
        frame = unite_frames(found)
        return None if frame is None else self._records(frame, columns)

    def _texts(self, group: Sequence[Input], *, whole: bool) -> Any:
        encoding = {"encoding": self.options["encoding"]} if "encoding" in self.options else {}
        return self.spark.read.options(**encoding).text([entry.uri for entry in group], wholetext=whole)

    def _elements(self) -> Any:
        """Returns the elements of arrays; a value that is not an array is one element."""
        read = self._texts(self.documents, whole=True).selectExpr("value", f"_metadata.file_path AS {shape.FILE}")
        parsed = read.selectExpr("*", "startswith(ltrim(value), '[') AS is_array")
        listed = "from_json(value, 'array<variant>')"
        several = parsed.selectExpr(shape.FILE, "value", f"CASE WHEN is_array THEN {listed} END AS listed")
        elements = several.selectExpr(shape.FILE, "value AS whole", "listed", "explode_outer(listed) AS one")
        kept = elements.filter("listed IS NULL OR size(listed) > 0")
        return kept.selectExpr("CASE WHEN listed IS NULL THEN whole ELSE to_json(one) END AS value", shape.FILE)

    def _formats(self) -> dict[str, str]:
        return {key: self.options[key] for key in _FORMATS if key in self.options}

    def _records(self, frame: Any, columns: Sequence[Column]) -> Any:
        schema = ", ".join(f"{quoted(column.name)} {column.type}" for column in columns)
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": shape.CORRUPT, **self._formats()}
        options_sql = ", ".join(f"{quoted_text(key)}, {quoted_text(value)}" for key, value in options.items())
        parse = f"from_json(value, {quoted_text(f'{schema}, {shape.CORRUPT} STRING')}, map({options_sql}))"
        parsed = frame.selectExpr("*", f"{parse} AS {_PARSED}")
        values = [f"{_PARSED}.{quoted(column.name)} AS v{at}" for at, column in enumerate(columns)]
        typed = parsed.selectExpr("value", shape.FILE, f"{_PARSED}.{shape.CORRUPT} AS {shape.CORRUPT}", *values)
        names = ", ".join(quoted_text(column.name) for column in columns)
        extra = f"get(array_except(json_object_keys(value), array({names})), 0)"
        why = f"{shape.reason_sql(_branches(columns))} AS {shape.REASON}"
        ours = [f"v{at}" for at in range(len(columns))]
        return typed.selectExpr(*ours, shape.FILE, why, f"value AS {shape.RAW}", f"{extra} AS {shape.EXTRA}")


def _branches(columns: Sequence[Column]) -> list[str]:
    """Returns the branches that detect bad records. Spark parses the first value of a line and ignores the rest, so a
    line with more than one value is bad."""
    found = [
        "WHEN NOT startswith(ltrim(value), '{') OR try_parse_json(value) IS NULL "
        "THEN 'the record is not a JSON object'",
        "WHEN json_array_length(concat('[', value, ']')) IS DISTINCT FROM 1 THEN "
        "'the record has something behind its JSON object'",
    ]
    for at, column in enumerate(columns):
        given = f"to_json(try_variant_get(try_parse_json(value), {quoted_text(_path(column.name))}, 'variant'))"
        value_text = f"trim(BOTH '\"' FROM {given})"
        begin, end = quoted_text(f"column '{column.name}': '"), quoted_text(f"' is not a valid {column.type.upper()}")
        found.append(
            f"WHEN {shape.CORRUPT} IS NOT NULL AND v{at} IS NULL AND {given} <> 'null' "
            f"THEN concat({begin}, left({value_text}, 100), {end})"
        )
        found += shape.misfit_branches(column, f"v{at}", f"v{at}", "''")
    found.append(f"WHEN {shape.CORRUPT} IS NOT NULL THEN 'the record does not fit the columns'")
    return found


def _path(name: str) -> str:
    return '$["' + name.replace("\\", "\\\\").replace('"', '\\"') + '"]'
