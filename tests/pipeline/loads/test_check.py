"""What is wrong with a load is told before anything runs: no Spark is started here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.pipelines.loads import FileSource, JdbcSource, Load, Problem, check_load, jars_for, new_files
from tests.engine.support import an_engine

FILES = Load(("lake", "s", "t"), FileSource("in/*.csv", "csv"))
TABLE = JdbcSource("jdbc:postgresql://127.0.0.1/db", table="t", secret="s")


def told(load: Load) -> list[str]:
    return [str(problem) for problem in check_load(load)]


def test_nothing_is_wrong() -> None:
    assert told(replace(FILES, columns="id INT NOT NULL, tags STRING, `odd name` DECIMAL(10,2)")) == []
    assert told(replace(FILES, source=TABLE)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bad_records": "hide"}, "bad_records: 'hide' is none of"),
        ({"schema_evolution": "guess"}, "schema_evolution: 'guess' is none of"),
        ({"target": ("lake", "", "t")}, "target: say catalog, schema and table"),
        ({"columns": "id INT,"}, "is not a list of columns with Spark types"),
        ({"columns": "id"}, "is not a list of columns with Spark types"),
        ({"columns": "id INTT"}, "is not a list of columns with Spark types"),
        ({"columns": "id INT, id STRING"}, "two columns of the name 'id'"),
        ({"columns": "a ARRAY<INT>"}, "a field of a CSV file holds no ARRAY<INT>"),
        ({"source": FileSource("x", "xml")}, "format: 'xml' is none of"),  # type: ignore[arg-type]
        ({"source": FileSource(" ", "csv")}, "path: it is empty"),
        ({"source": FileSource("x", "csv", {"delimeter": ";"})}, "Did you mean delimiter?"),
        ({"source": FileSource("x", "csv", {"header": "maybe"})}, "header is true or false, not 'maybe'"),
        ({"source": FileSource("x", "csv", {"quote": "''"})}, "quote is one character"),
        ({"source": FileSource("x", "parquet", {"header": "true"})}, "parquet files take no options"),
        ({"source": replace(TABLE, url="jdbc:oracle:x")}, "url: it must begin with one of"),
        ({"source": replace(TABLE, query="SELECT 1")}, "say either a table or a query"),
        ({"source": replace(TABLE, options={"password": "x"})}, "name a secret instead"),
        ({"source": replace(TABLE, options={"numPartitions": "2"})}, "to read in parallel, lowerBound"),
    ],
)
def test_what_is_wrong_is_reported(change: dict[str, Any], words: str) -> None:
    (found,) = told(replace(FILES, **change))
    assert words in found


@pytest.mark.parametrize("url", ["jdbc:postgresql://u:hidden@h/db", "jdbc:mariadb://h/db?user=u&password=hidden"])
def test_a_password_in_an_address_is_not_repeated(url: str) -> None:
    (found,) = told(replace(FILES, source=replace(TABLE, url=url)))
    assert "name a secret instead" in found
    assert "hidden" not in found


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with an_engine() as engine:
        session = engine.session()
        load = replace(FILES, source=FileSource(f"{tmp_path}/in/*.csv", "csv"))
        assert check_load(load, session) == []
        assert new_files(session, load).new == ()
        missing = check_load(replace(load, source=FileSource(f"{tmp_path}/nope/*.csv", "csv")), session)
        assert [problem.where for problem in missing] == ["path"]
        assert [p.where for p in check_load(replace(load, target=("nope", "s", "t")), session)] == ["target"]
        (problem,) = check_load(replace(load, source=TABLE), session)
        assert problem == Problem("secret", problem.message)
        assert "CREATE SECRET" in problem.message


def test_drivers_come_with_the_loads_that_need_them() -> None:
    assert jars_for([FILES]) == frozenset()
    urls = [TABLE.url, "jdbc:mariadb://h/db", "jdbc:mysql://h/db"]
    found = jars_for([replace(FILES, source=replace(TABLE, url=url)) for url in urls])
    assert sorted(jar.artifact for jar in found) == ["mariadb-java-client", "postgresql"]
