"""Runs CALL: finds the procedure, of a catalog or of the engine, evaluates its arguments and returns its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError, ProcedureNotFound, listing
from pinakes.core.names import SYSTEM, Name, Part
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.procedures.base import MakingProcedure, Parameter, Procedure, RuntimeProcedure, Signature, Work
from pinakes.engine.procedures.registry import NAMES, RUNTIME, procedure, runtime_procedure
from pinakes.engine.procedures.remote_dispatch import answered
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser import classify
from pinakes.parser.one_name import read_name
from pinakes.parser.statements import Call, Query, TableExecute

_RUNTIME = "runtime"


def run(statement: Call, execution: Execution) -> Result:
    if _is_of_runtime(statement.procedure):
        return _run_runtime(runtime_procedure(statement.procedure.last.exact), statement, execution)
    catalog, name = _procedure_name(statement.procedure, execution)
    found = procedure(name)
    alone = isinstance(found, MakingProcedure) or not found.in_transactions
    if execution.session.transaction is not None and alone:
        raise NotSupportedError(f"{name} can't be part of a transaction: ROLLBACK, and run it outside of one")
    given = given_to(found, statement, execution)
    target = _table(given.pop("table"), catalog, execution)
    if isinstance(found, MakingProcedure):
        return Result.rows(found.columns, [tuple(row) for row in found.run(execution, target, given)])
    rows = again(lambda: _run(found, target, given, execution), execution.resolver.find(target, kind="TABLE"))
    return Result.rows(found.columns, rows)


def procedure_called(statement: Call, execution: Execution) -> Procedure | None:
    """Returns the procedure on a table that is called; None for others."""
    if _is_of_runtime(statement.procedure):
        return None
    found = procedure(_procedure_name(statement.procedure, execution)[1])
    return found if isinstance(found, Procedure) else None


def table_named(statement: Call, found: Procedure, execution: Execution) -> Name:
    """Returns the table that the procedure is called with."""
    catalog, _ = _procedure_name(statement.procedure, execution)
    return _table(given_to(found, statement, execution)["table"], catalog, execution)


def columns_of(statement: Call, execution: Execution) -> pa.Schema:
    """Returns the result columns without running the procedure."""
    if _is_of_runtime(statement.procedure):
        return runtime_procedure(statement.procedure.last.exact).columns
    return procedure(_procedure_name(statement.procedure, execution)[1]).columns


def _run(found: Procedure, target: Name, given: Mapping[str, Any], execution: Execution) -> list[tuple[object, ...]]:
    place, table = execution.resolver.table(target)
    execution.query.touch(place.place.mount.name)
    return carried_out(found, Work(place, table, dict(given), datetime.now(UTC), execution))


def carried_out(found: Procedure, work: Work) -> list[tuple[object, ...]]:
    """Runs the procedure here or on another engine."""
    answer = answered(found, work)
    return [tuple(row) for row in (found.run(work) if answer is None else answer)]


def _run_runtime(found: RuntimeProcedure, statement: Call, execution: Execution) -> Result:
    rows = [tuple(row) for row in found.run(execution, given_to(found, statement, execution))]
    return Result.rows(found.columns, rows) if found.columns.names else Result.done("CALL")


# --- names ---------------------------------------------------------------------------------------------------------


def _is_of_runtime(name: Name) -> bool:
    *before, _ = name.parts
    return len(before) == 2 and before[0].matches(SYSTEM) and before[1].matches(_RUNTIME)


def _procedure_name(name: Name, execution: Execution) -> tuple[Part | None, str]:
    """Splits [catalog.]system.procedure into the catalog as written, and the procedure."""
    *before, last = name.parts
    if not before or not before[-1].matches(SYSTEM) or len(before) > 2:
        raise ProcedureNotFound(
            f"there is no procedure {name}: they are called as [catalog.]{SYSTEM}.procedure(…), and there are: "
            f"{listing(NAMES)}; those of the engine as {SYSTEM}.{_RUNTIME}.procedure(…): {listing(RUNTIME)}"
        )
    catalog = before[0] if len(before) == 2 else None
    if catalog is not None:
        execution.session.catalogs.require(catalog)
    return catalog, last.exact


def _table(written: str, catalog: Part | None, execution: Execution) -> Name:
    """Returns the table that an argument names, in the catalog of the call; the argument may repeat the catalog."""
    name = read_name(written)
    if catalog is None or name.is_path:
        return name
    session = execution.session
    mounted = session.catalogs.require(catalog).name
    says_catalog = len(name.parts) > 1 and session.catalogs.find(name.parts[0]) == mounted
    if says_catalog or (len(name.parts) == 1 and session.scope.catalog == mounted):
        return name
    return Name((Part(mounted, quoted=True), *name.parts))


# --- arguments -----------------------------------------------------------------------------------------------------


def given_to(found: Signature, statement: Call | TableExecute, execution: Execution) -> dict[str, Any]:
    """Returns the argument values by parameter name."""
    given = _values(_texts(statement, found), execution)
    _check_types(found, given)
    return given


def _texts(statement: Call | TableExecute, found: Signature) -> dict[Parameter, str]:
    """Returns the text of each argument by parameter."""
    known = {p.name: p for p in found.parameters}
    texts: dict[Parameter, str] = {}
    for number, argument in enumerate(statement.arguments):
        if argument.name is None and number < len(found.parameters):
            parameter: Parameter | None = found.parameters[number]
        else:
            parameter = known.get((argument.name or "").lower())
        if parameter is None:
            what = f"argument {argument.name!r}" if argument.name else f"argument {number + 1}"
            raise InvalidArgument(f"{found.name} takes no {what}: {found.usage}")
        if parameter in texts:
            raise InvalidArgument(f"{found.name}: {parameter.name} is given twice")
        texts[parameter] = argument.value.of(statement.text)
    missing = [p.name for p in found.parameters if p.required and p not in texts]
    if missing:
        raise InvalidArgument(f"{found.name} needs {missing[0]}: {found.usage}")
    return texts


def _values(texts: Mapping[Parameter, str], execution: Execution) -> dict[str, Any]:
    """Evaluates all arguments in one query, so that ? placeholders are numbered across them. Times are in the session's
    zone.
    """
    if not texts:
        return {}
    columns = ", ".join(f"{_question(p, text)} AS {p.name}_" for p, text in texts.items())
    source = classify(f"SELECT {columns}")
    if not isinstance(source, Query) or source.tables:
        raise InvalidArgument("the arguments of a procedure must be constants")
    rows = execution.collect(execution.planner().query(source)).to_pylist()
    return {p.name: _paired(p, value) for p, value in zip(texts, rows[0].values(), strict=True)}


def _question(parameter: Parameter, text: str) -> str:
    if parameter.type == "timestamp":
        return f"CAST(({text}\n) AS TIMESTAMPTZ)"
    if parameter.type == "options":
        text = _MAP.sub("make_array(", text)
    return f"({text}\n)"


def _paired(parameter: Parameter, value: Any) -> Any:
    """Converts options from a DataFusion map, or from a list of alternating keys and values."""
    if parameter.type != "options" or not isinstance(value, list):
        return value
    if all(isinstance(v, tuple) for v in value):
        return {str(k): str(v) for k, v in value}
    if len(value) % 2:
        raise InvalidArgument(f"{parameter.name}: map('key', 'value', …) needs a value for each key")
    return {str(k): str(v) for k, v in zip(value[::2], value[1::2], strict=True)}


_MAP = re.compile(r"^\s*map\s*\(", re.IGNORECASE)
"""Spark's map('key', 'value', …)."""


