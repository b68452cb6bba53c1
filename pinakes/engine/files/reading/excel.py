"""Excel workbooks (.xlsx), one sheet at a time, by fastexcel.

A sheet is read as a whole, and a small file can ask for more memory than there is: a server reads workbooks for
administrators only. The types are those of all cells of a column; what has no common type is VARCHAR.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.errors import DataCorrupt, InvalidArgument, NotSupportedError, listing
from pinakes.engine.datafusion.error_translation import is_panic
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.options import ExcelOptions
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.schemas import check_names, unite_schemas
from pinakes.engine.files.reading.streams import read_errors, refuse_hostile

_MOST_BYTES = 1 << 30
"""The largest workbook, unpacked."""
_ALL_ROWS = 1 << 30
_UNNAMED = "__UNNAMED__"
_FIRST_DAY, _SECOND_DAY = datetime(1899, 12, 31), datetime(1900, 1, 1)
"""The date of a cell that has only a time of day is the first."""


def open_excel(files: Sequence[File], options: ExcelOptions) -> FilesSource:
    refuse_hostile(files, "Excel workbooks are")
    sheets = {file: _read_sheet(file, options) for file in files}
    whole = unite_schemas([(file, sheet.schema) for file, sheet in sheets.items()], by_name=options.union_by_name)

    def read(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        sheet = sheets[file]
        return iter([sheet.select([name for name in columns if name in sheet.schema.names] or sheet.schema.names[:1])])

    return stream_files(files, whole, PathColumns(files, options), read)


def _read_sheet(file: File, options: ExcelOptions) -> pa.RecordBatch:
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise NotSupportedError(
            "Excel workbooks need fastexcel, which is not installed: pip install 'pinakes[excel]'"
        ) from None
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without values
    _check_size(file)
    try:
        with read_errors(file):
            book = fastexcel.read_excel(str(file.local) if file.is_local else _content(file))
            sheet = _sheet_name(file, book.sheet_names, options.sheet)
            header = _has_header(book, sheet) if options.header is None else options.header
            found = _load(book, sheet, header=header, as_text=options.all_varchar)
    except fastexcel.FastExcelError as error:
        raise DataCorrupt(f"{file} is not a readable Excel workbook: {str(error).splitlines()[0][:200]}") from error
    except BaseException as error:
        if not is_panic(error):
            raise
        raise DataCorrupt(f"{file} is not a readable Excel workbook") from None
    if not found.num_columns:
        raise DataCorrupt(f"sheet {sheet!r} of {file} has no cells")
    names = [f"column{i}" if n.startswith(_UNNAMED) else n for i, n in enumerate(found.schema.names)]
    batch = pa.RecordBatch.from_arrays([_dated(column) for column in found.columns], names=names)
    check_names(batch.schema, file)
    return batch


def _load(book: Any, sheet: str, *, header: bool, as_text: bool) -> pa.RecordBatch:
    """Returns the cells of a sheet; an error in a cell is NULL. fastexcel also takes texts such as n/a for NULL among
    numbers: such a column is read as text.
    """
    row = 0 if header else None
    types: Any = "string" if as_text else None
    found, errors = book.load_sheet(
        sheet, header_row=row, schema_sample_rows=_ALL_ROWS, dtypes=types
    ).to_arrow_with_errors()
    lost = {error.offset_position[1] for error in errors.errors if "String(" in error.detail} if errors else set()
    if not lost:
        return found
    types = dict.fromkeys(lost, "string")
    return book.load_sheet(sheet, header_row=row, schema_sample_rows=_ALL_ROWS, dtypes=types).to_arrow()


def _check_size(file: File) -> None:
    """Raises DataCorrupt for a file that is no archive, or has too many bytes according to its directory."""
    try:
        with file.open() as opened, zipfile.ZipFile(opened) as packed:
            size = sum(member.file_size for member in packed.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise DataCorrupt(f"{file} is not a readable Excel workbook (.xlsx): {error}") from error
    if size > _MOST_BYTES:
        raise DataCorrupt(f"{file} has {size:,} bytes when it is unpacked, and at most {_MOST_BYTES:,} are read")


def _content(file: File) -> bytes:
    with file.open() as opened:
        return bytes(opened.read())


def _sheet_name(file: File, names: Sequence[str], wanted: str | None) -> str:
    if wanted is None and names:
        return names[0]
    found = next((name for name in names if name.casefold() == (wanted or "").casefold()), None)
    if found is None:
        raise InvalidArgument(f"{file} has no sheet {wanted!r}; it has: {listing(names)}")
    return found


def _has_header(book: Any, sheet: str) -> bool:
    """Returns whether all cells of the first row are texts, if they have values."""
    first = book.load_sheet(sheet, header_row=None, n_rows=1).to_arrow()
    return all(is_.is_string(column.type) for column in first.columns) and any(c[0].is_valid for c in first.columns)


def _dated(column: pa.Array) -> pa.Array:
    """Returns timestamps as dates if all are at midnight, and as times if they have no date."""
    if not is_.is_timestamp(column.type):
        return column.cast(pa.string()) if is_.is_null(column.type) or is_.is_large_string(column.type) else column
    known = column.drop_null()
    if not len(known):
        return column.cast(pa.timestamp("us"))
    if pc.all(pc.and_(pc.greater_equal(known, _FIRST_DAY), pc.less(known, _SECOND_DAY))).as_py():
        return column.cast(pa.time64("us"))
    if pc.all(pc.equal(known, pc.floor_temporal(known, unit="day"))).as_py():
        return column.cast(pa.date32())
    return column.cast(pa.timestamp("us"))
