"""What functions have in common: a name, a description, arguments; and what a call of one is told."""

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
    """What is known when a call is planned."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Python values by the name of the argument."""
    scalars: Mapping[str, pa.Scalar] = field(default_factory=dict)
    """The same as Arrow has them."""
    input_schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    """Of a scalar function: the columns that it will be given."""
    attach_opaque_data: AttachOpaqueData | None = field(default=None, repr=False)
    transaction_opaque_data: TransactionOpaqueData | None = field(default=None, repr=False)
    at_unit: str | None = None
    """VERSION or TIMESTAMP, of a query of the past."""
    at_value: str | None = None


@dataclass(frozen=True, kw_only=True)
class ProcessParams(BindParams):
    """What is known when a call runs."""

    output_schema: pa.Schema
    """What is to be emitted: of a function with PROJECTION_PUSHDOWN, only the columns that are wanted."""
    filters: tuple[Filter, ...] = ()
    """Conditions that all rows must meet. Whoever asked checks them again: they may be ignored."""
    row_limit: int | None = None
    """So many rows are enough."""
    split: Any = None
    """The piece of work that this call is to do; one of those that `splits` gave."""

    def value(self, column: str) -> Any:
        """The one value that the filters leave for a column, or None: for a key that a remote API looks up."""
        from pinakes.worker.wire.filters import Comparison, conjuncts

        found = (f for f in conjuncts(self.filters) if isinstance(f, Comparison) and f.column == column)
        return next((f.value.as_py() for f in found if f.op == "eq"), None)

    def bounds(self, column: str) -> tuple[Any, Any]:
        """What the filters say of a column, as its lowest and highest value, both included; None where they are silent.
        The bounds of `<` and `>` are in it, too: rows are checked again."""
        from pinakes.worker.wire.filters import Comparison, conjuncts

        said = [f for f in conjuncts(self.filters) if isinstance(f, Comparison) and f.column == column]
        low = [f.value.as_py() for f in said if f.op in ("eq", "gt", "ge")]
        high = [f.value.as_py() for f in said if f.op in ("eq", "lt", "le")]
        return max(low, default=None), min(high, default=None)


class Function:
    """The base of `ScalarFunction` and `TableFunctionGenerator`. A function is a class and never an object."""

    name: ClassVar[str] = ""
    """What SQL calls it; of `MyFunction`, unless this is set, `my_function`."""
    ARGUMENTS: ClassVar[pa.Schema] = pa.schema([])
    """Its arguments, in order."""
    DEFAULTS: ClassVar[Mapping[str, Any]] = {}
    """Values of arguments that need not be given."""
    TAGS: ClassVar[Mapping[str, str]] = {}
    TYPE: ClassVar[FunctionType]

    @classmethod
    def function_name(cls) -> str:
        return cls.__dict__.get("name") or _WORDS.sub("_", cls.__name__).lower()

    @classmethod
    def description(cls) -> str | None:
        """The first paragraph of its docstring."""
        text = (cls.__dict__.get("__doc__") or "").strip().split("\n\n")[0]
        return " ".join(text.split()) or None

    @classmethod
    def output_of(cls, params: BindParams) -> pa.Schema:
        """The schema of what a call gives."""
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
        """What it gives whatever its arguments are; without fields, where that depends on them."""
        return pa.schema([])

    @classmethod
    def bound(cls, arguments: Arguments) -> dict[str, pa.Scalar]:
        """The arguments of a call by name, with the declared types; ValueError tells what is missing or too much."""
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
