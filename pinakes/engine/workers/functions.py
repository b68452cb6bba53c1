"""Functions of catalogs in a statement: `mydb.main.fn(x)`. DataFusion has no qualified function names, so each function
is registered under a generated name.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datafusion import udf

from pinakes.core.errors import FunctionNotFound, InvalidArgument, PermissionDenied, Position, listing
from pinakes.core.names import display, quote
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.worker_tables import CatalogFunction
from pinakes.engine.binding.planned_text import covers
from pinakes.engine.binding.relation import Relation, key_of
from pinakes.parser.splice import Edit
from pinakes.parser.statements import CatalogCall, FunctionRef, Planned, Span
from pinakes.providers.vgi.scans import FunctionHandle, ValueCall
from pinakes.worker.exceptions import WorkerCanceled
from pinakes.worker.wire.arguments import Arguments

if TYPE_CHECKING:
    from pinakes.core.names import Name
    from pinakes.engine.binding.binder import Relations
    from pinakes.engine.binding.namespaces import ResolvedNamespace
    from pinakes.engine.binding.resolver import Resolver
    from pinakes.engine.planning.planner import Planner
    from pinakes.providers.vgi.attachment import Attachment

_NUMBERS = itertools.count(1)


# --- scalar functions ------------------------------------------------------------------------------------------------


def function_edits(planner: Planner, resolver: Resolver, statement: Planned, span: Span | None) -> list[Edit]:
    """Returns edits that replace each call of a catalog's function by the name that DataFusion knows it by."""
    found: list[Edit] = []
    for ref in statement.functions:
        if span is not None and not covers(span, ref.span):
            continue
        there = resolver.functions(ref.name)
        if there is None:
            continue
        place, functions = there
        function = _chosen(ref, place, functions, statement)
        _check_own_rows(planner, statement, function)
        found.append(Edit(ref.span.start, ref.span.end, quote(_registered(planner, function))))
        if not len(function.arguments):  # a function without arguments would not know the number of rows
            found.append(Edit(ref.inside, ref.inside, "1"))
    return found


def _check_own_rows(planner: Planner, statement: Planned, function: CatalogFunction) -> None:
    """Checks a function call in a view of a remote worker. The worker writes its views itself, so its functions there
    may only be called with the worker's own rows: other rows would be sent to it by everyone who reads the view.
    """
    assert isinstance(function.handle, FunctionHandle)
    worker, view = function.handle.attachment, planner.view
    if view is None or view.place.mount.type != "vgi" or not worker.is_remote:
        return
    if not _reads_only(worker, planner, statement):
        raise PermissionDenied(
            f"view {view} can't be read: it calls {function.name} of the worker with rows that are not the worker's "
            f"own, which would be sent to it. Call the function in a query of your own if they may be."
        )


def _reads_only(worker: Attachment, planner: Planner, statement: Planned) -> bool:
    for index in range(len(statement.tables)):
        relation = planner.relation_of(index, statement)
        if relation.view is not None and relation.found is not None:
            if not _reads_only(worker, *planner.inside(relation.found, relation.view)):
                return False
        elif relation.source is not worker:
            return False
    return True


def _chosen(
    ref: FunctionRef, place: ResolvedNamespace, functions: Sequence[CatalogFunction], statement: Planned
) -> CatalogFunction:
    position = Position.of(statement.text, ref.span.start)
    scalars = [f for f in functions if f.kind == "scalar"]
    if not scalars:
        raise _missing(ref.name, place, functions, "scalar", position)
    fitting = [f for f in scalars if len(f.arguments) == ref.arguments]
    if not fitting:
        ways = " or ".join(_signature(f) for f in scalars)
        raise InvalidArgument(
            f"{display(place.mount.name, place.namespace, scalars[0].name)} is called with {ref.arguments} arguments: "
            f"it takes {ways}",
            position=position,
        )
    return fitting[0]


def _registered(planner: Planner, function: CatalogFunction) -> str:
    """Registers the function with DataFusion until the statement ends, and returns its name."""
    execution, context = planner.execution, planner.context
    name = f"$worker{next(_NUMBERS)}"
    computing = _Computing(function, execution.query.check)
    types = list(function.arguments.types) or [pa.int64()]
    volatility = "stable" if function.deterministic else "volatile"
    context.register_udf(udf(computing, types, function.returns.field(0).type, volatility, name))
    execution.scope.callback(context.deregister_udf, name)
    execution.scope.callback(computing.close)
    return name


