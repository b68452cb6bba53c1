"""The entry point of this package: translates planned text to Spark SQL."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables

from pinakes.core.errors import NotSupportedError
from pinakes.parser.spark import types as t
from pinakes.parser.spark.infer import Inference
from pinakes.parser.spark.rewrite import rewrite
from pinakes.parser.spark.tree import Plain, read, refused

Key = tuple[str, str, str]
_INTERVAL = re.compile(r"\bINTERVAL\s+'([^']*)'", re.IGNORECASE)
_ONE_UNIT = re.compile(r"\s*[+-]?\d+\s*[a-z]*\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A table in Spark: the text after FROM, and the columns."""

    sql: str
    columns: Mapping[str, pa.DataType]


Sources = Callable[[Key], Source | None]
"""Returns the Spark source of a table, by its key in the planned text."""


def translate(text: str, sources: Sources, schema: pa.Schema | None) -> str:
    """Translates to a query whose columns have the types of `schema`, by position, and the names c0, c1, …

    Without a schema, the columns are unchanged, for use within another query.
    """
    tree, inference, texts = _read(text, sources)
    if schema is not None:
        _check(inference.outputs(tree), schema)
    written = _placed_back(str(rewrite(tree, inference).sql(dialect="spark", identify=True)), texts)
    return written if schema is None else typed(written, schema)


def parts(text: str, sources: Sources) -> list[str]:
    """Translates the expressions in the SELECT list of a query."""
    tree, inference, texts = _read(text, sources)
    tree = rewrite(tree, inference)
    found = [item.this if isinstance(item, exp.Alias) else item for item in tree.selects]  # type: ignore[attr-defined]
    return [_placed_back(str(item.sql(dialect="spark", identify=True)), texts) for item in found]


def _read(text: str, sources: Sources) -> tuple[exp.Expr, Inference, dict[str, str]]:
    for interval in _INTERVAL.findall(text):
        if not _ONE_UNIT.fullmatch(interval):  # sqlglot would read only its first part
            raise refused(f"the interval {interval!r}")
    tree = _exact(read(text))
    columns, texts = _placed(tree, sources)
    try:
        tree = qualify_tables(tree, dialect=Plain())
        tree = qualify_columns(tree, _schema(columns))
    except SqlglotError as error:
        raise NotSupportedError(
            f"this statement can't be translated for Spark: {str(error).splitlines()[0]}. SET engine = 'local'."
        ) from error
    _order_by_outputs(tree)
    return tree, Inference(tree, columns), texts


def _order_by_outputs(tree: exp.Expr) -> None:
    """Replaces ORDER BY keys that are in the SELECT list of a SELECT DISTINCT by their output names."""
    for select in tree.find_all(exp.Select):
        order = select.args.get("order")
        outputs = {item.this.unnest().sql(): item.alias for item in select.selects if isinstance(item, exp.Alias)}
        for key in order.expressions if order is not None and select.args.get("distinct") else ():
            name = outputs.get(key.this.unnest().sql())
            if name:
                key.set("this", exp.Column(this=exp.to_identifier(name, quoted=True)))


def _placed_back(written: str, texts: Mapping[str, str]) -> str:
    for name, sql in texts.items():
        written = written.replace(f"`{name}`", sql)
    return written


def _schema(columns: Mapping[str, Mapping[str, pa.DataType]]) -> dict[str, object]:
    """Returns the schema for sqlglot, which needs names only; it treats a table without columns as unknown."""
    return {table: dict.fromkeys(names, "text") for table, names in columns.items()}


def _exact(tree: exp.Expr) -> exp.Expr:
    """Folds names as DataFusion does: unquoted names are lower case."""
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.quoted:
            identifier.set("this", identifier.name.lower())
            identifier.set("quoted", True)
    return tree


def _placed(tree: exp.Expr, sources: Sources) -> tuple[dict[str, Mapping[str, pa.DataType]], dict[str, str]]:
    """Replaces tables by unique random names, and returns their columns and Spark texts, which are inserted at the
    end.
    """
    mark, names = secrets.token_hex(8), dict[Key, str]()
    columns: dict[str, Mapping[str, pa.DataType]] = {}
    texts: dict[str, str] = {}
    for table in list(tree.find_all(exp.Table)):
        if not isinstance(table.this, exp.Identifier):
            raise refused("a table function")
        if not table.db:
            continue  # a CTE
        key = (table.catalog, table.db, table.name)
        source = sources(key)
        if source is None:
            raise refused(f"the table {table.name}")
        name = names.setdefault(key, f"t${mark}${len(names)}")
        columns[name], texts[name] = source.columns, source.sql
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name, quoted=True))
        table.replace(exp.Table(this=exp.to_identifier(name, quoted=True), alias=alias, joins=table.args.get("joins")))
    return columns, texts


def _check(outputs: list[pa.DataType | None], schema: pa.Schema) -> None:
    """Refuses the query unless the inferred types equal the planned ones: otherwise a rule differs from
    DataFusion's.
    """
    if len(outputs) != len(schema):
        raise refused("a query whose columns can't be determined")
    for inferred, field in zip(outputs, schema, strict=True):
        if inferred is None:
            raise refused(f"the column {field.name}, whose type can't be determined,")
        if not t.agrees(inferred, field.type):
            raise refused(f"the column {field.name}, which would be {inferred} and not {field.type},")


def typed(query: str, schema: pa.Schema) -> str:
    names = [f"c{at}" for at in range(len(schema))]
    casts = []
    for name, field in zip(names, schema, strict=True):
        type = t.in_spark(field.type)
        if type is None:
            raise refused(f"the column {field.name} of type {field.type}")
        casts.append(f"CAST(`{name}` AS {type.upper()}) AS `{name}`" if type != "void" else f"`{name}`")
    return f"SELECT {', '.join(casts)} FROM ({query}) AS `r`({', '.join(f'`{name}`' for name in names)})"
