"""Every expression means in its dialect what the system of that name answers, or is refused.

DuckDB, PostgreSQL and Spark are asked; Trino's answers are written down in `dialect_expressions.py`.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import psycopg
import pytest

from pinakes.core.errors import NotSupportedError, PinakesError
from pinakes.engine.session import Session
from tests.engine.support import an_engine
from tests.semantics.dialect_expressions import COMMON, DUCKDB, POSTGRES, SPARK, STATED, TRINO
from tests.servers.base import Facts

REFUSED = 20
"""Expressions of a dialect that are refused, at most."""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def plain(value: object) -> object:
    """A value without its type, as far as the drivers of two systems have other ones."""
    match value:
        case bool() | None:
            return value
        case int() | float() | Decimal():
            return round(float(value), 9) if math.isfinite(value) else str(value)
        case datetime():
            return value.replace(tzinfo=None)
        case date() | timedelta() | str() | bytes():
            return value
        case dict():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
    return str(value)


def answer(session: Session, expression: str) -> object:
    (column,) = session.run(f"SELECT {expression}").read_all().columns
    (value,) = column.to_pylist()
    return plain(dict(value) if isinstance(value, list) and value and isinstance(value[0], tuple) else value)


def compare(session: Session, dialect: str, expressions: Sequence[str], ask: Callable[[str], object]) -> None:
    session.run(f"SET dialect = '{dialect}'")
    counts: Counter[str] = Counter()
    different = list[str]()
    for expression in expressions:
        try:
            theirs = plain(ask(expression))
        except Exception as error:  # noqa: BLE001 - of any of the systems
            theirs = error
        try:
            ours: object = answer(session, expression)
        except PinakesError as error:
            ours = error
        if isinstance(ours, PinakesError):
            counts["fails in both" if isinstance(theirs, Exception) else "refused"] += 1
            if not isinstance(theirs, Exception):
                sys.stdout.write(f"refused: {expression}: {str(ours).splitlines()[0]}\n")
        elif isinstance(theirs, Exception):
            counts["not known there"] += 1
        elif expression in STATED.get(dialect, ()):
            counts["stated"] += 1
            if ours == theirs:
                different.append(f"{expression} is not different: {ours!r}")
        elif ours != theirs:
            different.append(f"{expression}: {ours!r}, not {theirs!r}")
        else:
            counts["equal"] += 1
    sys.stdout.write(f"{dialect}: {dict(counts)}\n")
    assert not different, "\n".join(different)
    assert counts["equal"] >= 120
    assert counts["refused"] <= REFUSED


def test_trino(session: Session) -> None:
    session.run("SET dialect = 'trino'")
    found = dict[str, str]()
    for expression in TRINO:
        try:
            found[expression] = str(answer(session, expression)) or "(empty)"
        except NotSupportedError:
            found[expression] = "refused"
    assert found == TRINO
    refused = list(found.values()).count("refused")
    sys.stdout.write(f"trino: {len(found) - refused} equal, {refused} refused\n")
    assert len(found) >= 120
    assert refused <= REFUSED


def test_duckdb(session: Session) -> None:
    with duckdb.connect() as theirs:
        theirs.execute("SET TimeZone = 'UTC'")
        compare(session, "duckdb", COMMON + DUCKDB, lambda e: only(theirs.execute(f"SELECT {e}").fetchall()))


def only(rows: Sequence[Sequence[Any]]) -> object:
    ((value,),) = rows
    return value


@pytest.mark.slow
def test_postgres(session: Session, postgres_server: Facts) -> None:
    with psycopg.connect(postgres_server["uri"], autocommit=True) as theirs:
        compare(session, "postgres", COMMON + POSTGRES, lambda e: only(theirs.execute(f"SELECT {e}").fetchall()))  # type: ignore[call-overload]


@pytest.mark.slow
def test_spark(session: Session, spark_connect_server: Facts) -> None:
    from pyspark.sql import SparkSession

    theirs = SparkSession.builder.remote(spark_connect_server["remote"]).create()
    try:
        theirs.sql("SET TIME ZONE 'UTC'").collect()
        compare(session, "spark", COMMON + SPARK, lambda e: only(theirs.sql(f"SELECT {e}").collect()))
    finally:
        theirs.stop()
