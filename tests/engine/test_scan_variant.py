"""Tables with columns of variants: such a column is read as JSON text, all others as ever; they are not written."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.typedef import Record

from pinakes.core.errors import NotSupportedError
from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_order, rows

_METADATA = b"\x01\x00\x00"
_STORED = pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())])


def _variant(number: int) -> dict[str, bytes]:
    return {"metadata": _METADATA, "value": bytes([5 << 2]) + struct.pack("<i", number)}


def _handle(session: Session) -> Table:
    return session.resolver.table(Name.of("t"))[1].handle


def _append(session: Session, rows_: pa.Table) -> None:
    table = _handle(session)
    location = f"{table.location()}/data/{uuid4()}.parquet"
    with table.io.new_output(location).create() as stream:
        pq.write_table(rows_, stream)
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=rows_.num_rows,
        file_size_in_bytes=len(table.io.new_input(location)),
    )
    file.spec_id = 0
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(file)
    _handle(session)  # what is remembered of it goes


@pytest.fixture
def session() -> Iterator[Session]:
    """Its table t is said to have a column of variants, which nothing here can make."""
    with an_engine() as engine:
        session = engine.session()
        do(session, "CREATE TABLE t (id INT, v VARCHAR) WITH ('format-version' = '3')")
        metadata = Path(_handle(session).metadata_location.removeprefix("file://"))
        metadata.write_text(metadata.read_text().replace('"string"', '"variant"'))
        do(session, "CALL system.runtime.flush_cache('table_metadata')")
        yield session


def _rows_of(values: list[dict[str, bytes] | None], t: pa.DataType = _STORED) -> pa.Table:
    fields = [
        pa.field("id", pa.int32(), metadata={"PARQUET:field_id": "1"}),
        pa.field("v", t, metadata={"PARQUET:field_id": "2"}),
    ]
    return pa.table([pa.array(range(len(values)), pa.int32()), pa.array(values, t)], schema=pa.schema(fields))


def test_it_is_read(session: Session) -> None:
    _append(session, _rows_of([_variant(7), None, _variant(-1)]))
    assert rows(session, "SELECT count(*), max(id) FROM t") == [(3, 2)]
    assert in_order(rows(session, "SELECT * FROM t")) == [(0, "7"), (1, None), (2, "-1")]
    assert rows(session, "SELECT id FROM t WHERE v = '-1'") == [(2,)]
    assert rows(session, "SELECT id FROM t WHERE v IS NULL") == [(1,)]
    assert rows(session, "DESCRIBE t")[1][:2] == ("v", "variant")
    assert rows(session, "SELECT data_type FROM information_schema.columns WHERE column_name = 'v'") == [("variant",)]
    for statement in ("SHOW CREATE TABLE t", "SHOW STATS FOR t", "SUMMARIZE t", 'SELECT * FROM "t$files"'):
        assert rows(session, statement)
    do(session, "CREATE TABLE texts AS SELECT * FROM t")
    assert in_order(rows(session, "SELECT v FROM texts")) == [(None,), ("-1",), ("7",)]


def test_columns_that_came_later(session: Session) -> None:
    _append(session, _rows_of([_variant(7)]))
    do(session, "ALTER TABLE t ADD COLUMN later INT")
    assert rows(session, "SELECT later FROM t") == [(None,)]
    assert rows(session, "SELECT later, v, id FROM t") == [(None, "7", 0)]
    do(session, "ALTER TABLE t DROP COLUMN v")
    assert rows(session, "SELECT * FROM t") == [(0, None)]


def test_a_shredded_one_is_refused_where_it_is_read(session: Session) -> None:
    shredded = pa.struct([*_STORED, pa.field("typed_value", pa.int32())])
    _append(session, _rows_of([{"metadata": _METADATA, "value": None, "typed_value": 3}], shredded))  # type: ignore[dict-item]
    assert rows(session, "SELECT id FROM t") == [(0,)]
    with pytest.raises(NotSupportedError, match="column v has variants whose fields are columns of their own"):
        rows(session, "SELECT v FROM t")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (5, '1')",
        "INSERT INTO t (id) VALUES (5)",
        "UPDATE t SET id = 9",
        "DELETE FROM t WHERE id = 0",
        "CALL system.rewrite_data_files('t', options => MAP {'rewrite-all': 'true'})",
    ],
)
def test_it_is_not_written(session: Session, statement: str) -> None:
    _append(session, _rows_of([_variant(7), _variant(8)]))
    with pytest.raises(NotSupportedError, match="column v of variants"):
        do(session, statement)
    assert in_order(rows(session, "SELECT * FROM t")) == [(0, "7"), (1, "8")]