class _Computing:
    """The function that DataFusion calls for each batch. The worker's call begins with the first batch."""

    __name__ = "worker"

    def __init__(self, function: CatalogFunction, check: Callable[[], None]) -> None:
        self._function, self._check = function, check
        self._call: ValueCall | None = None
        self._lock = threading.Lock()
        self._over = False

    def __call__(self, *columns: pa.Array) -> pa.Array:
        schema = self._function.arguments
        if len(schema):
            batch = pa.RecordBatch.from_arrays(list(columns), schema=schema.remove_metadata())
        else:
            batch = pa.RecordBatch.from_struct_array(pa.array([{}] * len(columns[0]), pa.struct([])))
        return self._begun(batch.schema).compute(batch)

    def _begun(self, schema: pa.Schema) -> ValueCall:
        """Begins the call, once for all threads. Raises after the end of the statement, since a call begun then would
        never be closed.
        """
        with self._lock:
            if self._over:
                raise WorkerCanceled("the statement has ended")
            if self._call is None:
                handle = self._function.handle
                assert isinstance(handle, FunctionHandle)
                self._call = handle.values(schema, self._check)
            return self._call

    def close(self) -> None:
        with self._lock:
            self._over = True
        if self._call is not None:
            self._call.close()


# --- table functions -------------------------------------------------------------------------------------------------


def called(relations: Relations, resolver: Resolver, call: CatalogCall, parameters: Mapping[int, Any]) -> Relation:
    """Returns the rows of a catalog's table function as a relation."""
    from pinakes.engine.files.tables import arguments_of, options_of
    from pinakes.engine.workers.tables import row_relation

    there = resolver.functions(call.path)
    if there is None:
        raise FunctionNotFound(f"{call.path} is not a function of an attached catalog")
    place, functions = there
    tables = [f for f in functions if f.kind == "table"]
    if not tables:
        raise _missing(call.path, place, functions, "table", None)
    given, named = arguments_of(call, parameters), options_of(call, parameters)
    said = sha256(repr((given, sorted(named.items()))).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    key = key_of(place.mount.name, place.namespace, f"{tables[0].name}({said})")
    known = relations.known(key)
    if known is not None:
        return known
    handle, query = tables[0].handle, relations.execution.query
    assert isinstance(handle, FunctionHandle)
    arguments = _arguments(tables[0], given, named)
    row_call = query.interruptible(lambda: handle.rows(arguments, check=query.check))
    return relations.add(row_relation(relations, key, row_call))


def _arguments(function: CatalogFunction, given: Sequence[Any], named: Mapping[str, Any]) -> Arguments:
    """Returns the arguments with the types that the function declares, where it declares them."""
    fields = list(function.arguments)
    typed = [_typed(v, fields[i].type if i < len(fields) else None, function) for i, v in enumerate(given)]
    types = {f.name.lower(): f for f in fields}
    by_name = {}
    for key, value in named.items():
        field = types.get(key.lower())
        by_name[field.name if field is not None else key] = _typed(value, field.type if field else None, function)
    return Arguments(tuple(typed), by_name)


def _typed(value: Any, wanted: pa.DataType | None, function: CatalogFunction) -> pa.Scalar:
    plain = list(value) if isinstance(value, tuple) else value
    try:
        return pa.scalar(plain, wanted) if wanted is not None else pa.scalar(plain)
    except (pa.ArrowException, TypeError, ValueError):
        kind = sql_name_of_arrow(wanted) if wanted is not None else "a value"
        raise InvalidArgument(
            f"{function.name} takes {_signature(function)}: {plain!r} is not a valid {kind}"
        ) from None


def _missing(
    name: Name, place: ResolvedNamespace, functions: Sequence[CatalogFunction], kind: str, position: Position | None
) -> FunctionNotFound:
    if functions:
        use = "in FROM, as a table" if functions[0].kind == "table" else "in an expression"
        return FunctionNotFound(f"{name} is a {functions[0].kind} function: call it {use}", position=position)
    catalog: Any = place.mount.catalog
    known = [f.name for f in catalog.list_functions(place.namespace) if f.kind == kind]
    return FunctionNotFound(
        f"function {display(place.mount.name, place.namespace, name.last.exact)} does not exist; {place} has the "
        f"{kind} functions: {listing(known)}",
        position=position,
    )


def _signature(function: CatalogFunction) -> str:
    arguments = [f"{f.name} {sql_name_of_arrow(f.type)}" for f in function.arguments]
    shown = [f"[{a}]" if f.name in function.optional else a for f, a in zip(function.arguments, arguments, strict=True)]
    return f"({', '.join(shown)})"
