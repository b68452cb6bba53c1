"""Definitions in the project's Python files, which use `pyspark.pipelines`: they are collected by its registry."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import ParseError
from pinakes.pipelines.expect import expectations_of
from pinakes.pipelines.project.model import Dataset, Flow, Kind
from pinakes.pipelines.project.plans import fingerprint, parts_of, plan_not_row_by_row, reads_of
from pinakes.pipelines.project.problem import Where
from pinakes.pipelines.project.sql_files import read_sql
from pinakes.spark.errors import shown
from pinakes.spark.offline import defining

if TYPE_CHECKING:
    from pinakes.pipelines.project.collected import Collected


def read_python(files: list[Path], into: Collected) -> None:
    """Imports the files and calls each function to build its plan. Errors become problems."""
    from pinakes.spark.declarative import graph_element_registration_context

    with defining(into.spec.root, into.spec.configuration):
        registry = _registry(into)
        with graph_element_registration_context(registry):
            for file in files:
                _import(file, into)
        for flow in registry.flows:
            _add_flow(flow, into)


def _import(file: Path, into: Collected) -> None:
    name = f"pinakes_pipeline_{sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, str(file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(into.spec.root))
    sys.modules[name] = module  # pickled classes are looked up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - an exception of a user's file is reported as a problem of that file
        into.fault(_line_of(error, file, into), f"{type(error).__name__}: {shown(error)}")
    finally:
        sys.path.remove(str(into.spec.root))


def _line_of(error: BaseException, file: Path, into: Collected) -> Where:
    """Returns the last line of the file that led to an error."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return Where(_relative(str(file), into), error.lineno)
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    return Where(_relative(str(file), into), lines[-1] if lines else None)


def _relative(file: str, into: Collected) -> str:
    path = Path(file)
    return str(path.relative_to(into.spec.root)) if path.is_relative_to(into.spec.root) else file


def _registry(into: Collected) -> Any:
    from pinakes.spark.declarative import GraphElementRegistry, outputs

    kinds: dict[type, Kind] = {
        outputs.MaterializedView: "materialized_view",
        outputs.StreamingTable: "table",
        outputs.TemporaryView: "temporary_view",
    }

    class Registry(GraphElementRegistry):
        def __init__(self) -> None:
            self.flows: list[Any] = []

        def register_output(self, output: Any) -> None:
            where, kind = _where(output, into), kinds.get(type(output))
            if kind is None:
                into.fault(
                    where, f"{output.name!r}: a pipeline here makes tables and views, no {type(output).__name__}"
                )
                return
            into.add(_dataset(output, kind, where, into))

        def register_flow(self, flow: Any) -> None:
            self.flows.append(flow)

        def register_sql(self, sql_text: str, file_path: Path) -> None:
            read_sql(sql_text, str(file_path), into)

    return Registry()


def _where(found: Any, into: Collected) -> Where:
    place = found.source_code_location
    return Where(_relative(place.filename, into), place.line_number)


def _dataset(output: Any, kind: Kind, where: Where, into: Collected) -> Dataset:
    parts = parts_of(output.name)
    key = parts if kind == "temporary_view" else into.spec.key_of(parts)
    found = Dataset(key, kind, where, comment=output.comment)
    if kind != "temporary_view":
        if output.format not in (None, "iceberg"):
            into.fault(where, f"tables of a pipeline are Iceberg tables: format={output.format!r} is not possible")
        if output.cluster_by:
            into.fault(where, "cluster_by is not known to Iceberg: use partition_cols, or the property sort order")
        found.partitions = tuple(output.partition_cols or ())
        found.properties = dict(output.table_properties or {})
        found.columns = _columns(output.schema)
    return found


def _columns(schema: Any) -> str | None:
    if schema is None or isinstance(schema, str):
        return schema
    quoted = [(f"`{f.name.replace('`', '``')}`", f) for f in schema.fields]
    return ", ".join(f"{name} {f.dataType.simpleString()}" for name, f in quoted)


def _add_flow(flow: Any, into: Collected) -> None:
    where = _where(flow, into)
    parts = parts_of(flow.target)
    key = parts if parts in into.steps else into.spec.key_of(parts)
    found = into.steps.get(key)
    if isinstance(found, Dataset):
        found.expectations += expectations_of(flow.func)
        found.settings |= flow.spark_conf
    file = Path(flow.source_code_location.filename)
    try:
        frame = flow.func()
        plan = frame._plan.plan(frame._session.client)
        reads = reads_of(plan)
    except Exception as error:  # noqa: BLE001 - see above
        into.faulty.add(key)
        at = where if isinstance(error, ParseError) else _line_of(error, file, into)
        into.fault(at, _said(flow.name, error))
        return
    if any(read.is_stream for read in reads) and (what := plan_not_row_by_row(plan)) is not None:
        into.fault(
            where,
            f"{what} needs all rows of a table, and readStream gives the new ones only: make it a materialized view",
        )
    into.add_flow(key, Flow(flow.name, where, plan=plan, reads=reads, fingerprint=fingerprint(plan)))


def _said(name: str, error: BaseException) -> str:
    if "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION" in str(error):
        said = "a definition declares a table and does not run statements"
        return f"{name!r} wants to see rows or columns (collect, count, columns, schema, …): {said}"
    if isinstance(error, ParseError):
        return f"{name!r}: {error.message}"
    if isinstance(error, AttributeError) and "'NoneType'" in str(error):
        return f"{name!r} gives no DataFrame back: is `return` missing?"
    return f"{name!r}: {type(error).__name__}: {shown(error)}"
