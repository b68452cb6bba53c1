"""Prints a tree in our SQL. What this module does not print is refused."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import expressions as exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, UnsupportedError
from sqlglot.generator import Generator

from pinakes.parser.faults import Fault
from pinakes.parser.translation.nodes import form_of, refuse

_PLACE = re.compile(r"\{(\d+)\}")
_PLAIN = (exp.Column, exp.Literal, exp.Anonymous, exp.Paren, exp.Cast, exp.Null, exp.Boolean, exp.Array, exp.Subquery)

TYPES = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INT": "INT",
    "BIGINT": "BIGINT",
    "UTINYINT": "UTINYINT",
    "USMALLINT": "USMALLINT",
    "UINT": "UINTEGER",
    "UBIGINT": "UBIGINT",
    "INT128": "HUGEINT",
    "FLOAT": "REAL",
    "DOUBLE": "DOUBLE",
    "DECIMAL": "DECIMAL",
    "TEXT": "VARCHAR",
    "VARCHAR": "VARCHAR",
    "CHAR": "CHAR",
    "BINARY": "BYTEA",
    "VARBINARY": "BYTEA",
    "DATE": "DATE",
    "TIME": "TIME",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMPNTZ": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "INTERVAL": "INTERVAL",
    "JSON": "JSON",
    "UUID": "UUID",
}


class Ours(Dialect):
    """The dialect that trees are printed in."""

    NULL_ORDERING = "nulls_are_large"
    TYPED_DIVISION = True
    SAFE_DIVISION = False
    INDEX_OFFSET = 0
    NORMALIZE_FUNCTIONS: bool | str = False


# --- nodes that we write otherwise -------------------------------------------------------------------------------


def _anonymous(writer: Generator, node: exp.Anonymous) -> str:
    form = form_of(node)
    if form is None:
        name = node.this if isinstance(node.this, str) else writer.sql(node.this)
        return f"{name}({', '.join(map(writer.sql, node.expressions))})"
    parts = _PLACE.split(form)
    for at in range(1, len(parts), 2):
        parts[at] = _operand(writer, node.expressions[int(parts[at])])
    return "".join(parts)


def _operand(writer: Generator, node: exp.Expr) -> str:
    text = writer.sql(node)
    form = form_of(node)
    is_closed = form is not None and form.startswith("(") and form.endswith(")")
    return text if (is_closed or (form is None and isinstance(node, _PLAIN))) and text[:1] != "-" else f"({text})"


def _arrow(operator: str) -> Any:
    return lambda writer, node: f"({writer.sql(node, 'this')} {operator} {writer.sql(node, 'expression')})"


def _intdiv(writer: Generator, node: exp.IntDiv) -> str:
    return writer.binary(node, "//")


def _regexplike(writer: Generator, node: exp.RegexpLike) -> str:
    return writer.binary(node, "~")


def _regexpilike(writer: Generator, node: exp.RegexpILike) -> str:
    return writer.binary(node, "~*")


def _pow(writer: Generator, node: exp.Pow) -> str:
    return f"power({writer.sql(node, 'this')}, {writer.sql(node, 'expression')})"


def _array(writer: Generator, node: exp.Array) -> str:
    return f"[{writer.expressions(node, flat=True)}]"


def _struct(writer: Generator, node: exp.Struct) -> str:
    fields = []
    for field in node.expressions:
        if not isinstance(field, exp.PropertyEQ):
            raise refuse("a struct without names of fields")
        fields.append(f"'{field.this.name.replace(chr(39), chr(39) * 2)}': {writer.sql(field, 'expression')}")
    return f"{{{', '.join(fields)}}}"


def _tomap(writer: Generator, node: exp.ToMap) -> str:
    return f"MAP {writer.sql(node, 'this')}"


def _hexstring(writer: Generator, node: exp.HexString) -> str:
    return f"x'{node.this}'"


def _star(writer: Generator, node: exp.Star) -> str:
    text = "*"
    for key, word in (("except_", "EXCLUDE"), ("replace", "REPLACE"), ("rename", "RENAME")):
        given = node.args.get(key)
        if given:
            text += f" {word} ({', '.join(map(writer.sql, given))})"
    return text


def _datatype(writer: Generator, node: exp.DataType) -> str:
    kind = node.this.value if isinstance(node.this, exp.DType) else str(node.this)
    if kind in ("ARRAY", "LIST") and len(node.expressions) == 1:
        return f"{writer.sql(node.expressions[0])}[]"
    if kind in ("STRUCT", "MAP") and node.expressions:
        return f"{kind}({', '.join(map(writer.sql, node.expressions))})"
    if kind not in TYPES:
        raise refuse(f"the type {kind}")
    if kind == "INTERVAL" or not node.expressions:
        return TYPES[kind]
    if kind in ("TIMESTAMPTZ",):
        return f"TIMESTAMP({writer.sql(node.expressions[0])}) WITH TIME ZONE"
    return f"{TYPES[kind]}({', '.join(map(writer.sql, node.expressions))})"


def _columndef(writer: Generator, node: exp.ColumnDef) -> str:
    return f"{writer.sql(node, 'this')} {writer.sql(node, 'kind')}"


def _currentdate(writer: Generator, node: exp.CurrentDate) -> str:
    return "current_date"


def _currenttimestamp(writer: Generator, node: exp.CurrentTimestamp) -> str:
    return "current_timestamp"


def _currentuser(writer: Generator, node: exp.CurrentUser) -> str:
    return "current_user"


def _currentcatalog(writer: Generator, node: exp.CurrentCatalog) -> str:
    return "current_catalog"


def _currentschema(writer: Generator, node: exp.CurrentSchema) -> str:
    return "current_schema"


def _localtimestamp(writer: Generator, node: exp.Localtimestamp) -> str:
    return "localtimestamp"


_FORMS: dict[type[exp.Expr], Any] = {
    exp.Anonymous: _anonymous,
    exp.JSONExtract: _arrow("->"),
    exp.JSONExtractScalar: _arrow("->>"),
    exp.IntDiv: _intdiv,
    exp.RegexpLike: _regexplike,
    exp.RegexpILike: _regexpilike,
    exp.Pow: _pow,
    exp.Array: _array,
    exp.Struct: _struct,
    exp.ToMap: _tomap,
    exp.HexString: _hexstring,
    exp.Star: _star,
    exp.DataType: _datatype,
    exp.ColumnDef: _columndef,
    exp.CurrentDate: _currentdate,
    exp.CurrentTimestamp: _currenttimestamp,
    exp.CurrentUser: _currentuser,
    exp.CurrentCatalog: _currentcatalog,
    exp.CurrentSchema: _currentschema,
    exp.Localtimestamp: _localtimestamp,
}


def written(tree: exp.Expr) -> str:
    """Returns the text of a tree."""
    writer: Any = Generator(
        dialect=Ours(), normalize_functions=False, comments=False, unsupported_level=ErrorLevel.RAISE, identify=False
    )
    writer._dispatch = {**writer._dispatch, **_FORMS}  # of this object: its class can't be derived from when compiled
    try:
        text: str = writer.generate(tree)
    except UnsupportedError as error:
        raise Fault(f"this is not translated: {str(error)[:200]}", 0, unsupported=True) from error
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise Fault("this statement is not translated: SET dialect = 'pinakes'", 0, unsupported=True) from error
    return text
