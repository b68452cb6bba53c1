"""Translates CREATE TABLE to Iceberg: schema, partitioning, sort order, properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import pyarrow as pa
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema, make_compatible_name
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import Transform, parse_transform
from pyiceberg.typedef import TableVersion
from pyiceberg.types import NestedField

from pinakes.core.access.property_gate import harmless
from pinakes.core.catalog import IcebergTable, TableSpec
from pinakes.core.errors import ColumnExists, ColumnNotFound, InvalidArgument, listing
from pinakes.core.iceberg_metadata import check_not_given, checks_of, key_properties
from pinakes.core.names import Part, match, quote
from pinakes.core.types.iceberg_arrow import iceberg_schema_of
from pinakes.core.types.sql import iceberg_type
from pinakes.engine.iceberg.write.defaults import DEFAULTS_VERSION, check_no_defaults, default_value
from pinakes.engine.iceberg.write.loaded import is_record
from pinakes.engine.iceberg.write.sort_order import order_of
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ColumnDef, CreateTable, CreateTableAs, PartitionTerm, Properties, SortTerm

FORMAT_VERSION = "format-version"
_VERSIONS: dict[str, TableVersion] = {"1": 1, "2": 2, "3": 3}
_FIRST_PARTITION_ID = 1000


def spec_from_columns(statement: CreateTable, execution: Execution, existing: IcebergTable | None = None) -> TableSpec:
    """Returns the definition of a table. `existing` is the table to replace: its format version is the minimum."""
    schema = _defined(statement, statement.columns, execution, existing)
    return _spec(statement, schema, execution)


def spec_from_query(
    statement: CreateTableAs, arrow: pa.Schema, execution: Execution, existing: IcebergTable | None = None
) -> TableSpec:
    """Returns the definition of a table with the columns of the statement, or else those of the query."""
    if statement.defined:
        if len(statement.defined) != len(arrow):
            raise InvalidArgument(f"{len(statement.defined)} columns are given and the query has {len(arrow)} columns")
        return _spec(statement, _defined(statement, statement.defined, execution, existing), execution)
    names = [p.exact for p in statement.columns] or arrow.names
    if len(names) != len(arrow):
        raise InvalidArgument(f"{len(names)} column names are given and the query has {len(arrow)} columns")
    check_names(names)
    version = format_version(table_properties(statement.properties, statement.comment), existing)
    columns = pa.schema([f.with_name(n).with_nullable(True) for f, n in zip(arrow, names, strict=True)])
    schema = _with_key(iceberg_schema_of(columns, format_version=version), statement.primary_key)
    return _spec(statement, schema, execution)


def _defined(
    statement: CreateTable | CreateTableAs,
    columns: Sequence[ColumnDef],
    execution: Execution,
    existing: IcebergTable | None,
) -> Schema:
    version = format_version(table_properties(statement.properties, statement.comment), existing)
    check_names([c.name.exact for c in columns])
    ids = count(1)
    fields = [field(c, ids, execution, statement.text, version) for c in columns]
    return _with_key(Schema(*fields), statement.primary_key)


def _spec(statement: CreateTable | CreateTableAs, schema: Schema, execution: Execution) -> TableSpec:
    key = [schema.find_column_name(number) or "" for number in schema.identifier_field_ids]
    properties = table_properties(statement.properties, statement.comment) | key_properties(key)
    properties |= _checks(statement, schema, {}, execution)
    parts, order = partitioning(statement.partitioning, schema), sorting(statement.sorting, schema)
    return TableSpec(schema, parts, properties, statement.location, order)


def _checks(
    statement: CreateTable | CreateTableAs, schema: Schema, known: Mapping[str, str], execution: Execution
) -> dict[str, str]:
    """Returns the properties that hold the CHECK constraints of the statement."""
    if not statement.checks:
        return {}
    from pinakes.engine.iceberg.write.checks import check_properties

    return check_properties(statement.checks, statement.text, statement.name.last.exact, schema, known, execution)


def spec_like(
    statement: CreateTable, other: IcebergTable, execution: Execution, existing: IcebergTable | None = None
) -> TableSpec:
    """Returns the columns, partitioning, sort order and properties of another table."""
    handle = other.handle
    copied = {key: value for key, value in harmless(handle.properties).items() if not is_record(key)}
    properties = {**copied, **table_properties(statement.properties, statement.comment)}
    versions = [t.handle.format_version for t in (other, existing) if t is not None]
    properties.setdefault(FORMAT_VERSION, str(max(versions)))
    schema = handle.schema()
    if format_version(properties, existing) < DEFAULTS_VERSION:
        check_no_defaults(schema)
    properties |= _checks(statement, schema, checks_of(properties), execution)
    spec = partitioning(statement.partitioning, schema) if statement.partitioning else handle.spec()
    order = sorting(statement.sorting, schema) if statement.sorting else order_of(handle.metadata)
    return TableSpec(schema, spec, properties, statement.location, order)


def table_properties(given: Properties, comment: str | None) -> dict[str, str]:
    """Returns properties with Iceberg's names: format_version is an alias of format-version."""
    properties = {(FORMAT_VERSION if k.lower() == "format_version" else k): v for k, v in given}
    check_not_given(properties)
    if comment is not None:
        properties["comment"] = comment
    return properties


