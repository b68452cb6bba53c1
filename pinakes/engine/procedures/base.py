"""What a procedure is: its parameters, the columns of its answer, and what it does, to a table or to the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.namespaces import Found

if TYPE_CHECKING:
    from pinakes.core.names import Name
    from pinakes.engine.statement_context import Execution

Type = Literal["text", "integer", "timestamp", "boolean", "integers", "texts", "options", "condition"]


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Type
    required: bool = False
    only_here: bool = False
    """Iceberg's own procedure has none of this name."""


@dataclass(slots=True)
class Work:
    """A call that is under way: the table it is about, and what was given for the other parameters (None if not)."""

    found: Found
    table: IcebergTable
    arguments: dict[str, Any]
    now: datetime
    execution: Execution

    def check(self) -> None:
        """Raises when the statement was stopped."""
        self.execution.query.check()

    def __getitem__(self, name: str) -> Any:
        return self.arguments.get(name)


Rows = Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Signature:
    """What every procedure has."""

    name: str
    parameters: tuple[Parameter, ...]
    columns: pa.Schema

    @property
    def usage(self) -> str:
        shown = (p.name if p.required else f"[{p.name}]" for p in self.parameters)
        return f"{self.name}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Procedure(Signature):
    """`run` is done anew when somebody else changed the table meanwhile. The first parameter is always the table."""

    run: Callable[[Work], Rows]
    elsewhere: Literal["never", "asked", "large"] = "never"
    """When Iceberg's own procedure is called on another engine: when that one is asked for; or also when the table is
    large (`elsewhere.py`)."""
    in_transactions: bool = True
    """Whether it may run between BEGIN and COMMIT: one that removes files can't be rolled back, and one that only
    changes how rows are kept has no part in what a transaction does."""


@dataclass(frozen=True, slots=True)
class MakingProcedure(Signature):
    """One that makes a table. The first parameter is its name; `run` gets what was given for the others."""

    run: Callable[[Execution, Name, dict[str, Any]], Rows]


@dataclass(frozen=True, slots=True)
class RuntimeProcedure(Signature):
    """One of the engine itself. `run` gets what was given for the parameters, by their names; it checks rights."""

    run: Callable[[Execution, dict[str, Any]], Rows]


TABLE = Parameter("table", "text", required=True)
DRY_RUN = Parameter("dry_run", "boolean", only_here=True)
"""It is only told what would be done."""
SNAPSHOT = Parameter("snapshot_id", "integer", required=True)
MOVED = pa.schema([("previous_snapshot_id", pa.int64()), ("current_snapshot_id", pa.int64())])
"""The answer of those that set the current snapshot."""


def milliseconds(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp() * 1000)
