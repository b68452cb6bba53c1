"""Procedures: their parameters, their result columns, and their effect on a table or on the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.namespaces import ResolvedTable

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
    """Whether Iceberg's own procedure lacks this parameter."""


@dataclass(slots=True)
class Work:
    """A call in progress: its table, and the values of the other parameters (None if not given)."""

    found: ResolvedTable
    table: IcebergTable
    arguments: dict[str, Any]
    now: datetime
    execution: Execution

    def check(self) -> None:
        """Raises if the statement was cancelled."""
        self.execution.query.check()

    def __getitem__(self, name: str) -> Any:
        return self.arguments.get(name)


Rows = Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Signature:
    """The common part of all procedures."""

    name: str
    parameters: tuple[Parameter, ...]
    columns: pa.Schema

    @property
    def usage(self) -> str:
        shown = (p.name if p.required else f"[{p.name}]" for p in self.parameters)
        return f"{self.name}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Procedure(Signature):
    """A procedure on a table, its first parameter. `run` is retried if the table was changed concurrently."""

    run: Callable[[Work], Rows]
    on_remote_engine: Literal["never", "selected", "large"] = "never"
    """When Iceberg's own procedure runs on another engine instead: if the user selects that engine; or also if the
    table is large (`remote_dispatch.py`).
    """
    in_transactions: bool = True
    """Whether it may run between BEGIN and COMMIT. Removing files cannot be rolled back, and rewriting files without
    changing rows is not part of a transaction.
    """


@dataclass(frozen=True, slots=True)
class MakingProcedure(Signature):
    """A procedure that creates a table. The first parameter is its name; `run` gets the other arguments."""

    run: Callable[[Execution, Name, dict[str, Any]], Rows]


@dataclass(frozen=True, slots=True)
class RuntimeProcedure(Signature):
    """A procedure of the engine. `run` gets the arguments by name, and checks privileges."""

    run: Callable[[Execution, dict[str, Any]], Rows]


TABLE = Parameter("table", "text", required=True)
DRY_RUN = Parameter("dry_run", "boolean", only_here=True)
"""Only reports what would be done."""
SNAPSHOT = Parameter("snapshot_id", "integer", required=True)
MOVED = pa.schema([("previous_snapshot_id", pa.int64()), ("current_snapshot_id", pa.int64())])
"""The result columns of procedures that set the current snapshot."""


def milliseconds(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp() * 1000)