def format_version(properties: Mapping[str, str], existing: IcebergTable | None = None) -> TableVersion:
    """Returns the requested version, else that of the existing table, else 2. A table cannot be downgraded."""
    current = existing.handle.format_version if existing is not None else None
    text = properties.get(FORMAT_VERSION, str(current or 2))
    version = _VERSIONS.get(text)
    if version is None:
        raise InvalidArgument(f"format-version must be 1, 2 or 3, not {text!r}")
    if current is not None and version < current:
        raise InvalidArgument(f"the table has format version {current}, which can not go back to {text}")
    return version


def field(column: ColumnDef, ids: Any, execution: Execution, text: str, version: int) -> NestedField:
    """Returns one column; its default is a constant, and requires a format version with defaults."""
    number = next(ids)
    kind = iceberg_type(column.type, lambda: next(ids))
    default = None
    if column.default is not None:
        default = default_value(column.default.of(text), kind, execution, column.name.exact, version)
    return NestedField(
        number,
        column.name.exact,
        kind,
        required=not column.nullable,
        doc=column.comment,
        initial_default=None,
        write_default=default,
    )


def partitioning(terms: Sequence[PartitionTerm], schema: Schema) -> PartitionSpec:
    if not terms:
        return UNPARTITIONED_PARTITION_SPEC
    fields: list[PartitionField] = []
    for number, term in enumerate(terms, _FIRST_PARTITION_ID):
        source = find_field(schema, term.column)
        transform = transform_of(term)
        if not transform.can_transform(source.field_type):
            raise InvalidArgument(f"{transform} does not work on column {source.name} of type {source.field_type}")
        fields.append(PartitionField(source.field_id, number, transform, term_name(term, source.name)))
    _unique([f.name for f in fields])
    check_partition_names([f.name for f in fields])
    return PartitionSpec(*fields)


def check_partition_names(names: Sequence[str]) -> None:
    """Checks that names are unique in their Avro-compatible form, which manifests use."""
    forms = [make_compatible_name(name) for name in names]
    duplicate = next((i for i, form in enumerate(forms) if form in forms[:i]), None)
    if duplicate is not None:
        other = names[forms.index(forms[duplicate])]
        raise InvalidArgument(
            f"the partition fields {quote(other)} and {quote(names[duplicate])} would both be {forms[duplicate]} in "
            f"manifests: rename one of the columns"
        )


def sorting(terms: Sequence[SortTerm], schema: Schema) -> SortOrder | None:
    """Returns the sort order of new files. As in other engines, NULLs come first for ASC and last for DESC by
    default.
    """
    fields = [_sort_field(term, schema) for term in terms]
    return SortOrder(*fields) if fields else None


def _sort_field(sort: SortTerm, schema: Schema) -> SortField:
    source, transform = find_field(schema, sort.term.column), transform_of(sort.term)
    if not source.field_type.is_primitive or not transform.can_transform(source.field_type):
        raise InvalidArgument(f"a table can't be sorted by {transform} of column {source.name}, a {source.field_type}")
    nulls_first = not sort.descending if sort.nulls_first is None else sort.nulls_first
    return SortField(
        source.field_id,
        transform,
        SortDirection.DESC if sort.descending else SortDirection.ASC,
        NullOrder.NULLS_FIRST if nulls_first else NullOrder.NULLS_LAST,
    )


_TRANSFORMS = {"years": "year", "months": "month", "days": "day", "hours": "hour"}


def transform_of(term: PartitionTerm) -> Transform[Any, Any]:
    name = _TRANSFORMS.get(term.transform.lower(), term.transform.lower())
    known = ("identity", "bucket", "truncate", "year", "month", "day", "hour", "void")
    if name not in known:
        raise InvalidArgument(f"partition transform {term.transform!r} does not exist; available: {', '.join(known)}")
    if name in ("bucket", "truncate") and (term.argument is None or term.argument <= 0):
        raise InvalidArgument(f"{name} needs a positive number, as in {name}(16, column)")
    return parse_transform(f"{name}[{term.argument}]" if name in ("bucket", "truncate") else name)


def term_name(term: PartitionTerm, column: str) -> str:
    name = _TRANSFORMS.get(term.transform.lower(), term.transform.lower())
    if term.name is not None:
        return term.name
    suffix = {"identity": "", "truncate": "_trunc"}.get(name, f"_{name}")
    return f"{column}{suffix}"


def find_field(schema: Schema, path: Sequence[Part]) -> NestedField:
    """Returns the field of a column path, matched level by level."""
    fields: Sequence[NestedField] = schema.fields
    found: NestedField | None = None
    for depth, part in enumerate(path):
        name = match(part, [f.name for f in fields], "column")
        if name is None:
            path_text = ".".join(str(p) for p in path[: depth + 1])
            raise ColumnNotFound(f"column {path_text} does not exist; available: {listing(f.name for f in fields)}")
        found = next(f for f in fields if f.name == name)
        fields = getattr(found.field_type, "fields", ())
    assert found is not None
    return found


def _with_key(schema: Schema, key: Sequence[Part]) -> Schema:
    if not key:
        return schema
    ids = [find_field(schema, (part,)).field_id for part in key]
    fields = [f.model_copy(update={"required": True}) if f.field_id in ids else f for f in schema.fields]
    return Schema(*fields, identifier_field_ids=ids)


def check_names(names: Sequence[str]) -> None:
    """Checks column names: they must be unique and not reserved."""
    own = next((n for n in names if n.lower().startswith("$pinakes")), None)
    if own is not None:
        raise InvalidArgument(f"column name {quote(own)} is reserved; choose one that does not start with $pinakes")
    _unique(names)


def _unique(names: Sequence[str]) -> None:
    duplicate = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if duplicate is not None:
        raise ColumnExists(f"column {quote(duplicate)} is named twice; give one of them an alias")
