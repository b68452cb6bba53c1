"""system.runtime.nodes: the machines that run queries: this one."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable, always_null
from pinakes.system_tables.runtime_state import NodeInfo


def _rows(request: Request) -> Iterable[NodeInfo]:
    return [request.world.runtime.node()]


TABLE: SystemTable[NodeInfo] = SystemTable(
    name="nodes",
    doc="One row: the process that runs the queries.",
    columns=(
        Column("node_id", TEXT, "Id of the node", lambda n: n.node_id),
        always_null("http_uri", TEXT),
        Column("node_version", TEXT, "Version of Pinakes that it runs", lambda n: n.version),
        Column("coordinator", TRUTH, "Whether clients talk to it: always", lambda n: True),
        Column("state", TEXT, "Always active: another would not answer", lambda n: "active"),
        Column("started", MOMENT, "When the engine was started", lambda n: n.started),
        Column("processors", NUMBER, "Processors that it may use", lambda n: n.processors),
        Column("memory_limit_bytes", NUMBER, "Memory that all queries together may take", lambda n: n.memory_limit),
    ),
    items=_rows,
)
