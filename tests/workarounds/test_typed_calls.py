"""What DataFusion still makes of some calls and operators: where a test fails, its rule in `parser/typed` can go."""

from __future__ import annotations

import math

import pytest
from datafusion import SessionContext


def value(expression: str, source: str = "(SELECT 1 AS k)") -> object:
    return SessionContext().sql(f"SELECT {expression} AS v FROM {source} AS t").to_pydict()["v"][0]


def test_ifnull_of_null_and_a_timestamp_is_a_text() -> None:
    assert value("arrow_typeof(ifnull(NULL, TIMESTAMP '2024-01-01 00:00:00'))") in ("Utf8", "Utf8View")


def test_the_length_of_an_array_is_that_of_its_text() -> None:
    assert value("length([1, 2, 3])") == 9


def test_rounding_to_many_digits_is_no_number() -> None:
    assert math.isnan(value("round(CAST(1.5 AS DOUBLE), 1000)"))  # type: ignore[arg-type]


def test_an_interval_can_not_be_multiplied() -> None:
    with pytest.raises(Exception, match="Invalid interval arithmetic operation"):
        value("INTERVAL '1 second' * 3")


def test_replacing_a_column_that_is_not_there_replaces_nothing() -> None:
    assert SessionContext().sql("SELECT * REPLACE (2 AS nope) FROM (SELECT 1 AS k)").to_pydict() == {"k": [1]}


def test_the_sign_of_nan_is_nan() -> None:
    assert math.isnan(value("signum(CAST('NaN' AS DOUBLE))"))  # type: ignore[arg-type]


def test_a_list_with_null_contains_a_list_with_null() -> None:
    assert value("[1, NULL] @> [NULL]") is True


def test_a_list_contains_a_constant_null() -> None:
    assert value("[1] @> CAST(NULL AS BIGINT[])") is True


def test_concatenation_binds_tighter_than_addition() -> None:
    with pytest.raises(Exception, match="Cannot coerce arithmetic expression"):
        value("'a' || k + 3")


def test_the_seconds_of_an_interval_have_no_fraction() -> None:
    assert value("date_part('second', INTERVAL '6.5 seconds')") == 6


def test_negative_zero_sorts_before_zero() -> None:
    rows = "(VALUES (CAST('0' AS DOUBLE), 'a'), (CAST('-0.0' AS DOUBLE), 'b'))"
    assert value("string_agg(column2, '' ORDER BY column1, column2)", rows) == "ba"
