"""Checks the length of values while they are read, for a server's statements that repeat rows.

A join repeats rows, and what follows copies a batch of them in one step, which nothing can stop. The rows of a batch
are chosen for values of a usual length, or of the lengths that tables of Pinakes record. Files and tables of other
programs record none, and what their metadata say need not be true. So a filter above the scan looks at each batch. A
value that is too long for the batches of the plan ends the statement, which is run again with batches of fewer rows
(`engine/run.py`). The filter lets all rows pass, and other predicates pass it on their way to the scan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from datafusion import Expr, ScalarUDF, SessionContext, col, lit

from pinakes.core.names import Part, quote
from pinakes.engine.datafusion.bounded_functions import typed_function
from pinakes.engine.iceberg.scan.widths import are_known

if TYPE_CHECKING:
    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.session import Session

USUAL = 1 << 16
"""Bytes of a value that are never too long."""
_ONE_TABLE = re.compile(
    r"""(?!.*\b(?:JOIN|LATERAL|UNNEST|CUBE|ROLLUP|GROUPING|RANGE|GENERATE_SERIES)\b)
        (?:(?!\bFROM\b).)*+ \bFROM\b (?:(?!\b(?:FROM|WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|WINDOW)\b)[^,])*+
        (?:\b(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|WINDOW)\b (?:(?!\bFROM\b).)*+)? \Z""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A query of one table, which it reads once."""
_LONG_TEXT = 10_000
_ALL_COLUMNS = re.compile(r"(?<!\()\*|\bNATURAL\b|\bTABLE\b", re.IGNORECASE)
"""A star that is not that of count(*), or a form without names of columns."""


class GuardedRelations(Mapping["Key", "Relation"]):
    """The relations of a text whose rows it may repeat. Those of unknown widths are read with a check that no value has
    more bytes than `widest`."""

    def __init__(self, sql: str, relations: Mapping[Key, Relation], session: Session, widest: int) -> None:
        self._relations, self._session = relations, session
        memory, rows = session.engine.config.engine.memory_limit, session.settings.batch_size
        self._widest = max(widest, USUAL, memory // 16 // rows)
        self._text = None if _ALL_COLUMNS.search(sql) else sql.casefold()
        self._words = frozenset(re.findall(r"\w+", self._text or ""))

    def __getitem__(self, key: Key) -> Relation:
        relation = self._relations[key]
        if relation.is_placeholder or relation.view is not None or not self._is_unknown(relation):
            return relation
        frame = _context().read_table(relation.provider)
        checks = [
            check(field, self._widest, self._session.engine.result_limit)
            for field in frame.schema()
            if _is_long(field.type) and self._may_read(quote(field.name)[1:-1].casefold())
        ]
        if not checks:
            return relation
        return replace(relation, provider=frame.filter(*checks).into_view())

    def __iter__(self) -> Iterator[Key]:
        return iter(self._relations)

    def __len__(self) -> int:
        return len(self._relations)

    def _may_read(self, column: str) -> bool:
        return self._text is None or column in self._words or (not column.isidentifier() and column in self._text)

    def _is_unknown(self, relation: Relation) -> bool:
        """Whether the rows are those of files, of a worker, or of a table that others write."""
        if relation.table is None:
            return bool(relation.files) or relation.source is not None
        catalogs, catalog = self._session.catalogs, relation.path[0]
        if catalogs.find(Part(catalog, quoted=True)) is None or catalogs.get(catalog).mount.origin == "attach":
            return True  # the target of a change, or a catalog that may say anything about its tables
        return not are_known(relation.table.handle.metadata.snapshots)


_LONG_TYPES: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_nested,
    pa.types.is_string,
    pa.types.is_string_view,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_binary_view,
    pa.types.is_large_binary,
)


def may_repeat(sql: str, relations: Mapping[Key, Relation]) -> bool:
    """Whether a text may repeat the rows of a relation. Most that do not are queries of one table."""
    return bool(relations) and (len(relations) > 1 or len(sql) > _LONG_TEXT or _ONE_TABLE.match(sql) is None)


def check(field: pa.Field, widest: int, limit: int) -> Expr:
    return _narrow(field.type, limit)(col(quote(field.name)), lit(widest))


@lru_cache(maxsize=1000)
def _narrow(type: pa.DataType, limit: int) -> ScalarUDF:
    return typed_function("narrow", type, limit)[1]


def _is_long(type: pa.DataType) -> bool:
    """Whether values of a type can have any length."""
    if pa.types.is_struct(type):
        return any(_is_long(type.field(at).type) for at in range(type.num_fields))
    return any(check(type) for check in _LONG_TYPES)


@cache
def _context() -> SessionContext:
    """A context for creating plans; any context works."""
    return SessionContext()