_PYTHON: dict[str, type] = {
    "text": str,
    "condition": str,
    "integer": int,
    "timestamp": datetime,
    "boolean": bool,
    "integers": list,
    "texts": list,
    "options": dict,
}
_MEMBERS: dict[str, type] = {"integers": int, "texts": str}


def _fits(type: str, value: Any) -> bool:
    if type == "integer" and isinstance(value, bool):
        return False
    members = value if isinstance(value, list) else ()
    return isinstance(value, _PYTHON[type]) and all(isinstance(v, _MEMBERS[type]) for v in members)


def _check_types(found: Signature, given: Mapping[str, Any]) -> None:
    for parameter in found.parameters:
        value = given.get(parameter.name)
        if value is None and not parameter.required:
            continue
        if not _fits(parameter.type, value):
            raise InvalidArgument(f"{found.name}: {parameter.name} must be {_said(parameter)}, not {value!r}")


def _said(parameter: Parameter) -> str:
    return {
        "text": "a text, such as 'sales.orders'",
        "condition": "a condition in a text, such as 'id < 10'",
        "integer": "a whole number",
        "timestamp": "a time, such as TIMESTAMP '2024-01-31 12:00:00'",
        "boolean": "true or false",
        "integers": "an array of whole numbers, such as [1, 2]",
        "texts": "an array of texts, such as ['a', 'b']",
        "options": "a map of texts, such as map('rewrite-all', 'true')",
    }[parameter.type]
