"""Clauses after the columns of CREATE TABLE: partitioning, sorting, properties, comment, location."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.parser.cursor import Cursor
from pinakes.parser.options import as_text, key_name, literal, properties, property_value
from pinakes.parser.statements import PartitionTerm, Properties, SortTerm
from pinakes.parser.terms import partition_term, sort_term, terms_in_strings


@dataclass(slots=True)
class Clauses:
    partitioning: tuple[PartitionTerm, ...] = ()
    sorting: tuple[SortTerm, ...] = ()
    properties: Properties = ()
    comment: str | None = None
    location: str | None = None


def clause(cursor: Cursor, into: Clauses) -> None:
    """Parses one clause; they come in any order."""
    if cursor.accept("PARTITIONED", "BY") or cursor.accept("PARTITION", "BY"):
        into.partitioning = cursor.listed(partition_term)
    elif cursor.accept("SORTED", "BY") or cursor.accept("ORDER", "BY") or cursor.accept("SORT", "BY"):
        into.sorting = cursor.listed(sort_term)
    elif cursor.accept("COMMENT"):
        cursor.accept("=")
        into.comment = cursor.string("a comment in single quotes")
    elif cursor.accept("LOCATION"):
        cursor.accept("=")
        into.location = cursor.string("a location in single quotes")
    elif cursor.accept("USING"):
        _format(cursor)
    elif cursor.accept_one("TBLPROPERTIES", "OPTIONS"):
        into.properties += properties(cursor)
    elif cursor.accept("WITH"):
        cursor.accept_one("TBLPROPERTIES", "PROPERTIES")
        for key in cursor.listed(lambda c: _with_item(c, into)):
            into.properties += key
    else:
        raise cursor.fault(
            "expected PARTITIONED BY (…), SORTED BY (…), WITH (…), COMMENT, LOCATION, AS a query, or the end"
        )


def _format(cursor: Cursor) -> None:
    if cursor.word != "ICEBERG":
        raise cursor.unsupported("tables are made in the Iceberg format: write USING iceberg, or leave it out")
    cursor.take()


def _with_item(cursor: Cursor, into: Clauses) -> Properties:
    """Parses a property; Trino's partitioning, sorted_by, location and comment are parsed as clauses."""
    key = key_name(cursor, "a property")
    cursor.accept_one("=", "=>")
    match key.lower():
        case "partitioning" | "partitioned_by":
            into.partitioning = terms_in_strings(cursor, partition_term)
        case "sorted_by":
            into.sorting = terms_in_strings(cursor, sort_term)
        case "location":
            into.location = as_text(literal(cursor))
        case _:
            return ((key, property_value(cursor, key)),)
    return ()
