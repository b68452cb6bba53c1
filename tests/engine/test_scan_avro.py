"""Data files and delete files of Avro, as other engines write them; these are by pyiceberg's own Avro writer."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from pyiceberg import types as ice
from pyiceberg.avro.file import AvroOutputFile
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record

from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.delete_files import PATH, POS, commit
from tests.engine.support import an_engine, do, in_order, rows

_DEFINED = """
    CREATE TABLE t (id INT, "a.b" VARCHAR, n DECIMAL(9, 2), d DATE, at TIMESTAMP, zoned TIMESTAMPTZ, t TIME, u UUID,
      u2 UUID, f REAL, flag BOOLEAN, raw VARBINARY, s STRUCT<x INT, "y z" ARRAY<VARCHAR>>, m MAP<VARCHAR, INT>,
      im MAP<INT, INT>)
"""
_U = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
_AT = datetime(2024, 2, 29, 12, 30, 1, 5)


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def _handle(session: Session) -> Table:
    return session.resolver.table(Name.of("t"))[1].handle


def _written(table: Table, schema: Schema, values: Sequence[Record], content: DataFileContent) -> DataFile:
    location = f"{table.location()}/data/{uuid.uuid4()}.avro"
    with AvroOutputFile[Any](table.io.new_output(location), schema, "rows") as output:
        output.write_block(list(values))
    found = DataFile.from_args(
        content=content,
        file_path=location,
        file_format=FileFormat.AVRO,
        partition=Record(),
        record_count=len(values),
        file_size_in_bytes=len(table.io.new_input(location)),
    )
    found.spec_id = 0
    return found


def _append(session: Session, values: Sequence[Record]) -> str:
    table = _handle(session)
    schema = Schema(*(f.model_copy(update={"field_type": _full(f.field_type)}) for f in table.schema().fields))
    file = _written(table, schema, values, DataFileContent.DATA)
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(file)
    _handle(session)  # what is remembered of it goes
    return str(file.file_path)


def _full(t: ice.IcebergType) -> ice.IcebergType:
    """The type without NULL in lists and maps: pyiceberg does not write them as the header then says."""
    match t:
        case ice.StructType():
            return ice.StructType(*(f.model_copy(update={"field_type": _full(f.field_type)}) for f in t.fields))
        case ice.ListType():
            return ice.ListType(t.element_id, _full(t.element_type), element_required=True)
        case ice.MapType():
            return ice.MapType(t.key_id, t.key_type, t.value_id, _full(t.value_type), value_required=True)
    return t


def _row(number: int) -> Record:
    micros = int((_AT - datetime(1970, 1, 1)).total_seconds() * 1_000_000)
    values = (
        *(number, f"v{number}", Decimal("1.25") * number, (date(2024, 1, 1) - date(1970, 1, 1)).days, micros, micros),
        *(3_600_000_001, _U, None, 0.5, True, b"\x00raw"),
        *(Record(number, ["p", "q"]), {"k": number}, {number: -number}),
    )
    return Record(*values)


def _shown(number: int) -> tuple[Any, ...]:
    return (
        *(number, f"v{number}", Decimal("1.25") * number, date(2024, 1, 1), _AT, _AT, time(1, 0, 0, 1), str(_U), None),
        *(0.5, True, b"\x00raw", {"x": number, "y z": ["p", "q"]}, [("k", number)], [(number, -number)]),
    )


def _rows(session: Session, sql: str = "SELECT * FROM t") -> list[tuple[Any, ...]]:
    found = rows(session, sql)
    return [tuple(v.replace(tzinfo=None) if isinstance(v, datetime) else v for v in row) for row in found]


def test_rows_are_read_with_all_their_types(session: Session) -> None:
    do(session, _DEFINED)
    _append(session, [_row(1), _row(2)])
    _append(session, [Record(3, *([None] * 14))])
    assert sorted(_rows(session), key=lambda row: row[0]) == [_shown(1), _shown(2), (3, *([None] * 14))]
    assert rows(session, "SELECT id FROM t WHERE \"a.b\" = 'v2' AND s['x'] = 2") == [(2,)]
    assert rows(session, "SELECT count(*) FROM t") == [(3,)]


def test_columns_are_found_by_their_ids(session: Session) -> None:
    do(session, _DEFINED)
    _append(session, [_row(1)])
    for change in (
        "ALTER TABLE t RENAME COLUMN id TO number",
        "ALTER TABLE t ALTER COLUMN number TYPE BIGINT",
        "ALTER TABLE t RENAME COLUMN s.x TO w",
        "ALTER TABLE t DROP COLUMN n",
        "ALTER TABLE t ADD COLUMN n INT",
    ):
        do(session, change)
    assert rows(session, "SELECT number, n, s['w'] FROM t") == [(1, None, 1)]


def test_deletes_by_position_and_by_value(session: Session) -> None:
    do(session, _DEFINED)
    path = _append(session, [_row(n) for n in range(6)])
    positions = Schema(
        ice.NestedField(PATH, "file_path", ice.StringType(), required=True),
        ice.NestedField(POS, "pos", ice.LongType(), required=True),
    )
    gone = _written(_handle(session), positions, [Record(path, 1)], DataFileContent.POSITION_DELETES)
    commit(_handle(session), [gone])
    _handle(session)
    values = Schema(ice.NestedField(2, "a.b", ice.StringType(), required=False))
    gone = _written(_handle(session), values, [Record("v3"), Record("v9")], DataFileContent.EQUALITY_DELETES)
    gone._data[14] = [2]
    commit(_handle(session), [gone])
    _handle(session)
    assert in_order(rows(session, "SELECT id FROM t")) == [(0,), (2,), (4,), (5,)]
    do(session, "UPDATE t SET f = 9 WHERE id = 4")
    do(session, "DELETE FROM t WHERE id = 5")
    assert in_order(rows(session, "SELECT id, f FROM t")) == [(0, 0.5), (2, 0.5), (4, 9.0)]
    do(session, "CALL system.rewrite_data_files('t', options => MAP {'rewrite-all': 'true'})")
    assert in_order(rows(session, "SELECT id, f FROM t")) == [(0, 0.5), (2, 0.5), (4, 9.0)]
