"""Parameters: every Python value that SQL has a value for goes in as it is, and comes back the same."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from enum import Enum
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
import pytest

import pinakes

BERLIN = ZoneInfo("Europe/Berlin")
SAME: list[Any] = [
    None,
    True,
    0,
    -(2**63),
    2**63 - 1,
    1.5,
    float("-inf"),
    Decimal("12345678901234567890.123456789"),
    "",
    "it's; DROP TABLE t; -- 日本 \N{GRINNING FACE}",
    b"\x00\xff",
    dt.date(1, 1, 1),
    dt.datetime(2026, 3, 29, 2, 30, 0, 1),
    dt.datetime(2026, 3, 29, 2, 30, tzinfo=dt.UTC),
    dt.datetime(2026, 7, 1, tzinfo=BERLIN),
    dt.time(23, 59, 59, 999999),
    dt.timedelta(days=-1, microseconds=1),
    [1, None, 3],
    [],
    {"a": 1, "b": ["x"]},
    [{"a": 1}, {"a": None}],
]


@pytest.mark.parametrize("value", SAME, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_the_same(value: Any, con: pinakes.Connection) -> None:
    found = con.execute("SELECT ? AS v", [value]).fetchone()
    assert found == (value,)
    assert found is not None
    assert type(found[0]) is type(value)


U = uuid.UUID("123e4567-e89b-12d3-a456-426614174000")
ODD_ZONE = dt.timezone(dt.timedelta(seconds=3661))
OTHER: list[tuple[Any, Any]] = [
    (2**63, Decimal(2**63)),
    (-(10**70), Decimal(-(10**70))),
    (U, str(U)),
    ([U], [str(U)]),
    ((1, 2), [1, 2]),
    (bytearray(b"x"), b"x"),
    (memoryview(b"x"), b"x"),
    (dt.datetime(2026, 1, 1, 1, 1, 1, tzinfo=ODD_ZONE), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
    (pa.scalar(7, pa.int8()), 7),
    (pd.Timestamp("2026-01-01 00:00:00.123456789"), dt.datetime(2026, 1, 1, 0, 0, 0, 123456)),
]


@pytest.mark.parametrize(("value", "expected"), OTHER, ids=lambda value: type(value).__name__)
def test_a_value_that_sql_sees_otherwise(value: Any, expected: Any, con: pinakes.Connection) -> None:
    assert con.execute("SELECT ?", [value]).fetchone() == (expected,)


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [(object(), "object"), (1j, "complex"), (Colour.RED, "Colour"), (10**80, "int"), ([1, "x"], "list"),
     (dt.time(1, tzinfo=dt.UTC), "time")],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_a_value_that_sql_does_not_have(value: Any, kind: str, con: pinakes.Connection) -> None:
    with pytest.raises(pinakes.ProgrammingError, match=f"parameter 2: a {kind} cannot be bound"):
        con.execute("SELECT ?, ?", [1, value])


def test_numbered_and_named_parameters(con: pinakes.Connection) -> None:
    assert con.execute("SELECT $2 - $1, $1", [1, 10]).fetchone() == (9, 1)
    assert con.execute("SELECT :a + :b, :a", {"a": 1, "b": 10}).fetchone() == (11, 1)
    assert con.sql("SELECT ? AS x", (5,)).fetchall() == [(5,)]


def test_parameters_in_changes(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (id BIGINT, u UUID, at TIMESTAMP WITH TIME ZONE)")
    moment = dt.datetime(2026, 7, 1, tzinfo=BERLIN)
    con.execute("INSERT INTO t VALUES (?, ?, ?)", [1, U, moment])
    assert con.execute("SELECT id FROM t WHERE u = ? AND at = ?", [U, moment]).fetchall() == [(1,)]
    con.execute("DELETE FROM t WHERE id = :id", {"id": 1})
    assert con.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_wrong_parameters(con: pinakes.Connection) -> None:
    with pytest.raises(pinakes.ProgrammingError, match=r"parameter \$2 has no value; given: 1"):
        con.execute("SELECT ?, ?", [1])
    for sql in ("SELECT ?", "SELECT $1, $1", "SELECT 1 AS a", "SHOW TABLES"):
        with pytest.raises(pinakes.ProgrammingError, match="too many parameters: 2 given, and the statement takes"):
            con.execute(sql, [1, 2])
    with pytest.raises(pinakes.ProgrammingError, match="a statement is a text, not a int"):
        con.execute(5)  # type: ignore[arg-type]
    for wrong in ("x", b"x", 5, {1, 2}):
        with pytest.raises(pinakes.ProgrammingError, match="a list or tuple for"):
            con.execute("SELECT ?", wrong)  # type: ignore[arg-type]


def test_values_of_numpy_and_pandas(con: pinakes.Connection) -> None:
    np = pytest.importorskip("numpy")
    pd = pytest.importorskip("pandas")
    values = [np.int64(3), np.float32(1.5), np.bool_(True), np.str_("x"), np.array([1, 2]), pd.NA, pd.NaT, None]
    marks = ", ".join(f"? AS c{n}" for n in range(len(values)))
    assert con.execute(f"SELECT {marks}", values).fetchone() == (3, 1.5, True, "x", [1, 2], None, None, None)
    moments = [np.datetime64("2026-01-02"), np.datetime64("2026-01-02T03:04:05.000000001"), pd.Timestamp("2026-01-02")]
    assert con.execute("SELECT ? AS a, ? AS b, ? AS c", moments).fetchone() == (
        dt.date(2026, 1, 2),
        dt.datetime(2026, 1, 2, 3, 4, 5),
        dt.datetime(2026, 1, 2),
    )
