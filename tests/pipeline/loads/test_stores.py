"""Files of an object store: found with the secret that serves them, read without Spark knowing it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pinakes.core.errors import PinakesError
from pinakes.core.names import text_literal
from pinakes.pipelines.loads import FileSource, Load, check_load
from tests.pipeline.loads.support import Place
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


@pytest.fixture
def bucket(s3_server: Facts, place: Place) -> str:
    facts = s3_server
    keys = f"KEY_ID {text_literal(facts['key_id'])}, SECRET {text_literal(facts['secret'])}"
    where = f"REGION '{facts['region']}', ENDPOINT '{facts['uri']}', URL_STYLE 'path'"
    place.rows(f"CREATE OR REPLACE SECRET store (TYPE s3, {keys}, {where})")
    return f"s3://{facts['bucket']}/{place.schema}"


@pytest.mark.parametrize("format", ["csv", "json", "parquet", "arrow"])
def test_new_files_of_a_bucket(place: Place, bucket: str, format: str) -> None:
    load = Load(("lake", place.schema, "t"), FileSource(f"{bucket}/{format}/*.{format}", format))  # type: ignore[arg-type]
    for number in range(3):
        select = f"SELECT {number} AS id, 'x y' AS name"
        place.rows(f"COPY ({select}) TO '{bucket}/{format}/{number}.{format}' (FORMAT {format})")
        assert check_load(load, place.context.session) == []
        assert place.run(load).files == 1
    assert place.rows("SELECT id, name FROM T.t ORDER BY id") == [(0, "x y"), (1, "x y"), (2, "x y")]


def test_a_bucket_without_files_and_none_at_all(place: Place, bucket: str) -> None:
    load = Load(("lake", place.schema, "t"), FileSource(f"{bucket}/none/*.csv", "csv"))
    assert check_load(load, place.context.session) == []
    assert place.run(load).files == 0
    (problem,) = check_load(replace(load, source=FileSource("s3://nobodys/*.csv", "csv")), place.context.session)
    assert "bucket 'nobodys' does not exist" in problem.message


def test_bad_records_name_the_file_of_the_bucket_and_no_secret(place: Place, bucket: str, s3_server: Facts) -> None:
    place.rows(f"COPY (SELECT 'abc' AS id) TO '{bucket}/a.csv' (FORMAT csv)")
    load = Load(("lake", place.schema, "t"), FileSource(f"{bucket}/*.csv", "csv"), columns="id INT")
    assert place.run(load).bad_rows == 1
    assert place.rows("SELECT file, reason FROM T.t_bad_records") == [
        (f"{bucket}/a.csv", "column 'id': 'abc' is not a valid INT"),
    ]
    place.rows("DROP SECRET store")
    with pytest.raises(PinakesError) as failed:
        place.run(load)
    told = [str(failed.value), *map(repr, place.rows("SELECT * FROM lake.pinakes_pipeline.loads"))]
    assert not [text for text in told if s3_server["secret"] in text]
