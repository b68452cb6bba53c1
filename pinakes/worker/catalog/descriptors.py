"""Declarations of a catalog: frozen dataclasses that validate themselves on creation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pinakes.worker.catalog.infos import TableInfo, ViewInfo
from pinakes.worker.catalog.names import SerializedSchema
from pinakes.worker.function import BindParams, Function
from pinakes.worker.table_function import TableFunctionGenerator
from pinakes.worker.wire.arguments import Arguments
from pinakes.worker.wire.records import schema_bytes


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: either of a function, whose columns it has, or of explicit columns."""

    name: str
    columns: pa.Schema | None = None
    function: type[TableFunctionGenerator] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of the function."""
    not_null: Sequence[str] = ()
    unique: Sequence[Sequence[str]] = ()
    check: Sequence[str] = ()
    primary_key: Sequence[str] = ()
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.columns is None and self.function is None:
            raise ValueError(f"table '{self.name}' must specify either 'columns' or 'function'")
        if self.columns is not None and self.function is not None:
            raise ValueError(f"table '{self.name}' must specify either 'columns' or 'function', and not both")
        known = self.schema.names
        _check_once(known, f"table '{self.name}' has the column")
        groups = {"not_null": [self.not_null], "unique": self.unique, "primary_key": [self.primary_key]}
        for constraint, columns in ((name, c) for name, group in groups.items() for c in group):
            for column in columns:
                if column not in known:
                    raise ValueError(
                        f"column '{column}' not found in table '{self.name}' ({constraint}); "
                        f"it has: {', '.join(known) or 'no columns'}"
                    )

    @property
    def schema(self) -> pa.Schema:
        if self.columns is not None:
            return self.columns
        assert self.function is not None
        scalars = self.function.bound(Arguments.of(named=self.arguments))
        return self.function.bind(BindParams(arguments={n: s.as_py() for n, s in scalars.items()}, scalars=scalars))

    def info(self, schema_name: str) -> TableInfo:
        names = self.schema.names
        return TableInfo(
            name=self.name,
            schema_name=schema_name,
            columns=SerializedSchema(schema_bytes(self.schema)),
            not_null_constraints=[names.index(c) for c in self.not_null],
            unique_constraints=[[names.index(c) for c in group] for group in self.unique],
            check_constraints=list(self.check),
            primary_key_constraints=[[names.index(c) for c in self.primary_key]] if self.primary_key else [],
            comment=self.comment,
            tags=self.tags,
        )


@dataclass(frozen=True, kw_only=True)
class View:
    name: str
    definition: str
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.definition.strip():
            raise ValueError(f"view '{self.name}' must have a definition")

    def info(self, schema_name: str) -> ViewInfo:
        return ViewInfo(
            name=self.name,
            schema_name=schema_name,
            definition=self.definition,
            comment=self.comment,
            tags=self.tags,
        )


@dataclass(frozen=True, kw_only=True)
class Schema:
    name: str
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    views: Sequence[View] = ()
    functions: Sequence[type[Function]] = ()

    def __post_init__(self) -> None:
        _check_once((*(t.name for t in self.tables), *(v.name for v in self.views)), f"schema '{self.name}' has")
        _check_once((f.function_name() for f in self.functions), f"schema '{self.name}' has the function")

    def all_functions(self) -> list[type[Function]]:
        """Returns the listed functions, and those that tables are read with."""
        hidden = [t.function for t in self.tables if t.function is not None and t.function not in self.functions]
        return [*self.functions, *hidden]


@dataclass(frozen=True, kw_only=True)
class Catalog:
    name: str
    default_schema: str = "main"
    schemas: Sequence[Schema] = ()
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [schema.name for schema in self.schemas]
        _check_once(names, f"catalog '{self.name}' has the schema")
        if self.default_schema not in names:
            raise ValueError(
                f"default_schema '{self.default_schema}' not found in catalog '{self.name}'; "
                f"it has: {', '.join(names) or 'no schemas'}"
            )

    def schema(self, name: str) -> Schema | None:
        return next((schema for schema in self.schemas if schema.name == name), None)


def _check_once(names: Iterable[str], what: str) -> None:
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise ValueError(f"{what} '{duplicates[0]}' twice: duplicate name")
