"""Functions of other systems: each is listed with a description, and its example runs."""

from __future__ import annotations

import re

import pytest

import pinakes
from pinakes.core.suggestions import closest_by_edits
from pinakes.engine.datafusion.function_meanings import MEANINGS
from pinakes.engine.datafusion.functions import functions
from pinakes.parser.functions.catalog import RULES


def test_every_example_runs() -> None:
    connection = pinakes.connect()
    for function in functions():
        if function.example:
            rows = connection.execute(function.example).fetchall()
            assert len(rows) == 1, function
            assert rows[0][0] is not None, function


def test_every_function_is_described() -> None:
    listed = {(function.name, function.kind): function for function in functions()}
    for name, rule in RULES.items():
        function = listed[name, rule.kind]
        assert function.description.endswith("."), name
        assert function.example.startswith("SELECT "), name
        assert function.syntax.startswith(f"{name}("), name
        assert f"{name}(" in function.example, name
        assert function.returns, name


def test_no_function_that_exists_has_a_substitute() -> None:
    names = {function.name for function in functions()}
    assert not names & MEANINGS.keys()
    for name, instead in MEANINGS.items():
        called = set(re.findall(r"\b([a-z_0-9]+)\(", instead))
        assert called <= names | {"unnest"}, (name, called - names)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("getdate()", "now()"),
        ("charindex('a', 'b')", "strpos(text, part)"),
        ("locate('a', 'b')", "strpos(text, part)"),
        ("str_to_date('a', 'b')", "strptime(text, '%Y-%m-%d')"),
        ("get_json_object('a', 'b')", "json_extract_string(text, '$.a')"),
        ("add_months(now(), 1)", "date + n * INTERVAL '1 month'"),
        ("eomonth(now())", "last_day(date)"),
        ("logical_or(true)", "bool_or(x)"),
        ("map_agg(1, 2)", "map(array_agg(key), array_agg(value))"),
        ("object_construct('a', 1)", "json_build_object('key', x, …)"),
        ("collect_set(1)", "array_agg(DISTINCT x)"),
        ("percentile_approx(1, 0.5)", "approx_percentile(x, 0.5)"),
        ("toString(1)", "CAST(x AS VARCHAR)"),
        ("averge(1)", "avg(x)"),
        ("coutn(1)", "did you mean count?"),
    ],
)
def test_an_unknown_function_has_a_substitute(given: str, wanted: str) -> None:
    with pytest.raises(pinakes.Error, match="does not exist") as error:
        pinakes.connect(data=":memory:").execute(f"SELECT {given}")
    assert wanted in str(error.value)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("coutn", "count"),
        ("uper", "upper"),
        ("lenght", "length"),
        ("date_tunc", "date_trunc"),
        ("SUMM", "sum"),
        ("frobnicate", None),
        ("x" * 300, None),
    ],
)
def test_suggestions_count_swapped_characters(given: str, wanted: str | None) -> None:
    assert closest_by_edits(given, [function.name for function in functions()]) == wanted
