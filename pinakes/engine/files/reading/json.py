"""JSON: objects as rows. Types are detected from a sample of every file; each row is checked against them.

Arrow's reader handles files with one object per line and plain types. Files that it cannot read (arrays, values of
mixed types, lines that are too long) are read in Python, which also reports the line of an error.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from pinakes.core.errors import DataCorrupt
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.json_shapes import Misfit, Shape, combine, convert_value, shape_of
from pinakes.engine.files.reading.json_values import is_array, objects
from pinakes.engine.files.reading.options import JsonOptions, arrow_type
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.streams import read_errors, text_stream
from pinakes.engine.files.reading.text_conversion import Forms, from_text, guess_type, misfits

_BATCH_ROWS = 16_384
_BLOCK_BYTES = 1024 * 1024
_LEAST_SAMPLE = 1000
_WAY_OUT = "Types are found out from a sample: take a larger one with sample_size => -1, or leave such rows out with"


def open_json(
    files: Sequence[File], options: JsonOptions, zone: str, what: str, texts_of: Container[str] = ()
) -> FilesSource:
    """Opens JSON files. `texts_of` are columns, in lower case, whose strings are never converted to another type."""
    forms = Forms(zone=zone)
    shapes, texts = _sample(files, options)
    if not shapes:
        raise DataCorrupt(f"{files[0]} has no rows: a table of JSON needs at least one object to have columns")
    given = {name: arrow_type(t, zone, what) for name, t in (options.columns or {}).items()}
    types = given or {
        name: shape.type() if name.casefold() in texts_of else _type(shape, texts.get(name, []), forms)
        for name, shape in shapes.items()
    }
    reader = _Reader(shapes, types, options, forms)
    return stream_files(files, pa.schema(list(types.items())), PathColumns(files, options), reader.read)


def _sample(files: Sequence[File], options: JsonOptions) -> tuple[dict[str, Shape], dict[str, list[str]]]:
    """Returns the common shapes of all samples, and their strings. Fields may be missing in an object, hence also in a
    file.
    """
    most = options.sample_size
    share = None if most < 0 else max(most // len(files), min(most, _LEAST_SAMPLE))
    shapes: dict[str, Shape] = {}
    texts: dict[str, list[str]] = {}
    for file in files:
        with read_errors(file):
            for _, value in islice(objects(file, options), share):
                for name, item in value.items():
                    shapes[name] = combine(shapes.get(name, Shape()), shape_of(item))
                    if isinstance(item, str):
                        item.encode()  # fails for half of a surrogate pair
                        texts.setdefault(name, []).append(item)
    return shapes, texts


def _type(shape: Shape, texts: list[str], forms: Forms) -> pa.DataType:
    """Returns the type of a shape. Strings that are all dates, times or timestamps get that type.

    An empty string is none of them, and not NULL as in CSV.
    """
    if shape.kind != "text" or "" in texts:
        return shape.type()
    found = guess_type(pa.chunked_array([texts]), forms)
    return found if pa.types.is_temporal(found) else pa.string()


class _Reader:
    def __init__(
        self, shapes: Mapping[str, Shape], types: Mapping[str, pa.DataType], options: JsonOptions, forms: Forms
    ) -> None:
        self._options, self._forms, self._types = options, forms, types
        if options.columns is None:
            self._shapes = dict(shapes)
        else:
            self._shapes = {name: _shape_for(t, shapes.get(name, Shape())) for name, t in types.items()}
        plain = all(shape.is_plain for shape in self._shapes.values())
        self._is_native = plain and not options.ignore_errors and options.columns is None

    def read(self, file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows = 0
        if self._is_native and not is_array(file, self._options):
            try:
                for batch in self._native(file):
                    if _may_have_null_row(batch):
                        break
                    yield self._converted(batch.select(list(columns)), file, [])
                    rows += batch.num_rows
                else:
                    return
            except pa.ArrowInvalid:
                pass  # Python continues: it can read the row, or reports the error
        for batch, lines in self._by_python(file, rows):
            yield self._converted(batch, file, lines).select(list(columns))

    def _native(self, file: File) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([(name, shape.type()) for name, shape in self._shapes.items()])
        with text_stream(file, self._options.compression) as stream:
            yield from pajson.open_json(
                stream,
                read_options=pajson.ReadOptions(block_size=_BLOCK_BYTES),
                parse_options=pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
            )

    def _by_python(self, file: File, skip: int) -> Iterator[tuple[pa.RecordBatch, list[int]]]:
        found = islice(objects(file, self._options), skip, None)
        while rows := list(islice(found, _BATCH_ROWS)):
            made = [row for line, value in rows if (row := self._row(file, line, value)) is not None]
            columns = [pa.array([row[name] for _, row in made], shape.type()) for name, shape in self._shapes.items()]
            yield pa.RecordBatch.from_arrays(columns, names=list(self._shapes)), [line for line, _ in made]

    def _row(self, file: File, line: int, value: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        try:
            if self._options.columns is None:
                unknown = next((name for name in value if name not in self._shapes), None)
                if unknown is not None:
                    raise Misfit(f"{unknown!r} is a field that the sample does not have")
            return line, {n: convert_value(value.get(n), shape, repr(n)) for n, shape in self._shapes.items()}
        except Misfit as error:
            if self._options.ignore_errors:
                return None
            raise DataCorrupt(f"{file}, line {line}: {error}. {_WAY_OUT} ignore_errors => true.") from error

    def _converted(self, batch: pa.RecordBatch, file: File, lines: Sequence[int]) -> pa.RecordBatch:
        """Converts strings to the dates and times of the columns."""
        if self._options.ignore_errors:
            batch = self._fitting(batch)
        columns = [self._column(batch, name, file, lines) for name in batch.schema.names]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _column(self, batch: pa.RecordBatch, name: str, file: File, lines: Sequence[int]) -> pa.Array:
        column, target = batch.column(name), self._types[name]
        if column.type == target:
            return column
        try:
            return self._from_text(column, target) if column.type == pa.string() else column.cast(target)
        except (pa.ArrowException, ValueError) as error:
            text = column.cast(pa.string()) if not pa.types.is_nested(column.type) else column
            bad = next(self._misfits(text, target), 0) if text.type == pa.string() else 0
            place = f", line {lines[bad]}" if bad < len(lines) else ""
            raise DataCorrupt(
                f"{file}{place}, column {name!r}: {text[bad].as_py()!r} is not a valid "
                f"{sql_name_of_arrow(target).upper()}. {_WAY_OUT} ignore_errors => true."
            ) from error

    def _from_text(self, column: pa.Array, target: pa.DataType) -> pa.Array:
        if not self._options.columns and pc.index(column, "").as_py() >= 0:
            raise ValueError("an empty text")
        return from_text(column, target, self._forms)

    def _misfits(self, column: pa.Array, target: pa.DataType) -> Iterator[int]:
        """Yields the positions of strings that do not fit. An empty string is NULL only if the user gives the types."""
        found = set(misfits(column, target, self._forms))
        if not self._options.columns:
            found |= {i for i, text in enumerate(column.to_pylist()) if text == ""}
        return iter(sorted(found))

    def _fitting(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        bad: set[int] = set()
        for name in batch.schema.names:
            column, target = batch.column(name), self._types[name]
            if column.type == pa.string() and target != pa.string():
                bad |= set(self._misfits(column, target))
        kept = [i for i in range(batch.num_rows) if i not in bad]
        return batch.take(pa.array(kept, pa.int64())) if bad else batch


def _may_have_null_row(batch: pa.RecordBatch) -> bool:
    """Returns whether a row has only NULLs. Arrow also returns one for a line `null`; Python distinguishes it from
    {}.
    """
    if any(column.null_count == 0 for column in batch.columns):
        return False
    return bool(pc.any(reduce(pc.and_, (column.is_null() for column in batch.columns))).as_py())


def _shape_for(target: pa.DataType, found: Shape) -> Shape:
    """Returns the shape in which a column of a user-given type is read: as found, or as text to convert."""
    if pa.types.is_string(target) and found.kind not in ("text", "null"):
        return Shape("json")
    return Shape("text") if found.kind == "null" else found
