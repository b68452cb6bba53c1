"""CSV files as one table: its columns and types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pinakes.core.errors import ColumnNotFound, DataCorrupt, InvalidArgument, NotSupportedError, listing
from pinakes.engine.files.csv import CsvFile, describe
from pinakes.engine.files.extras import Extras
from pinakes.engine.files.opened import Opened, streamed
from pinakes.engine.files.options import CsvOptions
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import united
from pinakes.engine.files.sql_types import arrow_type
from pinakes.engine.files.texts import Forms, guessed

_LEAST_SAMPLE = 1000


def open_csv(files: Sequence[File], options: CsvOptions, zone: str, what: str) -> Opened:
    if not options.auto_detect:
        options = replace(options, delim=options.delim or ",", header=bool(options.header), all_varchar=True)
    forms = Forms(options.dateformat, options.timestampformat, zone)
    given = {name: arrow_type(t, zone, what) for name, t in (options.columns or {}).items()}
    return open_with(files, options, forms, given)


def open_with(files: Sequence[File], options: CsvOptions, forms: Forms, given: Mapping[str, pa.DataType]) -> Opened:
    """Opens files with all columns given, by position, or with none, to detect them."""
    found = [f for file in files if (f := describe(file, options, forms, list(given) or None)) is not None]
    if not found and not given:
        raise DataCorrupt(f"{files[0]} is empty: a CSV file has at least one line")
    for csv in found:
        _rename(csv, list(given) or None)
    types = dict(given) if given else _found_out(found, options, forms)
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
    return streamed(kept, schema, Extras(kept or files, options), read)


def _rename(csv: CsvFile, names: Sequence[str] | None) -> None:
    """Applies the names that the user gives; `columns` must name all columns."""
    own = csv.layout.names
    first = list(csv.options.names or ()) if names is None else list(names)
    if names is not None and len(names) != len(own):
        raise InvalidArgument(
            f"{csv.file} has {len(own)} columns and {len(names)} are to be filled: {', '.join(names)[:200]}. Its first "
            f"line has: {', '.join(csv.layout.first)[:200]}"
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


def _found_out(found: Sequence[CsvFile], options: CsvOptions, forms: Forms) -> dict[str, pa.DataType]:
    """Returns the types of all columns: the given ones, and the others from all samples."""
    most = options.sample_size
    share = most if most < 0 else max(most // len(found), min(most, _LEAST_SAMPLE))
    text = pa.string()
    united(((f.file, pa.schema([(n, text) for n in f.layout.names])) for f in found), by_name=options.union_by_name)
    names = list(dict.fromkeys(name for f in found for name in f.layout.names))
    given = _given_types(options, names, forms.zone)
    if options.all_varchar:
        return {name: given.get(name, text) for name in names}
    samples = [f.sample(share) for f in found]
    return {name: given.get(name) or _guess(name, samples, forms) for name in names}


def _guess(name: str, samples: Sequence[pa.Table], forms: Forms) -> pa.DataType:
    chunks = [chunk for table in samples if name in table.schema.names for chunk in table.column(name).chunks]
    return guessed(pa.chunked_array(chunks, pa.string()), forms)


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
