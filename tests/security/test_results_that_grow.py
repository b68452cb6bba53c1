"""Functions whose results grow without a check: each ended the process, or kept all other users waiting.

A subquery doubles a text, the next one doubles it again. `encode`, `hex` and `overlay` had no check, and `||` had none
for bytes and for results of functions such as substr. Rules that write an argument twice made texts of exponential
length of calls in each other, and structs that have another one twice have exponentially many fields. The C scanner of
JSON does not let other threads run.
"""

from __future__ import annotations

import threading
import time

import pytest

from pinakes.core.errors import ExecutionError, NotSupportedError
from pinakes.engine.datafusion import json_text
from tests.engine.support import an_engine
from tests.security.test_function_results_are_bounded import run


def within(value: str, inner: str, times: int) -> str:
    for _ in range(times):
        inner = f"SELECT {value} AS x FROM ({inner}) AS t"
    return inner


def calls(form: str, inner: str, times: int) -> str:
    for _ in range(times):
        inner = form.format(inner)
    return inner


GROWING: list[object] = [
    *(
        within(value, "SELECT 'a' AS x", 40)
        for value in (
            "hex(x)",
            "encode(x, 'hex')",
            "overlay(x PLACING x FROM 1 FOR 0)",
            "substr(x, 1) || substr(x, 1)",
            "left(x, 1000000000) || left(x, 1000000000)",
            "MAP {'a': x}['a'] || MAP {'a': x}['a']",
            "{'a': x}['a'] || {'a': x}['a']",
        )
    ),
    within("encode(x, 'base64')", "SELECT 'a' AS x", 80),
    within("x || x", "SELECT x'61' AS x", 40),
    f"SELECT {calls('hex({})', 'repeat(s, 9)', 40)} FROM (SELECT 'a' AS s) AS t",
]
ANSWERED: list[object] = ["SELECT hex('AB') || encode('a', 'hex') || overlay('abc' PLACING 'x' FROM 2 FOR 1) || x'61'"]


@pytest.mark.slow
def test_results_that_grow_are_bounded() -> None:
    found = run([*GROWING, "SELECT 1"], 60)
    assert [answer.get("code", answer.get("rows")) for answer in found[:-1]] == ["OUT_OF_MEMORY"] * len(GROWING), found
    assert found[-1]["rows"] == 1


@pytest.mark.parametrize(
    "sql",
    [
        within("{'a': x, 'b': x}", "SELECT 1 AS x", 20),
        within("named_struct('a', x, 'b', x)", "SELECT 1 AS x", 20),
        within("(x, x)", "SELECT 1 AS x", 20),
        f"SELECT {calls('''printf('%05d', CAST({} AS INT))''', '1', 12)}",
        f"SELECT {calls('''printf('%5s', {})''', 's', 20)} FROM (SELECT 'a' AS s) AS t",
        f"SELECT format('{'{0}' * 20_000}', 'a')",
        f"SELECT printf('{'%s' * 300}', {', '.join(['s'] * 300)}) FROM (SELECT 'a' AS s) AS t",
        f"SELECT {', '.join(['COLUMNS(*)'] * 300)} FROM (SELECT {', '.join(f'1 AS c{i}' for i in range(300))}) AS t",
    ],
    ids=["struct", "named_struct", "row", "numbers", "texts", "format", "printf", "columns"],
)
def test_a_statement_does_not_grow_while_it_is_planned(sql: str) -> None:
    with an_engine() as engine:
        begun = time.monotonic()
        with pytest.raises(NotSupportedError, match=r"not supported|become too long"):
            engine.session().run(sql)
        assert time.monotonic() - begun < 20


def test_formats_of_many_places_are_answered() -> None:
    with an_engine() as engine:
        session = engine.session()
        (batch,) = session.run(f"SELECT format('{'{0}' * 150}', s), printf('%s-%s', s, s) FROM (SELECT 'a' AS s) AS t")
        assert batch.to_pylist() == [dict(zip(batch.schema.names, ["a" * 150, "a-a"], strict=True))]


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_other_threads_run_while_json_of_many_values_is_parsed() -> None:
    text = "[" + '"a",' * 400_000 + '{"b": [1, 2.50]}]'
    longest, stop = 0.0, threading.Event()

    def watch() -> None:
        nonlocal longest
        last = time.monotonic()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        assert json_text.part(text, json_text.by_path("$[#-1].b[1]")) == "2.50"
        begun = time.thread_time()
        assert json_text.array_length(text) == 400_001
        took = time.thread_time() - begun
    finally:
        stop.set()
        thread.join()
    assert longest < max(took / 2, 0.1)


@pytest.mark.parametrize("text", ["[" + "1," * 1_000_001 + "1]", "[" + "[]," * 600_000 + "1]"])
def test_json_of_too_many_values_is_refused(text: str) -> None:
    for function in (json_text.parse, json_text.is_valid, json_text.elements):
        with pytest.raises(ExecutionError, match="values is not supported"):
            function(text)


def test_json_of_many_values_has_fewer_levels() -> None:
    assert json_text.array_length("[" + "1," * 30_000 + "[" * 299 + "]" * 299 + "]") == 30_001
    with pytest.raises(ExecutionError, match="300 levels"):
        json_text.parse("[" + "1," * 30_000 + "[" * 400 + "]" * 400 + "]")


@pytest.mark.slow
def test_lists_of_equal_texts_are_bounded() -> None:
    values = "'[' || repeat('1,', 100000) || '1]'"
    found = run(
        [
            f"SELECT sum(cardinality(l)) FROM (SELECT CAST(j AS JSON) AS l FROM (SELECT {values} AS j))",
            f"SELECT count(*) FROM (SELECT json_array_elements(j) FROM (SELECT {values} AS j), range(30000))",
            "SELECT 1",
        ],
        60,
    )
    assert found[1].get("code") in ("OUT_OF_MEMORY", "QUERY_TIMEOUT", None), found
    assert found[2]["rows"] == 1, found


# --- regular expressions ---------------------------------------------------------------------------------------------


def test_many_patterns_take_linear_time() -> None:
    import pyarrow as pa

    from pinakes.engine.datafusion.library_functions import _extracted

    def seconds(rows: int) -> float:
        patterns = pa.array([str(i) for i in range(rows)])
        begun = time.process_time()
        found = _extracted(pa.array(["x12"] * rows), patterns, pa.array([0] * rows), pa.array([""] * rows))
        assert found[12].as_py() == "12"
        assert found.null_count == 0
        return time.process_time() - begun

    seconds(100)
    assert seconds(20_000) < 40 * max(seconds(2_000), 0.02)
