"""JSON functions return what DuckDB returns, apart from blanks within JSON."""

import json

import duckdb
import pytest

import pinakes

TEXTS = (
    '{"a": {"b": [1, 2.50, "x\\u00e9\\n"]}, "a b": null, "": true, "0": [[]]}',
    '[1, -2, {"a": [false, "q\\"r"]}, null, []]',
    "[]",
    "{}",
    '"text"',
    "12345678901234567890.10",
    " -7 ",
    "null",
    "true",
    None,
)
PATHS = (
    "$",
    "$.a",
    "$.a.b",
    "$.a.b[1]",
    "$.a.b[-1]",
    "$[2].a[#-1]",
    '$."a b"',
    "/a/b/2",
    "/2/a/1",
    "/0",
    "a",
    "a b",
    "0",
    "$[9]",
)


@pytest.fixture(scope="module")
def engines():
    with pinakes.connect() as ours, duckdb.connect() as oracle:
        yield ours, oracle


def _rows(connection, expression, values):
    rows = ", ".join(f"({at}, {'NULL' if v is None else _literal(v)})" for at, v in enumerate(values))
    sql = f"SELECT {expression} FROM (VALUES {rows}) AS t(id, j) ORDER BY id"
    return [row[0] for row in connection.execute(sql).fetchall()]


def _literal(text):
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize("path", PATHS)
def test_json_extract_equals_that_of_duckdb(engines, path):
    ours, oracle = (_rows(e, f"json_extract(j, {_literal(path)})", TEXTS) for e in engines)
    assert [json.loads(v) if v is not None else MISSING for v in ours] == [
        json.loads(v) if v is not None else MISSING for v in oracle
    ]


MISSING = object()


@pytest.mark.parametrize("path", PATHS)
def test_json_extract_string_equals_that_of_duckdb(engines, path):
    ours, oracle = (_rows(e, f"json_extract_string(j, {_literal(path)})", TEXTS) for e in engines)
    assert list(map(_parsed, ours)) == list(map(_parsed, oracle))


def _parsed(value):
    return json.loads(value) if value is not None and value[0] in "[{0123456789" else value


@pytest.mark.parametrize("function", ["json_keys", "json_type", "json_valid"])
def test_functions_of_json_equal_those_of_duckdb(engines, function):
    ours, oracle = (_rows(e, f"{function}(j)", TEXTS) for e in engines)
    assert ours == oracle


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", "{'a':1}", "01", "+1", "1.", ".5", "nul", '"a', "NaN", "[1 2]", '{"a" 1}', "1 2", '"\\x"']
)
def test_malformed_json_is_an_error_for_operators(engines, text):
    assert _rows(engines[0], "json_valid(j)", [text]) == [False]
    with pytest.raises(pinakes.Error, match="invalid JSON"):
        _rows(engines[0], "j -> 'a'", [text])


@pytest.mark.parametrize(
    "call",
    [
        "list_transform(l, lambda x: x * 2 + 1)",
        "list_transform(l, lambda x: x IS NULL)",
        "list_filter(l, lambda x: x > 1)",
        "list_filter(l, lambda x: x IS NULL OR x = id)",
        "list_transform(l, lambda x: x + id)",
        "list_transform(list_filter(l, lambda x: x > 1), lambda x: -x)",
    ],
)
def test_lambdas_equal_those_of_duckdb(engines, call):
    rows = "(0, [1, 2, NULL]), (1, NULL), (2, []), (3, [3, 3, 1])"
    sql = f"SELECT {call} FROM (SELECT id, CAST(v AS BIGINT[]) AS l FROM (VALUES {rows}) AS t(id, v)) ORDER BY id"
    ours, oracle = (e.execute(sql).fetchall() for e in engines)
    assert ours == oracle
