"""CommandStatementIngest: writes a stream of rows into a new or an existing table, in one commit.

The rows are streamed: they are read from the network while the data files are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, TableNotFound, listing
from pinakes.core.names import TEMP, Name, Part, quote, undotted
from pinakes.engine.session import Session
from pinakes.flight.commands.base import Command
from pinakes.flight.commands.execution import run
from pinakes.flight.commands.statements import update_result
from pinakes.flight.request import FlightRequest
from pinakes.flight.streams import ClientRows
from pinakes.flight.wire.messages import Message, optional

SURE = 0.2
"""Seconds to wait for a late cancellation before the commit, see `Call.check_there`."""
CREATE, MUST_EXIST = 1, 2
FAIL, APPEND, REPLACE = 1, 2, 3


class StatementIngest(Command):
    def put(self, message: Message, request: FlightRequest, reader: Any) -> bytes:
        from pinakes.engine.datafusion.memory_sources import ReadOnce

        _check_request(message)
        connection = request.within(message.transaction_id)
        target = _target(message, connection.session)
        begin = _statement(message, target, connection.session)
        with closing(ClientRows(reader, request.call, SURE)) as sent:
            coming = pa.RecordBatchReader.from_batches(_check_names(reader.schema), _counted(sent, request))
            with connection.session.temporary.brought(ReadOnce(coming)) as rows:
                result = run(request, connection, f"{begin} SELECT * FROM {quote(rows)}")
            result.close()
        return update_result(request, result.count)


def _counted(batches: Iterator[pa.RecordBatch], request: FlightRequest) -> Iterator[pa.RecordBatch]:
    """Yields the batches, each of which counts in the memory of the user until the next one is read."""
    for batch in batches:
        with request.service.memory.reserve(request.user, batch.nbytes):
            yield batch


def _check_names(schema: pa.Schema) -> pa.Schema:
    duplicates = [name for name, times in Counter(schema.names).items() if times > 1]
    if duplicates:
        raise InvalidArgument(f"several columns have the same name: {listing(duplicates)}. Give each its own")
    return schema


def _check_request(message: Message) -> None:
    options = message.table_definition_options
    if options.if_not_exist not in (CREATE, MUST_EXIST) or options.if_exists not in (FAIL, APPEND, REPLACE):
        raise InvalidArgument(
            f"ingesting needs to know what to do: if_not_exist is {options.if_not_exist} (1 creates it, 2 fails) "
            f"and if_exists is {options.if_exists} (1 fails, 2 appends, 3 replaces)"
        )
    if not message.table:
        raise InvalidArgument("ingesting needs the name of a table")
    if message.options:
        raise InvalidArgument(f"ingesting has no options of its own; given: {listing(message.options)}")


def _target(message: Message, session: Session) -> tuple[str, ...]:
    """Returns the table's full name. A schema without a catalog belongs to the current catalog, even if a catalog has
    its name."""
    catalog, schema = optional(message, "catalog") or None, optional(message, "schema") or None
    if message.temporary:
        if (catalog or TEMP) != TEMP or schema is not None:
            raise InvalidArgument("a temporary table has no catalog and no schema: leave them out")
        return (TEMP, message.table)
    if catalog is None and schema is None:
        return (message.table,)
    if catalog is not None:
        session.catalogs.get(catalog)  # an unknown catalog must not be read as a schema of the current catalog
    return (catalog or session.scope.catalog, *(undotted(schema) if schema else ()), message.table)


def _statement(message: Message, target: tuple[str, ...], session: Session) -> str:
    """Returns the part of the statement before the SELECT."""
    options, name = message.table_definition_options, ".".join(map(quote, target))
    exists = _exists(target, session)
    if exists and options.if_exists == APPEND:
        return f"INSERT INTO {name} BY NAME"
    if not exists and options.if_not_exist == MUST_EXIST:
        raise TableNotFound(f"table {name} does not exist, and the client did not ask to create it")
    replace = "OR REPLACE " if exists and options.if_exists == REPLACE else ""
    return f"CREATE {replace}TABLE {name} AS"


def _exists(target: tuple[str, ...], session: Session) -> bool:
    try:
        session.resolver.find(Name(tuple(Part(part, quoted=True) for part in target)), kind="TABLE")
    except TableNotFound:
        return False
    return True
