"""The interface of a remote engine. `api/build.py` supplies the implementation.

Names are resolved and statements planned here, as always. The remote engine gets a text in its own dialect, the
catalogs that occur in it with their options, and the schema that the rows must have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa

if TYPE_CHECKING:
    from pinakes.engine.catalogs.opening import Opening
    from pinakes.engine.execution.query import Query


@dataclass(frozen=True, slots=True)
class RemoteCatalog:
    """A mounted catalog as a remote statement names it, and what it is opened with: its credentials are in there."""

    name: str
    opening: Opening = field(repr=False)
    on_s3: bool = False
    """Files of its tables are on an object store."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Rows of ours that a remote statement reads under a name: no catalog of the other engine's has them."""

    name: str
    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemoteStatement:
    """A statement for the other engine. `place` is whose session it belongs to: nothing is shared between two."""

    query: Query
    place: str
    sql: str = field(repr=False)
    schema: pa.Schema
    catalogs: Sequence[RemoteCatalog] = ()
    handed_over: Sequence[HandedOver] = ()
    is_large: bool = True
    """Its result may be larger than what fits into memory anywhere: it goes through files."""
    signature: Mapping[str, str] = field(default_factory=dict)
    """What the summary of a snapshot that it makes is to say."""


class RemoteNode(NamedTuple):
    """A process that runs tasks."""

    node_id: str
    version: str
    started: datetime
    processors: int
    memory_limit: int
    state: str


class RemoteTask(NamedTuple):
    """A task of a statement."""

    query_id: str
    user: str
    node_id: str
    stage_id: str
    task_id: str
    state: str
    rows: int
    bytes: int
    output_rows: int
    output_bytes: int
    shuffled_bytes: int
    milliseconds: int
    created: datetime
    ended: datetime | None


class RemoteEngine(Protocol):
    """Thread-safe. Nothing is started before the first statement."""

    @property
    def name(self) -> str: ...

    def run(self, statement: RemoteStatement) -> Iterator[pa.RecordBatch]:
        """The rows of a query, in its schema, as they come; closing the iterator stops it there, too."""
        ...

    def change(self, statement: RemoteStatement) -> pa.Table:
        """Carry out a statement that changes a table: when this returns it is committed. What it answers, if it is one
        that does (CALL), as it comes."""
        ...

    def nodes(self) -> Sequence[RemoteNode]:
        """Those that run now; none before the first statement."""
        ...

    def tasks(self) -> Sequence[RemoteTask]:
        """Those of statements that run or ran not long ago."""
        ...

    def release(self, place: str) -> None:
        """A session is over: forget what was opened for it."""
        ...

    def close(self) -> None:
        """Stop what was started for this process."""
        ...
