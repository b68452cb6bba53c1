"""Spark plans of Python definitions: the tables that they read, and renaming of these tables.

A plan is a protobuf message of Spark Connect and is inspected by its fields; no Spark is involved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from pinakes.parser.spark.references import Reference, not_row_by_row, references, respelled
from pinakes.pipelines.project.model import Read

_READ, _SQL = "spark.connect.Read", "spark.connect.SQL"
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_ROW_BY_ROW = frozenset(
    "read project filter with_columns with_columns_renamed drop subquery_alias to_df to_schema join hint repartition "
    "repartition_by_expression drop_na fill_na replace set_op sql local_relation parse".split()
)
"""Relations that map new rows to new rows, independently of other rows."""
_INNER_AND_LEFT = (1, 3, 5, 6, 7)
"""Spark's JoinType: inner, left outer, left anti, left semi, cross."""

_VERSIONS = frozenset({"snapshot-id", "as-of-timestamp", "branch", "tag", "versionAsOf", "timestampAsOf"})

Named = tuple[str, Mapping[str, str]]
"""An identifier, and read options of the table."""


def reads_of(plan: Any) -> tuple[Read, ...]:
    found: dict[Read, None] = {}
    for message in _messages(plan):
        if message.DESCRIPTOR.full_name == _READ and message.HasField("named_table"):
            found[Read(parts_of(message.named_table.unparsed_identifier), message.is_streaming)] = None
        elif message.DESCRIPTOR.full_name == _SQL:
            found |= {Read(r.parts, r.is_stream): None for r in references(message.query)}
    return tuple(found)


def renamed(plan: Any, name: Callable[[Read, bool], Named], in_sql: Callable[[Reference], str]) -> Any:
    """Returns the plan with renamed tables and without streams. The second argument of `name` is whether the plan
    itself selects the version of the table."""
    made = type(plan)()
    made.CopyFrom(plan)
    for message in _messages(made):
        if message.DESCRIPTOR.full_name == _READ and message.HasField("named_table"):
            table = message.named_table
            is_pinned = not _VERSIONS.isdisjoint(table.options)
            given, options = name(Read(parts_of(table.unparsed_identifier), message.is_streaming), is_pinned)
            table.unparsed_identifier = given
            table.options.update(options)
            message.is_streaming = False
        elif message.DESCRIPTOR.full_name == _SQL:
            message.query = respelled(message.query, in_sql)
    return made


def fingerprint(plan: Any) -> str:
    """Returns a hash of the query. Ids that only distinguish plans within a process are left out."""
    made = type(plan)()
    made.CopyFrom(plan)
    for message in _messages(made):
        for field in ("plan_id", "common"):
            if field in message.DESCRIPTOR.fields_by_name:
                message.ClearField(field)
    return sha256(made.SerializeToString(deterministic=True)).hexdigest()[:16]


def plan_not_row_by_row(plan: Any) -> str | None:
    """Returns the part of a plan that can't be applied to the new rows alone; None if there is none."""
    for message in _messages(plan):
        kind = message.WhichOneof("rel_type") if message.DESCRIPTOR.full_name == "spark.connect.Relation" else None
        if kind is None or not _has_stream(message):
            continue
        if kind not in _ROW_BY_ROW:
            return f"{kind}()"
        if kind == "join" and (_has_stream(message.join.right) or message.join.join_type not in _INNER_AND_LEFT):
            return "a join that keeps rows of another table, or has the stream on its right,"
        if kind == "set_op" and not message.set_op.is_all:
            return "a distinct union"
        if kind == "sql" and (said := not_row_by_row(message.sql.query)) is not None:
            return said
    return None


def _has_stream(relation: Any) -> bool:
    return any(read.is_stream for read in reads_of(relation))


def parts_of(identifier: str) -> tuple[str, ...]:
    """Returns the parts of a name in Spark's notation."""
    found = [quoted.replace("``", "`") if quoted else plain for quoted, plain in _PART.findall(identifier)]
    return tuple(part.strip() for part in found)


def _messages(message: Any) -> Iterator[Any]:
    """Yields a message and all messages within it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = list(value.values()) if field.message_type.fields_by_name["value"].message_type else []
        else:
            inner = [value] if hasattr(value, "DESCRIPTOR") else list(value)
        for found in inner:
            yield from _messages(found)
