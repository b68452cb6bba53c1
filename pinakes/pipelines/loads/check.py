"""Static checks of a load: they start no Spark and open no file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from pinakes.core.errors import PinakesError, listing
from pinakes.core.suggestions import did_you_mean
from pinakes.core.values import truth
from pinakes.parser.spark.columns import column_definitions
from pinakes.pipelines.loads.model import (
    BAD_RECORDS,
    CHANGES,
    EVOLUTIONS,
    FORMATS,
    FileSource,
    JdbcSource,
    Load,
    Problem,
)
from pinakes.pipelines.loads.reading import csv, json

if TYPE_CHECKING:
    from pinakes.engine.session import Session

_OPTIONS = {"csv": csv.OPTIONS, "json": json.OPTIONS, "parquet": (), "arrow": ()}
_TRUTHS = ("header", "multiLine")
_ONE = ("delimiter", "sep", "quote", "escape", "comment")
JDBC_OPTIONS = ("fetchsize", "partitionColumn", "lowerBound", "upperBound", "numPartitions")
JDBC_URLS = ("jdbc:postgresql:", "jdbc:mariadb:", "jdbc:mysql:")


def check_load(load: Load, session: Session | None = None) -> list[Problem]:
    """Returns all problems. With a session, also checks that the files, the catalog and the secret exist."""
    return [
        *_choices(load),
        *_columns(load),
        *_source(load),
        *(() if session is None else _check_existence(load, session)),
    ]


def _choices(load: Load) -> Iterator[Problem]:
    for where, value, known in (
        ("bad_records", load.bad_records, BAD_RECORDS),
        ("schema_evolution", load.evolution, EVOLUTIONS),
        ("changed_files", load.changed_files, CHANGES),
    ):
        if value not in known:
            yield Problem(where, f"'{value}' is none of {listing(known)}")
    if len(load.target) != 3 or not all(load.target):
        yield Problem("target", "say catalog, schema and table")


def _columns(load: Load) -> Iterator[Problem]:
    if load.columns is None:
        return
    try:
        found = column_definitions(load.columns)
    except PinakesError as error:
        yield Problem("columns", error.message)
        return
    names = [column.name for column in found]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Problem("columns", f"there are two columns of the name '{name}'")
    if isinstance(load.source, FileSource) and load.source.format == "csv":
        for column in found:
            if column.type.lower().startswith(("array", "map", "struct", "variant")):
                yield Problem("columns", f"'{column.name}': a field of a CSV file holds no {column.type}; say STRING")


def _source(load: Load) -> Iterator[Problem]:
    source = load.source
    if isinstance(source, FileSource):
        yield from _files(source)
    else:
        yield from _database(source)


def _files(source: FileSource) -> Iterator[Problem]:
    if source.format not in FORMATS:
        yield Problem("format", f"'{source.format}' is none of {listing(FORMATS)}")
        return
    if not source.path.strip():
        yield Problem("path", "it is empty: say a file, a directory or a pattern such as 'raw/*.csv'")
    known = _OPTIONS[source.format]
    for key, value in source.options.items():
        if key not in known:
            yield Problem("options", _unknown(key, known, source.format))
        elif key in _TRUTHS and not _is_truth(value):
            yield Problem("options", f"{key} is true or false, not '{value}'")
        elif key in _ONE and len(value) > 1 and value != "\\t":
            yield Problem("options", f"{key} is one character, not '{value}'")


def _unknown(key: str, known: tuple[str, ...], format: str) -> str:
    if not known:
        return f"'{key}': {format} files take no options"
    return f"'{key}' is not an option of {format} files{did_you_mean(key, known)}; available: {listing(known)}"


def _is_truth(value: str) -> bool:
    try:
        truth(value)
    except ValueError:
        return False
    return True


def _database(source: JdbcSource) -> Iterator[Problem]:
    if not source.url.startswith(JDBC_URLS):
        yield Problem("url", f"it must begin with one of {listing(JDBC_URLS)}")
    elif _has_password(source.url):
        yield Problem("url", "it has a password in it: name a secret instead (secret: name, of type basic)")
    if (source.table is None) == (source.query is None):
        yield Problem("source", "say either a table or a query")
    for key in source.options:
        if key.lower() in ("user", "password"):
            yield Problem(
                "options", f"'{key}' does not belong here: name a secret instead (secret: name, of type basic)"
            )
        elif key not in JDBC_OPTIONS:
            yield Problem(
                "options",
                f"'{key}' is not an option{did_you_mean(key, JDBC_OPTIONS)}; available: {listing(JDBC_OPTIONS)}",
            )
    parallel = {"partitionColumn", "lowerBound", "upperBound", "numPartitions"}
    given = parallel & source.options.keys()
    if given and given != parallel:
        yield Problem("options", f"to read in parallel, {listing(sorted(parallel - given))} must be said, too")


def _has_password(url: str) -> bool:
    parts = urlsplit(url.removeprefix("jdbc:"))
    return parts.password is not None or any("password" in key.lower() for key, _ in parse_qsl(parts.query))


def _check_existence(load: Load, session: Session) -> Iterator[Problem]:
    from pinakes.core.names import Part
    from pinakes.pipelines.loads.discovery import find_files

    try:
        session.catalogs.get(load.target[0])
    except PinakesError as error:
        yield Problem("target", error.message)
    try:
        if isinstance(load.source, FileSource):
            find_files(session, load.source)
        elif load.source.secret is not None:
            session.engine.secrets.require(Part(load.source.secret), session.identity)
    except PinakesError as error:
        yield Problem("path" if isinstance(load.source, FileSource) else "secret", error.message)
