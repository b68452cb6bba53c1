"""The base of functions: a name, a description, arguments; and the parameters of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from pinakes.worker.catalog.infos import FunctionInfo
from pinakes.worker.catalog.names import AttachOpaqueData, FunctionType, SerializedSchema, TransactionOpaqueData
from pinakes.worker.wire.arguments import Arguments
from pinakes.worker.wire.filters import Filter
from pinakes.worker.wire.records import schema_bytes

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, kw_only=True)
class BindParams:
    """The parameters of a call while it is planned."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Python values by argument name."""
    scalars: Mapping[str, pa.Scalar] = field(default_factory=dict)
    """The same values as Arrow scalars."""
    input_schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    """For a scalar function: the schema of its argument columns."""
    attach_opaque_data: AttachOpaqueData | None = field(default=None, repr=False)
    transaction_opaque_data: TransactionOpaqueData | None = field(default=None, repr=False)
    at_unit: str | None = None
    """VERSION or TIMESTAMP, for time travel queries."""
    at_value: str | None = None


@dataclass(frozen=True, kw_only=True)
class ProcessParams(BindParams):
    """The parameters of a call while it runs."""

    output_schema: pa.Schema
    """The schema to emit: with PROJECTION_PUSHDOWN, only the projected columns."""
    filters: tuple[Filter, ...] = ()
    """Predicates that all rows must satisfy. The caller checks them again, so a function may ignore them."""
    row_limit: int | None = None
    """The number of rows that are sufficient."""
    split: Any = None
    """The split that this call processes; one of those that `splits` returned."""

    def value(self, column: str) -> Any:
        """Returns the one value that the filters allow for a column, or None: for example, a key to look up in a remote
        API.
        """
        from pinakes.worker.wire.filters import Comparison, conjuncts

        found = (f for f in conjuncts(self.filters) if isinstance(f, Comparison) and f.column == column)
        return next((f.value.as_py() for f in found if f.op == "eq"), None)

    def bounds(self, column: str) -> tuple[Any, Any]:
        """Returns the lowest and highest value that the filters allow for a column, both inclusive; None where
        unbounded. The bounds of `<` and `>` are also treated as inclusive: rows are checked again.
        """
        from pinakes.worker.wire.filters import Comparison, conjuncts

        said = [f for f in conjuncts(self.filters) if isinstance(f, Comparison) and f.column == column]
        low = [f.value.as_py() for f in said if f.op in ("eq", "gt", "ge")]
        high = [f.value.as_py() for f in said if f.op in ("eq", "lt", "le")]
        return max(low, default=None), min(high, default=None)


class Function:
    """The base of `ScalarFunction` and `TableFunctionGenerator`. A function is a class that is never instantiated."""

    name: ClassVar[str] = ""
    """The name in SQL; by default derived from the class: `my_function` for `MyFunction`."""
    ARGUMENTS: ClassVar[pa.Schema] = pa.schema([])
    """The arguments, in order."""
    DEFAULTS: ClassVar[Mapping[str, Any]] = {}
    """Default values of optional arguments."""
    TAGS: ClassVar[Mapping[str, str]] = {}
    TYPE: ClassVar[FunctionType]

    @classmethod
    def function_name(cls) -> str:
        return cls.__dict__.get("name") or _WORDS.sub("_", cls.__name__).lower()

    @classmethod
    def description(cls) -> str | None:
        """Returns the first paragraph of the class's docstring."""
        text = (cls.__dict__.get("__doc__") or "").strip().split("\n\n")[0]
        return " ".join(text.split()) or None

    @classmethod
    def output_of(cls, params: BindParams) -> pa.Schema:
        """Returns the schema of a call's result."""
        raise NotImplementedError(f"{cls.__name__} must say what it gives")

    @classmethod
    def info(cls, schema_name: str) -> FunctionInfo:
        defaults = {n: pa.scalar(v, cls.ARGUMENTS.field(n).type) for n, v in cls.DEFAULTS.items()}
        return FunctionInfo(
            name=cls.function_name(),
            schema_name=schema_name,
            function_type=cls.TYPE,
            arguments=SerializedSchema(schema_bytes(cls.ARGUMENTS)),
            output_schema=SerializedSchema(schema_bytes(cls.declared_output())),
            comment=cls.description(),
            tags=cls.TAGS,
            defaults=defaults,
            projection_pushdown=bool(getattr(cls, "PROJECTION_PUSHDOWN", False)),
            filter_pushdown=bool(getattr(cls, "FILTER_PUSHDOWN", False)),
            max_workers=int(getattr(cls, "MAX_WORKERS", 1)),
            deterministic=bool(getattr(cls, "DETERMINISTIC", True)),
        )

    @classmethod
    def declared_output(cls) -> pa.Schema:
        """Returns the result's schema if it is the same for all arguments; without fields if it depends on them."""
        return pa.schema([])

    @classmethod
    def bound(cls, arguments: Arguments) -> dict[str, pa.Scalar]:
        """Returns the arguments of a call by name, with the declared types; raises ValueError for missing or extra
        ones.
        """
        names = cls.ARGUMENTS.names
        if len(arguments.positional) > len(names):
            raise ValueError(f"{cls.function_name()} takes {_count(len(names))}, and {len(arguments.positional)} came")
        found = dict(zip(names, arguments.positional, strict=False))
        for key, value in arguments.named.items():
            if key not in names:
                raise ValueError(f"{cls.function_name()} has no argument '{key}'; it has: {', '.join(names) or 'none'}")
            if key in found:
                raise ValueError(f"{cls.function_name()} has the argument '{key}' twice")
            found[key] = value
        missing = [n for n in names if n not in found and n not in cls.DEFAULTS]
        if missing:
            raise ValueError(f"{cls.function_name()} needs the argument '{missing[0]}'")
        return {n: _typed(cls, n, found.get(n, cls.DEFAULTS.get(n))) for n in names}


def _typed(cls: type[Function], name: str, value: Any) -> pa.Scalar:
    wanted = cls.ARGUMENTS.field(name).type
    try:
        return value.cast(wanted) if isinstance(value, pa.Scalar) else pa.scalar(value, wanted)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise ValueError(f"argument '{name}' of {cls.function_name()} must be {wanted}: {error}") from None


def _count(number: int) -> str:
    return "no argument" if number == 0 else "one argument" if number == 1 else f"{number} arguments"
