"""A statement that fails while a client sends its rows: DataFusion read on after the call had ended, from freed memory,
and the process died with a segmentation fault."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.core.errors import QueryCanceled
from pinakes.flight.streams import ClientRows
from pinakes.flight.wire.messages import message, pack
from tests.flight.identities import configured, headers, query

TOKEN = "a-token-of-eve-0123456789"
TOML = f'[server.tokens]\neve = "{TOKEN}"\n'
ROWS = pa.record_batch([pa.array(["x"] * 100)], names=["a"])


class Chunk:
    data = ROWS


class Call:
    def check_there(self, seconds: float) -> None:
        """Finds the client there."""

    def note_message(self, size: int) -> None:
        """Accepts messages of any size."""


class Slow:
    """A stream that waits until it may go on, and counts its reads."""

    def __init__(self) -> None:
        self.begun, self.may_go_on, self.reads = threading.Event(), threading.Event(), 0

    def __iter__(self) -> Slow:
        return self

    def __next__(self) -> Chunk:
        self.reads += 1
        self.begun.set()
        assert self.may_go_on.wait(60)
        return Chunk()


def test_the_end_of_a_call_waits_for_a_read_and_allows_no_other() -> None:
    stream = Slow()
    rows = ClientRows(stream, Call(), 0.0)  # type: ignore[arg-type]
    reading = threading.Thread(target=next, args=(rows,), daemon=True)
    reading.start()
    assert stream.begun.wait(60)
    closing = threading.Thread(target=rows.close, daemon=True)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    stream.may_go_on.set()
    closing.join(60)
    assert not closing.is_alive()
    with pytest.raises(QueryCanceled):
        next(rows)
    assert stream.reads == 1


@pytest.mark.slow
def test_the_server_survives_rows_that_cannot_be_stored(tmp_path: Path) -> None:
    ingest = message("CommandStatementIngest")(table="numbers")
    ingest.table_definition_options.if_not_exist = 1
    ingest.table_definition_options.if_exists = 2
    with configured(tmp_path, TOML) as server, fl.connect(server.uri) as client:

        def run(sql: str) -> list[dict[str, object]]:
            info = client.get_flight_info(query(sql), headers(TOKEN))
            return list(client.do_get(info.endpoints[0].ticket, headers(TOKEN)).read_all().to_pylist())

        run("CREATE TABLE numbers (a INT NOT NULL)")
        for _ in range(5):
            descriptor = fl.FlightDescriptor.for_command(pack(ingest))
            writer, reader = client.do_put(descriptor, ROWS.schema, headers(TOKEN))
            with pytest.raises(pa.ArrowException, match="can't be read as integer"):  # noqa: PT012
                for _ in range(2000):
                    writer.write_batch(ROWS)
                writer.done_writing()
                reader.read()
                writer.close()
        assert run("SELECT count(*) AS n FROM numbers") == [{"n": 0}]
        assert server.process.poll() is None
