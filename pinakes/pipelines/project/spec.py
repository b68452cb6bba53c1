"""spec.yml: the keys of Spark's declarative pipelines, and the additional `loads` and `expectations`."""

from __future__ import annotations

from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from pinakes.core.errors import FileNotFound
from pinakes.parser.spark.pipeline_files import Action
from pinakes.parser.spark.references import predicate_fault
from pinakes.pipelines.loads.model import (
    BAD_RECORDS,
    CHANGES,
    EVOLUTIONS,
    FORMATS,
    BadRecords,
    Changed,
    Evolution,
    FileSource,
    Format,
    JdbcSource,
    Load,
)
from pinakes.pipelines.project.model import ACTIONS, Expectation, LoadStep, Spec
from pinakes.pipelines.project.problem import Problem, Where
from pinakes.pipelines.project.yaml_file import Entry, read_yaml

KEYS = (
    "name", "storage", "catalog", "database", "schema", "configuration", "libraries", "loads", "expectations",
)  # fmt: skip
_LOAD = ("table", "path", "format", "options", "jdbc", "columns", "bad_records", "schema_evolution", "changed_files")
_JDBC = ("url", "table", "query", "secret", "cursor", "options")
_EXPECTATION = ("name", "expect", "action")
DEFAULT_LIBRARIES = ("transformations/**",)


def read_spec(path: Path, home: tuple[str, ...], problems: list[Problem]) -> Spec | None:
    """Reads a spec; returns None if it is unusable. `home` is the default catalog and namespace."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not valid UTF-8"
        raise FileNotFound(
            f"the pipeline {str(path)!r} can't be read: {said}. `pinakes pipeline init DIR` makes one."
        ) from error
    root = read_yaml(text, path.name, problems)
    if root is None or not root.section(KEYS):
        return None
    name = root.text("name")
    if not name:
        root.fault("the pipeline has no name: add `name: …`")
    if "database" in root and "schema" in root:
        root["schema"].fault("database and schema mean the same: give one of them")
    namespace = root.text("database") or root.text("schema")
    found = Spec(
        path=path.resolve(),
        name=name or path.parent.name,
        catalog=root.text("catalog") or home[0],
        namespace=home[1:] if namespace is None else tuple(namespace.split(".")),
        configuration=root.texts("configuration"),
        libraries=_libraries(root),
    )
    return _with_ours(found, root)


def _libraries(root: Entry) -> tuple[str, ...]:
    if "libraries" not in root:
        return DEFAULT_LIBRARIES
    found = []
    for entry in root.elements("libraries"):
        include = entry["glob"].text("include") if "glob" in entry else None
        if include is None:
            entry.fault("an element of libraries is `glob: {include: transformations/**}`")
        else:
            found.append(include)
    return tuple(found)


def _with_ours(spec: Spec, root: Entry) -> Spec:
    from dataclasses import replace

    loads = tuple(step for entry in root.elements("loads") if (step := _load(entry, spec)) is not None)
    expected: dict[str, tuple[Expectation, ...]] = {}
    where: dict[str, Where] = {}
    if "expectations" in root:
        for table, entry in root["expectations"].items():
            expected[table] = tuple(e for x in entry.list() if (e := _expectation(x)) is not None)
            where[table] = entry.where
    return replace(spec, loads=loads, expectations=expected, expected_at=where)


# --- loads -----------------------------------------------------------------------------------------------------------


def _load(entry: Entry, spec: Spec) -> LoadStep | None:
    if not entry.section(_LOAD):
        return None
    table = entry.text("table")
    if not table:
        entry.fault("a load has a `table` that it fills")
        return None
    source = _jdbc(entry["jdbc"]) if "jdbc" in entry else _files(entry, spec)
    target = spec.key_of(tuple(table.split(".")))
    if len(target) != 3:
        entry.fault(f"the table of a load is in a schema of one level: catalog.schema.table, not {table}")
        return None
    if source is None:
        return None
    load = Load(
        target,
        source,
        entry.text("columns"),
        cast("BadRecords", entry.choice("bad_records", BAD_RECORDS)),
        cast("Evolution", entry.choice("schema_evolution", EVOLUTIONS)) if "schema_evolution" in entry else None,
        cast("Changed", entry.choice("changed_files", CHANGES)),
    )
    return LoadStep(load, entry.where)


def _files(entry: Entry, spec: Spec) -> FileSource | None:
    path = entry.text("path")
    if not path:
        entry.fault("a load has a `path` of files, or `jdbc` with the address of a database")
        return None
    is_local = urlsplit(path).scheme in ("", "file")
    if is_local:  # paths of a project are relative to its spec
        path = str(spec.root / path.removeprefix("file://"))
    suffix = Path(path).suffix.removeprefix(".")
    if "format" not in entry and suffix not in FORMATS:
        entry.fault(f"what are the files of {path!r}? Add `format`, one of {', '.join(FORMATS)}")
        return None
    format = entry.choice("format", FORMATS) if "format" in entry else suffix
    return FileSource(path, cast("Format", format), entry.texts("options"))


def _jdbc(entry: Entry) -> JdbcSource | None:
    if not entry.section(_JDBC):
        return None
    url, table, query = entry.text("url"), entry.text("table"), entry.text("query")
    if not url:
        entry.fault("jdbc has a `url`: jdbc:postgresql://host/database")
        return None
    if (table is None) == (query is None):
        entry.fault("jdbc has a `table` or a `query`, one of them")
        return None
    return JdbcSource(url, table, query, entry.text("secret"), entry.text("cursor"), entry.texts("options"))


# --- expectations ----------------------------------------------------------------------------------------------------


def _expectation(entry: Entry) -> Expectation | None:
    if not entry.section(_EXPECTATION):
        return None
    name, predicate = entry.text("name"), entry.text("expect")
    if not name or not predicate:
        entry.fault("an expectation has a `name`, what it expects (`expect: amount > 0`), and an `action`")
        return None
    fault = predicate_fault(predicate)
    if fault is not None:
        entry.fault(f"the expectation {name!r} is not a valid condition: {fault}")
        return None
    return Expectation(name, predicate, cast("Action", entry.choice("action", ACTIONS)))
