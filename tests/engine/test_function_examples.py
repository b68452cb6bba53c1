"""Functions of other systems: each is listed with a description, and its example runs."""

from __future__ import annotations

import pytest

import pinakes
from pinakes.core.suggestions import closest_by_edits
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
