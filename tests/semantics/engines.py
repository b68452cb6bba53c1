"""Runs cases in PostgreSQL and in a session of ours, and says for each what came out, by value."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar
from uuid import UUID

import psycopg
import pyarrow as pa
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int4, Int8
from pyspark.errors import PySparkException

from pinakes.core.errors import PinakesError
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.remote.query import remote_statement
from pinakes.engine.remote.text import RemoteText
from pinakes.engine.session import Session, as_mapping
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Query
from pinakes.spark.remote import SparkEngine
from tests.semantics.cases import ROWS, Case, statement, table_many, table_values
from tests.semantics.operands import INT, SMALL, STORED, Kind

_EPOCH = date(2000, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000


@dataclass(frozen=True)
class Outcome:
    """What a case gave: a value with the family of its type, or an error."""

    family: str
    value: Any = None
    error: str = ""

    @property
    def failed(self) -> bool:
        return self.family == "error"

    def __str__(self) -> str:
        return f"error {self.error}" if self.failed else f"{self.family} {self.value!r}"[:200]


def same(ours: Outcome, theirs: Outcome, *, close: bool = False) -> bool:
    """Whether two values are equal. Families of numbers are compared by value, a decimal and a double as doubles."""
    if ours.value is None or theirs.value is None:
        return ours.value is None and theirs.value is None
    numbers = ("integer", "decimal", "real", "double")
    if ours.family in numbers and theirs.family in numbers:
        return _same_number(ours, theirs, close)
    if theirs.family == "uuid" and ours.family == "text":  # a uuid is shown as text
        return bool(ours.value == str(UUID(bytes=theirs.value)))
    return ours.family == theirs.family and bool(ours.value == theirs.value)


def _same_number(ours: Outcome, theirs: Outcome, close: bool) -> bool:
    floats = [isinstance(side.value, float) for side in (ours, theirs)]
    if not any(floats):
        return Fraction(ours.value) == Fraction(theirs.value)
    one, other = float(ours.value), float(theirs.value)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if one == other:
        return not all(floats) or math.copysign(1, one) == math.copysign(1, other)
    return close and math.isclose(one, other, rel_tol=1e-6 if "real" in (ours.family, theirs.family) else 1e-13)


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


class _Date(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Any:
        return ("date", struct.unpack("!i", data)[0] + _EPOCH)


class _Timestamp(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Any:
        return ("timestamp", struct.unpack("!q", data)[0] + _EPOCH * _DAY)


class _Timestamptz(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Any:
        return ("timestamptz", struct.unpack("!q", data)[0] + _EPOCH * _DAY)


class _Time(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Any:
        return ("time", struct.unpack("!q", data)[0])


class _Interval(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Any:
        micros, days, months = struct.unpack("!qii", data)
        return ("interval", (months, days * _DAY + micros))


class _Real(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Any:
        return ("real", struct.unpack("!f", data)[0])


class Postgres:
    """One connection, with the tables of the matrix. Each case is a statement of its own: that is quick enough."""

    def __init__(self, uri: str) -> None:
        self.connection = psycopg.connect(uri, autocommit=True, cursor_factory=psycopg.RawCursor)
        for name, loader in (
            ("date", _Date),
            ("timestamp", _Timestamp),
            ("timestamptz", _Timestamptz),
            ("time", _Time),
            ("interval", _Interval),
            ("float4", _Real),
        ):
            self.connection.adapters.register_loader(name, loader)
        self.connection.execute("SET TIME ZONE 'UTC'")
        self.connection.execute(
            "CREATE TEMP TABLE vals (" + ", ".join(f"{c} {k.sql}" for c, k, _ in table_values()) + ")"
        )
        self._insert("vals", [value.text for _, _, value in table_values()], [k.sql for _, k, _ in table_values()])
        columns = table_many()
        self.connection.execute(
            "CREATE TEMP TABLE many (bit BIGINT, " + ", ".join(f"{c} {k.sql}" for c, k, _ in columns) + ")"
        )
        for row in range(ROWS):
            texts = [str(2**row), *(values[row].text for _, _, values in columns)]
            self._insert("many", texts, ["BIGINT", *(k.sql for _, k, _ in columns)])

    def _insert(self, table: str, texts: Sequence[str | None], types: Sequence[str]) -> None:
        marks = ", ".join(f"CAST(CAST(${i + 1} AS text) AS {kind})" for i, kind in enumerate(types))
        self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", texts)

    def run(self, case: Case) -> Outcome:
        parameters: list[Any] = []
        sql = statement([case], parameters)
        try:
            cursor = self.connection.execute(sql, [_sent(*p) for p in parameters], binary=True, prepare=False)
            (row,) = cursor.fetchall()
        except psycopg.Error as error:
            return Outcome("error", error=f"{error.sqlstate} {str(error).splitlines()[0]}")
        return _from_postgres(row[-1])

    def show(self, expression: str) -> str:
        """The value of an expression as text, or the code of the error."""
        try:
            return str(self.connection.execute(f"SELECT CAST(({expression}) AS text)").fetchall()[0][0])
        except psycopg.Error as error:
            return f"error {error.sqlstate}"


def is_absent(outcome: Outcome) -> bool:
    """Whether PostgreSQL has no such operation for these types, so that there is nothing to compare with."""
    return outcome.failed and outcome.error[:2] in ("42", "0A")


def _sent(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if kind in (INT, SMALL):
        return Int4(value)
    return Int8(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _from_postgres(value: Any) -> Outcome:
    match value:
        case None:
            return Outcome("null")
        case bool():
            return Outcome("boolean", value)
        case int():
            return Outcome("integer", value)
        case float():
            return Outcome("double", value)
        case Decimal():
            return Outcome("decimal", value) if value.is_finite() else Outcome("double", float(value))
        case str():
            return Outcome("text", value)
        case UUID():
            return Outcome("uuid", value.bytes)
        case bytes():
            return Outcome("bytes", value)
        case (family, inner):
            return Outcome(family, inner)
        case _:
            return Outcome(type(value).__name__, value)


# --- ours ------------------------------------------------------------------------------------------------------------


class Pinakes:
    """A session with the tables of the matrix. Cases go together; where one fails, in smaller groups."""

    batch: ClassVar[Mapping[str, int]] = {"value": 60, "aggregate": 30, "filter": 12, "query": 6}
    """The cases of one statement, by their shape."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def create(self, kinds: Sequence[Kind] = STORED) -> None:
        columns = table_values(kinds)
        self._do("CREATE TABLE vals (" + ", ".join(f"{c} {k.sql}" for c, k, _ in columns) + ")")
        self._insert("vals", [[value.python] for _, _, value in columns], [(c, k.sql) for c, k, _ in columns])
        many = table_many(kinds)
        self._do("CREATE TABLE many (bit BIGINT, " + ", ".join(f"{c} {k.sql}" for c, k, _ in many) + ")")
        values = [[2**i for i in range(ROWS)], *([v.python for v in values] for _, _, values in many)]
        self._insert("many", values, [("bit", "BIGINT"), *((c, k.sql) for c, k, _ in many)])

    def _do(self, sql: str, parameters: Any = None) -> None:
        for _ in self.session.run(sql, parameters):
            pass

    def _insert(self, table: str, values: list[list[Any]], columns: list[tuple[str, str]]) -> None:
        """By parameters, whose values need no conversion."""
        marks = ", ".join(f"${at + 1}" for at in range(len(columns)))
        for row in zip(*values, strict=True):
            self._do(
                f"INSERT INTO {table} VALUES ({marks})",
                [str(value) if isinstance(value, UUID) else value for value in row],
            )

    def run_all(self, expected: Mapping[Case, Outcome]) -> Iterator[tuple[Case, Outcome]]:
        """Those that are expected to fail each alone: together they would all have to be run again."""
        yield from self.run([case for case, outcome in expected.items() if not outcome.failed])
        yield from self.run_each([case for case, outcome in expected.items() if outcome.failed])

    def run_each(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
        """Each in a statement of its own: that is quicker where most of them fail."""
        for case in cases:
            yield from self._batch([case])

    def run(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
        by_shape: dict[str, list[Case]] = {}
        for case in cases:
            by_shape.setdefault(case.group.shape, []).append(case)
        for shape, some in by_shape.items():
            size = self.batch[shape]
            for start in range(0, len(some), size):
                yield from self._batch(some[start : start + size])

    def _batch(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
        parameters: list[Any] = []
        sql = statement(cases, parameters)
        try:
            table = self.session.run(sql, [value for _, value in parameters] or None).read_all()
        except PinakesError as error:
            if len(cases) == 1:
                yield cases[0], Outcome("error", error=f"{error.code} {str(error).splitlines()[0]}")
                return
            size = max(1, len(cases) // 6)
            for start in range(0, len(cases), size):
                yield from self._batch(cases[start : start + size])
            return
        yield from zip(cases, _outcomes(table, len(cases), cases[0].group.shape), strict=True)


def _outcomes(table: pa.Table, count: int, shape: str) -> list[Outcome]:
    if shape in ("value", "aggregate"):
        assert table.num_rows == 1, f"{table.num_rows} rows"
        return [_from_arrow(column.combine_chunks(), 0) for column in table.columns]
    numbers = table.column(0).to_pylist()
    assert sorted(numbers) == list(range(count)), numbers
    places = {number: at for at, number in enumerate(numbers)}
    column = table.column(1).combine_chunks()
    return [_from_arrow(column, places[i]) for i in range(count)]


_MICROS = {"s": 1_000_000, "ms": 1000, "us": 1}


def _from_arrow(array: pa.Array, at: int) -> Outcome:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        family = "uuid" if "uuid" in str(kind) else str(kind)
        value = array.storage[at].as_py()
        return Outcome("null") if value is None else Outcome(family, value)
    if not array[at].is_valid:
        return Outcome("null")
    types = pa.types
    if types.is_dictionary(kind):
        return _from_arrow(array.dictionary_decode(), at)
    if types.is_timestamp(kind):
        return Outcome("timestamptz" if kind.tz else "timestamp", _micros(array, at, kind.unit))
    if types.is_time(kind):
        storage = pa.int32() if types.is_time32(kind) else pa.int64()
        return Outcome("time", _scaled(array.cast(storage)[at].as_py(), kind.unit))
    if types.is_date(kind):
        return Outcome("date", array.cast(pa.date32()).cast(pa.int32())[at].as_py())
    if types.is_duration(kind):
        return Outcome("interval", (0, _micros(array, at, kind.unit)))
    if types.is_interval(kind):
        months, days, nanos = array[at].as_py()
        return Outcome("interval", (months, days * _DAY + _scaled(nanos, "ns")))
    if types.is_float32(kind):
        return Outcome("real", array[at].as_py())
    if types.is_fixed_size_binary(kind) and kind.byte_width == 16:
        return Outcome("uuid", array[at].as_py())
    if types.is_binary(kind) or types.is_binary_view(kind) or types.is_large_binary(kind):
        return Outcome("bytes", array[at].as_py())
    value = array[at].as_py()
    families = {bool: "boolean", int: "integer", float: "double", Decimal: "decimal", str: "text"}
    return Outcome(families.get(type(value), str(kind)), value)


def _micros(array: pa.Array, at: int, unit: str) -> Any:
    return _scaled(array.cast(pa.int64())[at].as_py(), unit)


def _scaled(number: int, unit: str) -> Any:
    """Microseconds; a fraction where nanoseconds are more exact than those."""
    if unit == "ns":
        return number // 1000 if number % 1000 == 0 else Fraction(number, 1000)
    return number * _MICROS[unit]


class Spark(Pinakes):
    """The same session on Spark. What is refused there is found out first, without running it, so that few batches
    fail: of one that does, every case has to be run again.
    """

    batch: ClassVar[Mapping[str, int]] = {"value": 240, "aggregate": 60, "filter": 24, "query": 12}

    def create(self, kinds: Sequence[Kind] = STORED) -> None:
        """With one file for each table: Spark starts a task for each."""
        super().create(kinds)
        self._do("CALL lake.system.rewrite_data_files('many')")

    def run_known(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
        """The cases that are let through to Spark, and that Spark can analyse."""
        known = [case for case in cases if self._is_known(case)]
        self._do("SET engine = 'spark'")
        try:
            yield from self.run(known)
        finally:
            self._do("SET engine = 'local'")

    def _is_known(self, case: Case) -> bool:
        parameters: list[Any] = []
        sql = statement([case], parameters)
        parsed = self.session.engine.caches.statements.classify(sql)
        assert isinstance(parsed, Query)
        query = self.session.engine.tracker.start("test", "", 0)
        execution = Execution(self.session, query, sql, as_mapping([value for _, value in parameters]))
        try:
            planner = execution.planner()
            schema = schema_of(planner.query(parsed).frame)
            text = RemoteText(execution, planner)
            sent = remote_statement(execution, text, text.query(parsed, None, schema), schema)
            remote = self.session.engine.remote
            assert isinstance(remote, SparkEngine)
            with remote.opened(query, sent.place, sent.catalogs) as (_, connected):
                assert connected.spark.sql(sent.sql).schema is not None
        except (PinakesError, PySparkException):
            return False  # it is planned here first, so that an error here is its error there
        finally:
            execution.scope.close()
            query.end()
        return True
