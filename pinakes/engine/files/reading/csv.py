"""CSV: read by Arrow's streaming reader, with types that are given or detected from a sample of every file.

Arrow's reader is fast but its errors lack detail. When it fails, the rest of the file is read as text, which finds the
value that does not fit (or an empty quoted string in a numeric column, which is valid), and `csv_errors.py` finds the
line. With ignore_errors everything is read as text, and rows with values that do not fit are skipped.

Types of a sample are checked against the rest of the file before the first row is returned (`late_types`), so that the
schema of a query does not change while it runs.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from pinakes.core.errors import ColumnNotFound, DataCorrupt, InvalidArgument, NotSupportedError, listing
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.csv_dialect import Dialect, Layout, UncommentedStream, dialect_of
from pinakes.engine.files.reading.csv_errors import find_ragged_line, find_unclosed_quote, misfit_error
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.options import CsvOptions, arrow_type
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.schemas import unite_schemas
from pinakes.engine.files.reading.streams import read_errors, text_stream
from pinakes.engine.files.reading.text_conversion import (
    FALSE,
    TRUE,
    Forms,
    common_guess,
    from_text,
    guess_type,
    is_native,
    misfits,
)

_LEAST_SAMPLE = 1000
_CHECKED_BYTES, _CHECKED_REMOTE_BYTES = 256 * 1024 * 1024, 16 * 1024 * 1024
"""The largest file, unpacked, whose values after the sample are checked before it is read; of an object store."""


def open_csv(files: Sequence[File], options: CsvOptions, zone: str, what: str) -> FilesSource:
    if not options.auto_detect:
        options = replace(options, delim=options.delim or ",", header=bool(options.header), all_varchar=True)
    forms = Forms(options.dateformat, options.timestampformat, zone)
    given = {name: arrow_type(t, zone, what) for name, t in (options.columns or {}).items()}
    return open_csv_as(files, options, forms, given)


def open_csv_as(
    files: Sequence[File], options: CsvOptions, forms: Forms, given: Mapping[str, pa.DataType]
) -> FilesSource:
    """Opens files with all columns given, by position, or with none, to detect them."""
    found = [f for file in files if (f := detect(file, options, forms, list(given) or None)) is not None]
    if not found and not given:
        raise DataCorrupt(f"{files[0]} is empty: a CSV file has at least one line")
    for csv in found:
        _rename(csv, list(given) or None)
    types, notes = (dict(given), ()) if given else _column_types(found, options, forms)
    for name, t in types.items():
        if pa.types.is_nested(t):
            raise NotSupportedError(f"column {name!r} can not be {t}: a CSV file holds plain values")
    for csv in found:
        csv.types, csv.given = types, bool(given)
    by_file = {csv.file: csv for csv in found}
    schema = pa.schema(list(types.items()))

    def read(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return by_file[file].batches(columns)

    kept = [csv.file for csv in found]
    return replace(stream_files(kept, schema, PathColumns(kept or files, options), read), notes=notes)


def _rename(csv: CsvFile, names: Sequence[str] | None) -> None:
    """Applies the names that the user gives; `columns` must name all columns."""
    own = csv.layout.names
    first = list(csv.options.names or ()) if names is None else list(names)
    if names is not None and len(names) != len(own):
        raise InvalidArgument(
            f"{csv.file} has {len(own)} columns, but {len(names)} columns are assigned: {', '.join(names)[:200]}. "
            f"Its first line has: {', '.join(csv.layout.first)[:200]}"
        )
    if names is not None and csv.dialect.header:
        _check_order(csv, names)
    if len(first) > len(own) or len(set(first)) < len(first):
        raise InvalidArgument(f"names of {csv.file} must be different, and at most {len(own)}: {listing(first)}")
    csv.layout = replace(csv.layout, names=(*first, *own[len(first) :]))


def _check_order(csv: CsvFile, names: Sequence[str]) -> None:
    """Fails if the header has the same names in another order: columns are matched by position, and values would be
    misplaced.
    """
    own, wanted = [n.casefold() for n in csv.layout.names], [n.casefold() for n in names]
    if own != wanted and sorted(own) == sorted(wanted):
        raise InvalidArgument(
            f"{csv.file} has the same columns in another order, and they are taken by position: name them in the "
            f"file's order, which is {', '.join(csv.layout.names)}"
        )


def _column_types(
    found: Sequence[CsvFile], options: CsvOptions, forms: Forms
) -> tuple[dict[str, pa.DataType], tuple[str, ...]]:
    """Returns the types of all columns: the given ones, and the others from all samples; with a note for each column
    whose sample has another type than the whole.
    """
    most = options.sample_size
    share = most if most < 0 else max(most // len(found), min(most, _LEAST_SAMPLE))
    text = pa.string()
    unite_schemas(
        ((f.file, pa.schema([(n, text) for n in f.layout.names])) for f in found), by_name=options.union_by_name
    )
    names = list(dict.fromkeys(name for f in found for name in f.layout.names))
    given = _given_types(options, names, forms.zone)
    if options.all_varchar:
        return {name: given.get(name, text) for name in names}, ()
    samples = [f.sample(share) for f in found]
    types = {name: given.get(name) or _guess(name, samples, forms) for name in names}
    if most < 0 or options.ignore_errors:
        return types, ()
    guessed = tuple((name, t) for name, t in types.items() if name not in given and t != text)
    notes = []
    longer = [f for f, sampled in zip(found, samples, strict=True) if sampled.num_rows >= share]
    for csv, late in ((csv, late_types(csv, guessed)) for csv in longer):
        for name, t in late.items():
            wider = common_guess(types[name], t)
            shown, before = sql_name_of_arrow(wider).upper(), sql_name_of_arrow(types[name]).upper()
            notes.append(
                f"column {name!r} is {shown}: {csv.file} has values after the sample that are not {before}. To choose "
                f"the type: types => {{'{name}': '{shown}'}}"
            )
            types[name] = wider
    return types, tuple(notes)


_late_types: dict[object, Mapping[str, pa.DataType]] = {}
_KEPT = 10_000


def late_types(csv: CsvFile, types: tuple[tuple[str, pa.DataType], ...]) -> Mapping[str, pa.DataType]:
    """Returns those of the columns that have values not of these types, with the type of all their values. It is found
    out once for each version of a file.
    """
    key = (*csv.version, types)
    found = _late_types.get(key)
    if found is None:
        found = _late_types[key] = _find_late_types(csv, types)
        if len(_late_types) > _KEPT:
            _late_types.pop(next(iter(_late_types)), None)
    return found


def _find_late_types(csv: CsvFile, types: tuple[tuple[str, pa.DataType], ...]) -> Mapping[str, pa.DataType]:
    """The check ends without a result in a file that is too large: its reader then reports the value."""
    own = {name: t for name, t in types if name in csv.layout.names}
    most = _CHECKED_BYTES if csv.file.is_local else _CHECKED_REMOTE_BYTES
    if not own or csv.file.stamp.size > most:
        return {}
    with read_errors(csv.file):
        return {} if csv.has_only(own, most) else csv.wider_types(own, most)


def _guess(name: str, samples: Sequence[pa.Table], forms: Forms) -> pa.DataType:
    chunks = [chunk for table in samples if name in table.schema.names for chunk in table.column(name).chunks]
    return guess_type(pa.chunked_array(chunks, pa.string()), forms)


def _given_types(options: CsvOptions, names: Sequence[str], zone: str) -> dict[str, pa.DataType]:
    types = options.types or {}
    if not isinstance(types, dict):
        if len(types) > len(names):
            raise InvalidArgument(f"{len(types)} types are given, and there are {len(names)} columns: {listing(names)}")
        types = dict(zip(names, types, strict=False))
    folded = {name.casefold(): name for name in reversed(names)}
    found: dict[str, pa.DataType] = {}
    for name, t in types.items():
        exact = name if name in names else folded.get(name.casefold())
        if exact is None:
            raise ColumnNotFound(f"types names a column {name!r} that is not there; available: {listing(names)}")
        found[exact] = arrow_type(t, zone, "read_csv")
    return found


# --- one file ----------------------------------------------------------------------------------------------------


_BLOCK_BYTES, _LONG_BLOCK_BYTES = 1024 * 1024, 256 * 1024 * 1024
"""The block size, and the block size for longer lines. Arrow reads about thirty blocks ahead."""


@dataclass(slots=True)
class CsvFile:
    """One file with its dialect and column names."""

    file: File
    dialect: Dialect
    layout: Layout
    options: CsvOptions
    forms: Forms
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    given: bool = False
    """Whether the types are given by the user or a table, not detected."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields the rows with those of these columns that the file has."""
        own = [c for c in columns if c in self.layout.names] or [self.layout.names[0]]
        if self.options.ignore_errors:
            yield from (batch.select(own) for batch in self._fitting())
        else:
            yield from self._strict(own)
            fault = find_unclosed_quote(self.file, self.dialect)
            if fault is not None:
                raise fault

    def sample(self, most: int) -> pa.Table:
        """Returns the first rows as text; all of them if `most` is -1."""
        found: list[pa.RecordBatch] = []
        rows = 0
        with read_errors(self.file):
            for batch in self._texts(self.layout.names):
                found.append(batch if most < 0 else batch.slice(0, most - rows))
                rows += batch.num_rows
                if 0 <= most <= rows:
                    break
        return pa.Table.from_batches(found, pa.schema([(name, pa.string()) for name in self.layout.names]))

    # --- types of all values --------------------------------------------------------------------------------------

    @property
    def version(self) -> tuple[object, ...]:
        """Equal for equal content that is read in the same way."""
        return (
            self.file.path,
            str(self.file.real),
            self.file.stamp,
            self.dialect,
            self.layout,
            self.forms,
            tuple(self.options.nulls),
        )

    def has_only(self, types: Mapping[str, pa.DataType], most: int) -> bool:
        """Returns whether Arrow's reader converts all values of the columns, or the file has more than `most` bytes."""
        natives = {name: t for name, t in types.items() if is_native(t, self.forms)}
        left = most
        try:
            with self._reader(list(types), natives, _BLOCK_BYTES) as reader:
                for batch in reader:
                    for name in types.keys() - natives.keys():
                        from_text(batch.column(name), types[name], self.forms)
                    left -= batch.nbytes
                    if left < 0:
                        break
        except (pa.ArrowException, ValueError):
            return False
        return True

    def wider_types(self, types: Mapping[str, pa.DataType], most: int) -> dict[str, pa.DataType]:
        """Returns those columns that have values not of these types, with the type of all their values."""
        guesses: dict[str, list[pa.DataType]] = {name: [] for name in types}
        late: set[str] = set()
        left = most
        try:
            for batch in self._texts(list(types)):
                for name, t in types.items():
                    texts = batch.column(name)
                    if name not in late and any(True for _ in misfits(texts, t, self.forms)):
                        late.add(name)
                    if len(texts.filter(pc.not_equal(texts, ""))):
                        guesses[name].append(guess_type(pa.chunked_array([texts]), self.forms))
                left -= batch.nbytes
                if left < 0:
                    return {}
        except DataCorrupt:  # a malformed line, which is reported when it is read
            return {}
        return {name: reduce(common_guess, guesses[name]) for name in sorted(late)}

    # --- read modes -----------------------------------------------------------------------------------------------

    def _strict(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        natives = {c: self.types[c] for c in columns if is_native(self.types[c], self.forms)}
        rows = 0
        try:
            with self._reader(columns, natives, _BLOCK_BYTES) as reader:
                for batch in reader:
                    yield self._converted(batch, rows)
                    rows += batch.num_rows
            return
        except pa.ArrowInvalid as error:
            self._refuse_ragged(error)
        for batch in _after(rows, self._texts(columns)):
            yield self._converted(batch, rows)
            rows += batch.num_rows

    def _fitting(self) -> Iterator[pa.RecordBatch]:
        """Yields all columns of the rows whose values all fit, so that the rows do not depend on the selected
        columns.
        """
        for batch in self._texts(self.layout.names):
            bad = {i for name in batch.schema.names for i in self._misfits(batch, name)}
            if bad:
                batch = batch.take(pa.array([i for i in range(batch.num_rows) if i not in bad], pa.int64()))
            yield self._converted(batch, 0)

    def _texts(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yields all rows as text, with larger blocks if a line is longer than a block."""
        rows = 0
        try:
            with self._reader(columns, {}, _BLOCK_BYTES) as reader:
                for batch in reader:
                    yield batch
                    rows += batch.num_rows
            return
        except pa.ArrowInvalid as error:
            self._refuse_ragged(error)
        try:
            with self._reader(columns, {}, _LONG_BLOCK_BYTES) as reader:
                yield from _after(rows, reader)
        except pa.ArrowInvalid as error:
            self._refuse_ragged(error)
            raise DataCorrupt(f"{self.file}: a line is longer than {_LONG_BLOCK_BYTES} bytes") from error

    def _misfits(self, batch: pa.RecordBatch, name: str) -> list[int]:
        return list(misfits(batch.column(name), self.types[name], self.forms))

    def _converted(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Returns the batch in the columns' types; `first` is the number of its first row in the file."""
        columns = [self._column(batch, name, first) for name in batch.schema.names]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _column(self, batch: pa.RecordBatch, name: str, first: int) -> pa.Array:
        column, target = batch.column(name), self.types[name]
        if column.type == target:
            return column
        try:
            return from_text(column, target, self.forms)
        except (pa.ArrowException, ValueError):
            place = self._misfits(batch, name)[0]
            width, text = len(self.layout.names), column[place].as_py()
            raise misfit_error(
                self.file, self.dialect, width, first + place, name, text, target, self._way_out(name)
            ) from None

    def _way_out(self, name: str) -> str:
        header = "" if self.dialect.header else " If the first line has names, say header => true."
        if self.given:
            return f"Correct the value, or leave such rows out with ignore_errors => true.{header}"
        return (
            f"The type was found out from a sample. Give it, as in types => {{'{name}': 'VARCHAR'}}, take a larger "
            f"sample with sample_size => -1, or read everything as text with all_varchar => true.{header}"
        )

    def _refuse_ragged(self, error: pa.ArrowInvalid) -> None:
        """Raises an error about a malformed line, unless the error is about a value or the length of a line."""
        said = str(error)
        if "straddling" in said or ("conversion error" in said and "invalid UTF8" not in said):
            return
        fault = find_ragged_line(self.file, self.dialect, len(self.layout.names))
        if fault is not None:
            raise fault from None
        raise DataCorrupt(f"{self.file} can not be read: {str(error).splitlines()[0][:300]}") from error

    # --- Arrow's reader -------------------------------------------------------------------------------------------

    @contextmanager
    def _reader(
        self, columns: Sequence[str], natives: Mapping[str, pa.DataType], block: int
    ) -> Iterator[Iterator[pa.RecordBatch]]:
        dialect, names = self.dialect, self.layout.names
        text = pa.string()
        with text_stream(self.file, dialect.compression) as stream:
            commented = dialect.comment is not None
            lines = 0 if commented else dialect.skip
            reader = pacsv.open_csv(
                WholeLineEnds(_without_comments(stream, dialect), "utf-8")
                if commented
                else WholeLineEnds(stream, dialect.encoding),
                pacsv.ReadOptions(
                    block_size=block,
                    column_names=list(names),
                    skip_rows=lines + self.layout.blank,
                    skip_rows_after_names=int(dialect.header),
                ),
                pacsv.ParseOptions(
                    delimiter=dialect.delim,
                    quote_char=dialect.quote or False,
                    double_quote=dialect.escape == dialect.quote,
                    escape_char=dialect.escape if dialect.escape and dialect.escape != dialect.quote else False,
                    newlines_in_values=bool(dialect.quote),
                    ignore_empty_lines=len(names) > 1,
                    invalid_row_handler=(lambda _: "skip") if self.options.ignore_errors else None,
                ),
                pacsv.ConvertOptions(
                    column_types={name: natives.get(name, text) for name in names},
                    include_columns=list(columns),
                    null_values=self.options.nulls,
                    true_values=list(TRUE),
                    false_values=list(FALSE),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
            yield reader


def _after(rows: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yields the batches without the first rows."""
    for batch in batches:
        rest = batch.slice(min(rows, batch.num_rows))
        rows -= batch.num_rows - rest.num_rows
        if rest.num_rows:
            yield rest


def _without_comments(stream: pa.NativeFile, dialect: Dialect) -> io.BufferedReader:
    for _ in range(dialect.skip):
        _read_line(stream)
    return io.BufferedReader(UncommentedStream(stream, dialect.signs, dialect.encoding), _BLOCK_BYTES)


class WholeLineEnds(io.RawIOBase):
    """The bytes of a stream as UTF-8, in blocks that never end between CR and LF.

    Arrow drops the LF of a line end within quotes that is divided by two blocks (apache/arrow#51368).
    """

    def __init__(self, stream: pa.NativeFile | io.BufferedReader, encoding: str) -> None:
        self._stream = stream
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        self._held = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._held
        while not block.removesuffix(b"\r"):
            raw = self._stream.read(size)
            block += raw if self._decoder is None else self._decoder.decode(raw, final=not raw).encode()
            if not raw:
                self._held = b""
                return block
        self._held = b"\r" if block.endswith(b"\r") else b""
        return block.removesuffix(b"\r")


def _read_line(stream: pa.NativeFile) -> None:
    while (byte := stream.read(1)) not in (b"\n", b""):
        del byte


def detect(file: File, options: CsvOptions, forms: Forms, names: Sequence[str] | None) -> CsvFile | None:
    """Detects the dialect of a file; None if it has no record."""
    with read_errors(file):
        dialect, layout = dialect_of(file, options, names)
    return None if layout is None else CsvFile(file, dialect, layout, options, forms)
