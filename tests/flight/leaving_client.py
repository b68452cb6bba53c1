"""Clients, one for each step of the protocol: each comes as far as that and stays there until all are killed."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.flight.wire.messages import message, pack, unpack

ENDLESS = "range(100000000000)"
BATCH = pa.record_batch({"n": pa.array(range(1000), pa.int64())})


def act(client: fl.FlightClient, name: str, **fields: object) -> Any:
    body = pack(message(f"Action{name}Request")(**fields))
    return unpack(next(iter(client.do_action(fl.Action(name, body)))).body.to_pybytes())[1]


def descriptor(name: str, **fields: object) -> fl.FlightDescriptor:
    return fl.FlightDescriptor.for_command(pack(message(name)(**fields)))


def info(client: fl.FlightClient, sql: str, **fields: object) -> fl.FlightInfo:
    return client.get_flight_info(descriptor("CommandStatementQuery", query=sql, **fields))


def connects(client: fl.FlightClient) -> object:
    client.wait_for_available(60)
    return None


def logs_in(client: fl.FlightClient) -> object:
    return client.authenticate_basic_token("who", "ever")


def prepares(client: fl.FlightClient) -> object:
    return act(client, "CreatePreparedStatement", query=f"SELECT value FROM {ENDLESS} WHERE value > ?")


def binds(client: fl.FlightClient) -> object:
    handle = act(client, "CreatePreparedStatement", query="INSERT INTO sink VALUES (?)").prepared_statement_handle
    return _half(client, descriptor("CommandPreparedStatementUpdate", prepared_statement_handle=handle))


def asks(client: fl.FlightClient) -> object:
    return info(client, f"SELECT value FROM {ENDLESS}")


def computes(client: fl.FlightClient) -> object:
    """GetFlightInfo of an ingestion by SQL, which only returns when it is done."""
    return _begun(lambda: info(client, f"INSERT INTO sink SELECT value FROM {ENDLESS} WHERE value % 1000003 = 1"))


def fetches(client: fl.FlightClient) -> object:
    reader = client.do_get(info(client, f"SELECT value + 1 FROM {ENDLESS}").endpoints[0].ticket)
    reader.read_chunk()
    return reader


def waits_for_rows(client: fl.FlightClient) -> object:
    ticket = info(client, f"SELECT sum(value % 7) FROM {ENDLESS}").endpoints[0].ticket
    return _begun(lambda: client.do_get(ticket).read_all())


def ingests(client: fl.FlightClient) -> object:
    options = message("TableDefinitionOptions")(if_not_exist=1, if_exists=1)
    return _half(client, descriptor("CommandStatementIngest", table="never", table_definition_options=options))


def changes_in_a_transaction(client: fl.FlightClient) -> object:
    begun = act(client, "BeginTransaction").transaction_id
    return info(client, "INSERT INTO sink VALUES (1)", transaction_id=begun)


def lists(client: fl.FlightClient) -> object:
    found = client.get_flight_info(descriptor("CommandGetTables", include_schema=True))
    return client.do_get(found.endpoints[0].ticket)


def is_a_shell(client: fl.FlightClient) -> object:
    def ask(name: str, **body: object) -> Any:
        (answer,) = client.do_action(fl.Action(name, json.dumps(body).encode()))
        return json.loads(answer.body.to_pybytes())["answer"]

    return ask("PinakesRun", session=ask("PinakesSession")["id"], id=1, sql=f"SELECT value - 1 FROM {ENDLESS}")


def _half(client: fl.FlightClient, command: fl.FlightDescriptor) -> object:
    writer, reader = client.do_put(command, BATCH.schema)
    writer.write_batch(BATCH)
    return writer, reader


def _begun(call: Callable[[], object]) -> object:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    time.sleep(0.5)  # whether it has begun by then or not, it is killed in some step
    return thread


STEPS: tuple[Callable[[fl.FlightClient], object], ...] = (
    connects,
    logs_in,
    prepares,
    binds,
    asks,
    computes,
    fetches,
    waits_for_rows,
    ingests,
    changes_in_a_transaction,
    lists,
    is_a_shell,
)


def main(uri: str) -> None:
    apart = [("grpc.use_local_subchannel_pool", 1)]  # each has a TCP connection of its own
    clients = [fl.connect(uri, generic_options=apart) for _ in STEPS]
    held = [step(client) for step, client in zip(STEPS, clients, strict=True)]
    sys.stdout.write("there\n")
    sys.stdout.flush()
    time.sleep(600)
    del held


if __name__ == "__main__":
    main(sys.argv[1])
