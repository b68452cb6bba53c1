"""INSERT … ON CONFLICT: the new rows are merged with those of the table by key columns.

Iceberg tables enforce no keys: every row of the table with the key of a new row conflicts with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.arrays.conform import conform
from pinakes.core.arrays.struct_fields import arrange_fields
from pinakes.core.errors import ExecutionError, InvalidArgument, NotSupportedError
from pinakes.core.names import quote, spell
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.iceberg.write.assignments import assigned, target_columns
from pinakes.engine.iceberg.write.matching import matching
from pinakes.engine.iceberg.write.merge import Clause, merge_into
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite, at_hand
from pinakes.parser.statements import Conflict

EXCLUDED = "excluded"
"""The name of the new rows in DO UPDATE."""
MOST_BYTES = 256 << 20
"""The largest size of the new rows, which are kept in memory."""
_NUMBER = "$pinakes_number"


def insert_or_update(change: Rewrite, conflict: Conflict, rows: Iterable[pa.RecordBatch]) -> int:
    """Adds the rows whose key is not in the table, and updates the others. Returns the number of both."""
    on_read = change.is_merge_on_read("merge")
    keys = _keys(change, conflict)
    new = _unique(_collected(change, rows), keys, updates=bool(conflict.assignments))
    source = f"{change.planner.add(at_hand(new, EXCLUDED)).sql} AS {EXCLUDED}"
    on = " AND ".join(f"{quote(TARGET)}.{quote(k)} = {EXCLUDED}.{quote(k)}" for k in keys)
    clauses = [Clause("NOT MATCHED", "INSERT", None, {c: f"{EXCLUDED}.{quote(c)}" for c in change.columns})]
    if conflict.assignments:
        condition = change.text(conflict.where) if conflict.where is not None else None
        clauses.insert(0, Clause("MATCHED", "UPDATE", condition, assigned(conflict.assignments, change)))
    change.narrow(matching(change, source, source, on))
    return merge_into(change, source, on, clauses, on_read=on_read)


def _keys(change: Rewrite, conflict: Conflict) -> list[str]:
    schema = change.table.handle.schema()
    named = target_columns(conflict.columns, change.columns)
    keys = named or sorted(schema.identifier_field_names())
    if not keys:
        raise InvalidArgument(f"{change.found} has no primary key: name the key columns, as in ON CONFLICT (id)")
    for key in keys:
        kind = change.type_of(key)
        if pa.types.is_nested(kind) or pa.types.is_floating(kind):
            raise NotSupportedError(f"column {spell(key)} can't be a key of ON CONFLICT, as it is {kind}: use MERGE")
    return keys


def _collected(change: Rewrite, rows: Iterable[pa.RecordBatch]) -> pa.Table:
    zone = change.execution.session.settings.time_zone
    schema = arrow_schema_of(change.table.handle.schema(), zone)
    batches, size = list[pa.RecordBatch](), 0
    for batch in rows:
        size += batch.nbytes
        if size > MOST_BYTES:
            raise NotSupportedError(
                f"INSERT … ON CONFLICT takes at most {MOST_BYTES >> 20} MB of new rows: store them in a table, and use "
                f"MERGE"
            )
        batches.append(conform(arrange_fields(batch, schema), schema))
    return pa.Table.from_batches(batches, schema=schema)


def _unique(rows: pa.Table, keys: Sequence[str], *, updates: bool) -> pa.Table:
    """Returns the rows without those that repeat a key; NULL is equal to nothing. DO UPDATE can't choose one."""
    numbered = rows.select(keys).append_column(_NUMBER, pa.array(range(rows.num_rows), pa.int64()))
    present = numbered.drop_null()
    first = present.group_by(list(keys)).aggregate([(_NUMBER, "min")])
    if first.num_rows == present.num_rows:
        return rows
    if updates:
        raise ExecutionError(
            f"ON CONFLICT DO UPDATE cannot affect a row a second time: two of the new rows have the same "
            f"{', '.join(spell(k) for k in keys)}"
        )
    has_null = pc.invert(pc.is_in(numbered.column(_NUMBER), present.column(_NUMBER).combine_chunks()))
    kept = pc.is_in(numbered.column(_NUMBER), first.column(f"{_NUMBER}_min").combine_chunks())
    return rows.filter(pc.or_(has_null, kept))
