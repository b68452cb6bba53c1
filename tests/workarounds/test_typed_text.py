"""What DataFusion 55 computes with the wrong types, each on bare DataFusion: `parser/typed` rewrites these.

When one of these tests fails, DataFusion has learned it: delete the rule that is named, and the test.
"""

from __future__ import annotations

import pytest
from datafusion import SessionConfig, SessionContext

WRONG = {
    "a decimal and a double are compared as DECIMAL(30, 15) (coercion.common_type)": (
        "SELECT CAST('4.07' AS DECIMAL(10, 2)) = CAST('4.07' AS DOUBLE)",
        True,
    ),
    "intervals are compared field by field (temporal.lengths)": (
        "SELECT INTERVAL '30 days' = INTERVAL '1 month'",
        True,
    ),
    "a duration is compared with an interval field by field (temporal.lengths)": (
        "SELECT CAST('2024-02-01' AS TIMESTAMP(6)) - CAST('2024-01-01' AS TIMESTAMP(6)) > INTERVAL '7' DAY",
        True,
    ),
    "BIGINT wraps around (arithmetic._integer)": (
        "SELECT b + 1 > b FROM (VALUES (9223372036854775807)) AS t (b)",
        True,
    ),
    "a sum wraps around (calls._sum)": (
        "SELECT sum(b) > 0 FROM (VALUES (9223372036854775807), (9223372036854775807)) AS t (b)",
        True,
    ),
    "an interval of hours is dropped from a date (temporal._moved)": (
        "SELECT CAST(DATE '2024-01-01' - INTERVAL '1' HOUR AS DATE) < DATE '2024-01-01'",
        True,
    ),
    "a cast to an integer cuts off (casts.rounded)": ("SELECT CAST(CAST('3.5' AS DECIMAL(10, 1)) AS INT) = 4", True),
    "row_number() and a BIGINT make a DECIMAL (calls.call)": (
        "SELECT arrow_typeof(row_number() OVER () + 1) = 'Int64'",
        True,
    ),
    "1.5 is a double unless it is set otherwise (context.parser_options)": ("SELECT 0.1 + 0.2 = 0.3", True),
}
FAILS = {
    "round(x, 1) of a decimal is planned with another scale (calls._rounded_decimal)": (
        "SELECT round(x, 1) > 0.1 FROM (VALUES (CAST('4.07' AS DECIMAL(10, 2)))) AS t (x)"
    ),
    "a number with an exponent is a decimal, too large for one (arithmetic.number)": "SELECT 1e300",
    "a date and a timestamp meet in nanoseconds (coercion.common_type)": (
        "SELECT CAST('9999-12-31' AS DATE) < CAST('9999-12-31' AS TIMESTAMP(6))"
    ),
    "a text beside a timestamp is read with nanoseconds (coercion.with_typed_moments)": (
        "SELECT CAST('9999-12-31' AS TIMESTAMP(6)) > '3000-01-01'"
    ),
    "TIMESTAMP is in nanoseconds (casts.type_text)": "SELECT TIMESTAMP '9999-12-31 23:59:59'",
    "date_trunc goes by way of nanoseconds (calls._truncated)": (
        "SELECT date_trunc('month', CAST('9999-12-31' AS TIMESTAMP(6)))"
    ),
    "times of two units can't be compared (coercion.common_type)": (
        "SELECT TIME '10:00' > arrow_cast(TIME '09:00', 'Time64(Microsecond)')"
    ),
}


def context(*, decimals: bool) -> SessionContext:
    return SessionContext(
        SessionConfig().set("datafusion.sql_parser.parse_float_as_decimal", "true" if decimals else "false")
    )


@pytest.mark.parametrize("what", WRONG)
def test_still_wrong(what: str) -> None:
    sql, right = WRONG[what]
    found = context(decimals="1.5" not in what).sql(sql).to_pydict()
    assert next(iter(found.values())) != [right]


@pytest.mark.parametrize("what", FAILS)
def test_still_fails(what: str) -> None:
    with pytest.raises(Exception, match=r"\w"):
        context(decimals=True).sql(FAILS[what]).collect()
