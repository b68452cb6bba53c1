"""The types that DataFusion gives to expressions, cached for each combination of argument types.

A separate context plans `SELECT f(c0, c1) FROM …` over no rows, in a fraction of a millisecond. The result is valid for
the process: types depend on nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datafusion import SessionConfig, SessionContext
from pyiceberg.types import UUIDType

from pinakes.engine.datafusion.bounded_functions import MOST, register_bounded_functions, typed_function
from pinakes.engine.datafusion.checked_functions import register_checked_functions
from pinakes.engine.datafusion.json_functions import register_json_functions
from pinakes.engine.datafusion.library_functions import register_library_functions
from pinakes.engine.datafusion.session_config import READ_ONLY, parser_options

if TYPE_CHECKING:
    from pinakes.caches.files import ManifestCache
    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.planning.optimize.table_facts import TableFacts

_MOST = 4096
_LONGEST = 200


class ExpressionTypes:
    """Of one time zone, which is part of the type of now()."""

    def __init__(self, time_zone: str) -> None:
        self._time_zone = time_zone
        self._known: dict[tuple[str, tuple[pa.DataType, ...]], pa.DataType | None] = {}
        self._lock = threading.Lock()
        self._made: SessionContext | None = None

    def of(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        """None if DataFusion refuses the expression."""
        key = (expression, tuple(types))
        if key in self._known:
            return self._known[key]
        with self._lock:
            found = self._planned(expression, types)
            if len(self._known) >= _MOST:
                self._known.clear()
            if len(expression) <= _LONGEST:
                self._known[key] = found
        return found

    def _planned(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        schema = pa.schema([pa.field(f"c{at}", type) for at, type in enumerate(types)])
        context = self._context()
        try:
            if types:
                context.register_record_batches("types", [[pa.RecordBatch.from_pylist([], schema=schema)]])
            text = f"SELECT {expression}{' FROM types' if types else ''}"
            found: pa.DataType = context.sql_with_options(text, READ_ONLY).schema().field(0).type
        except Exception:  # noqa: BLE001 - whatever DataFusion raises: it will say so again when the statement is planned
            return None
        finally:
            if types:
                context.deregister_table("types")
        return found

    def _context(self) -> SessionContext:
        if self._made is None:
            config = SessionConfig()
            for option, value in parser_options(self._time_zone).items():
                config = config.set(option, value)
            self._made = SessionContext(config)
            register_checked_functions(self._made)
            register_bounded_functions(self._made, MOST)
            register_json_functions(self._made, MOST)
            register_library_functions(self._made)
        return self._made


@lru_cache(maxsize=64)
def expression_types(time_zone: str) -> ExpressionTypes:
    return ExpressionTypes(time_zone)


class PlanEnvironment:
    """What is known while one text is rewritten: the tables that it reads, and its parameters."""

    def __init__(
        self,
        relations: Mapping[Key, Relation],
        parameters: Mapping[str, Any] | None,
        time_zone: str,
        manifests: ManifestCache,
        context: SessionContext,
        result_limit: int,
        find: Callable[[tuple[str, ...]], Relation | None] | None = None,
    ) -> None:
        self._relations = relations
        self._parameters = parameters or {}
        self._types = expression_types(time_zone)
        self._manifests = manifests
        self._context = context
        self._result_limit = result_limit
        self._find = find
        """Finds tables whose names were not resolved before."""
        self._columns: dict[tuple[str, ...], Mapping[str, pa.DataType] | None] = {}
        self._facts: dict[tuple[str, ...], TableFacts | None] = {}

    def columns(self, parts: tuple[str, ...]) -> Mapping[str, pa.DataType] | None:
        if parts not in self._columns:
            relation = self._relation(parts)
            self._columns[parts] = None if relation is None else relation.types
        return self._columns[parts]

    def _relation(self, parts: tuple[str, ...]) -> Relation | None:
        known = self._relations.get(parts) if len(parts) == 3 else None
        return self._find(parts) if known is None and self._find is not None else known

    def uuids(self, parts: tuple[str, ...]) -> frozenset[str]:
        relation = self._relation(parts)
        if relation is None or relation.table is None:
            return frozenset()
        fields = relation.table.handle.schema().fields
        return frozenset(field.name for field in fields if isinstance(field.field_type, UUIDType))

    def largest(self, parts: tuple[str, ...], column: str) -> int | None:
        if parts not in self._facts:
            relation = self._relation(parts)
            self._facts[parts] = None if relation is None else self._facts_of(relation)
        facts = self._facts[parts]
        return None if facts is None else facts.largest(column)

    def _facts_of(self, relation: Relation) -> TableFacts | None:
        if relation.table is None:
            return None
        from pinakes.engine.planning.optimize.table_facts import TableFacts

        return TableFacts(relation.table, self._manifests)

    def parameter(self, name: str) -> pa.DataType | None:
        if name not in self._parameters:
            return None
        value = self._parameters[name]
        if isinstance(value, pa.Scalar):
            return value.type
        try:
            type = pa.scalar(value).type
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            return None
        return pa.timestamp("us", "UTC") if pa.types.is_timestamp(type) and type.tz is not None else type

    def bounded(self, function: str, type: pa.DataType) -> str:
        name, made = typed_function(function, type, self._result_limit)
        self._context.register_udf(made)
        return name

    def result(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        return self._types.of(expression, types)
