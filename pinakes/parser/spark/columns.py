"""Parses column definitions in Spark's syntax ("id BIGINT NOT NULL, tags ARRAY<STRING>") without a Spark."""

from __future__ import annotations

from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from pinakes.core.errors import ParseError


class Definition(NamedTuple):
    name: str
    type: str


def column_definitions(text: str) -> list[Definition]:
    """Returns the names and types; raises ParseError if the text is not a list of columns."""
    try:
        found = sqlglot.parse_one(f"CREATE TABLE t ({text})", dialect="spark")
    except SqlglotError as error:
        raise _refused(text) from error
    schema = found.this if isinstance(found, exp.Create) else None
    columns = schema.expressions if isinstance(schema, exp.Schema) and not text.rstrip().endswith(",") else []
    if not columns or not all(isinstance(c, exp.ColumnDef) and c.args.get("kind") is not None for c in columns):
        raise _refused(text)
    return [Definition(c.name, c.args["kind"].sql(dialect="spark")) for c in columns]


def _refused(text: str) -> ParseError:
    return ParseError(f"'{text}' is not a list of columns with Spark types, such as \"id BIGINT, name STRING\"")
