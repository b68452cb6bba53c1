#!/usr/bin/env python3
"""Tickets of a remote service, a page at a time. Conditions on the id become the pages that are fetched, LIMIT ends
early, and only the columns that a query reads are asked for; several workers share the pages.

ATTACH 'tickets' (TYPE vgi, LOCATION 'python examples/workers/tickets.py');
SELECT title FROM tickets.main.tickets WHERE id BETWEEN 2000 AND 2010;
"""

import sys

import pyarrow as pa

from pinakes.worker import TableFunctionGenerator, Worker
from pinakes.worker.catalog import Catalog, Schema, Table

TICKETS, PAGE = 10_000, 100


def fetch(page: int, fields: list[str]) -> list[dict]:
    """What would be a GET to the service: /tickets?page=…&fields=…"""
    print(f"GET /tickets?page={page}&fields={','.join(fields)}", file=sys.stderr)
    ids = range(page * PAGE, (page + 1) * PAGE)
    rows = ({"id": i, "title": f"Ticket {i}", "open": i % 3 == 0, "votes": i % 7} for i in ids)
    return [{field: row[field] for field in fields} for row in rows]


class Tickets(TableFunctionGenerator):
    """All tickets, by their id."""

    FIXED_SCHEMA = pa.schema(
        [("id", pa.int64()), ("title", pa.string()), ("open", pa.bool_()), ("votes", pa.int32())]
    )  # fmt: skip
    PROJECTION_PUSHDOWN = True
    FILTER_PUSHDOWN = True
    MAX_WORKERS = 4

    @classmethod
    def splits(cls, params):
        low, high = params.bounds("id")
        first = max(0, low or 0) // PAGE
        last = min(TICKETS - 1, TICKETS - 1 if high is None else high) // PAGE
        pages = range(first, last + 1)
        return pages if params.row_limit is None else pages[: -(-params.row_limit // PAGE)]

    @classmethod
    def process(cls, params, state, out):
        rows = fetch(params.split, params.output_schema.names)
        out.emit(pa.RecordBatch.from_pylist(rows, schema=params.output_schema))
        out.finish()


class TicketWorker(Worker):
    catalog = Catalog(name="tickets", schemas=[Schema(name="main", tables=[Table(name="tickets", function=Tickets)])])


if __name__ == "__main__":
    TicketWorker().run()
