"""Compressed buffers in a message: Arrow unpacks them before the server sees the call, and 120 KB become 4 GB."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.flight.wire.messages import message, pack
from tests.flight.identities import configured, headers, query

TOKEN = "a-token-of-eve-0123456789"
TOML = f"""
[server]
process_memory = "2GB"
[server.tokens]
eve = "{TOKEN}"
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the reserve is made on Linux only")
def test_a_message_that_unpacks_to_more_than_the_reserve_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process of its own: a forked one has loaded Arrow already, without the reserve.
    monkeypatch.delenv("PYTEST_VERSION")
    rows = pa.record_batch([pa.array(np.zeros(3 << 27, np.int64))], names=["a"])  # 3 GB of zeros
    ingest = message("CommandStatementIngest")(table="t")
    ingest.table_definition_options.if_not_exist = 1
    ingest.table_definition_options.if_exists = 3
    options = fl.FlightCallOptions(
        headers=[(b"authorization", f"Bearer {TOKEN}".encode())],
        write_options=pa.ipc.IpcWriteOptions(compression="zstd"),
    )
    with configured(tmp_path, TOML) as server, fl.connect(server.uri) as client:
        writer, reader = client.do_put(fl.FlightDescriptor.for_command(pack(ingest)), rows.schema, options)
        with pytest.raises((pa.ArrowException, fl.FlightError), match=r"OUT_OF_MEMORY|malloc|memory"):  # noqa: PT012
            writer.write_batch(rows)
            writer.done_writing()
            reader.read()
            writer.close()
        assert server.process.poll() is None
        assert server.resident() < 1 << 30
        info = client.get_flight_info(query("SELECT sum(value) AS s FROM range(1000000)"), headers(TOKEN))
        found = client.do_get(info.endpoints[0].ticket, headers(TOKEN)).read_all().to_pylist()
        assert found == [{"s": 499_999_500_000}]
