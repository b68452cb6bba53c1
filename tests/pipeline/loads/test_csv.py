"""CSV files: columns by their names, types given or inferred, and the exact reason why a record does not fit."""

from __future__ import annotations

import gzip
from decimal import Decimal

import pytest

from pinakes.core.errors import ColumnNotFound, DataCorrupt, InvalidArgument, TypeMismatch
from tests.pipeline.loads.support import Place

pytestmark = pytest.mark.slow
COLUMNS = "id INT NOT NULL, amount DECIMAL(18,2), name STRING, day DATE"


def test_records_that_do_not_fit_are_kept_apart_with_their_reason(place: Place) -> None:
    place.write("a.csv", 'id,amount,name\n1,1.50,"say ""hi"""\n2,abc,b\n3,3.5\n4,4.5,"two\nlines"\n,5,none\n')
    place.write("b.csv", "name,id,day\nturned,7,2024-01-01\n,8,2024-01-02 noon\nhuge,99999999999,\n")
    result = place.run(place.load(columns=COLUMNS))
    assert (result.rows, result.files, result.bad_rows) == (3, 2, 5)
    assert place.rows("SELECT id, amount, name, CAST(day AS VARCHAR) FROM T.t ORDER BY id") == [
        (1, Decimal("1.50"), 'say "hi"', None),
        (4, Decimal("4.50"), "two\nlines", None),
        (7, None, "turned", "2024-01-01"),
    ]
    assert place.bad() == [
        ("a.csv", ",5,none", "column 'id' is NOT NULL, and there is no value"),
        ("a.csv", "2,abc,b", "column 'amount': 'abc' is not a valid DECIMAL(18,2)"),
        ("a.csv", "3,3.5", "the record has not as many fields as the 3 columns"),
        ("b.csv", ",8,2024-01-02 noon", "column 'day': '2024-01-02 noon' is not a valid DATE"),
        ("b.csv", "huge,99999999999,", "column 'id': '99999999999' is not a valid INT"),
    ]


def test_the_line_of_a_record_is_reported(place: Place) -> None:
    place.write("a.csv", 'id,w\n1,a\nx,"quoted"\n2\nx,"quoted"\r\n3,c\n,\nz z.csv,9\n')
    place.write("b c.csv", "w,id\nfirst,y\n")
    assert place.run(place.load(columns="id INT NOT NULL, w STRING")).bad_rows == 6
    found = place.rows("SELECT file, line, record FROM T.t_bad_records ORDER BY file, line")
    assert [(file.rpartition("/")[2], line, record) for file, line, record in found] == [
        *(("a.csv", 3, "x,quoted"), ("a.csv", 4, "2"), ("a.csv", 5, "x,quoted"), ("a.csv", 7, ",")),
        *(("a.csv", 8, "z z.csv,9"), ("b c.csv", 2, "first,y")),
    ]


def test_types_are_inferred_from_what_comes_first(place: Place) -> None:
    place.write("a.csv", "n,x,d,t,s,b\n1,1.5,2024-01-01,2024-01-01T10:00:00,x,true\n2,2,,,,\n")
    assert place.run(place.load()).rows == 2
    where = f"table_schema = '{place.schema}' AND table_name = 't'"
    found = place.rows(
        f"SELECT column_name, data_type FROM lake.information_schema.columns WHERE {where} ORDER BY ordinal_position"
    )
    assert [name for name, _ in found] == ["n", "x", "d", "t", "s", "b"]
    assert [type for _, type in found][:3] == ["bigint", "double", "date"]
    place.write("b.csv", "n,x,d,t,s,b\nmany,1,,,,\n")
    assert place.run(place.load()).bad_rows == 1
    assert place.bad() == [("b.csv", "many,1,,,,", "column 'n': 'many' is not a valid BIGINT")]


def test_a_new_column_is_an_error_or_added_or_left_out(place: Place) -> None:
    place.write("a.csv", "id,name\n1,x\n")
    place.run(place.load())
    place.write("b.csv", "id,name,extra\n2,y,2.5\n")
    with pytest.raises(ColumnNotFound, match=r"b\.csv' has a column 'extra'.*schema_evolution: add"):
        place.run(place.load())
    assert place.rows("SELECT * FROM T.t") == [(1, "x")]
    assert place.run(place.load(schema_evolution="add")).rows == 1
    assert place.rows("SELECT * FROM T.t ORDER BY id") == [(1, "x", None), (2, "y", 2.5)]
    place.write("c.csv", "more,id\n?,3\n")
    assert place.run(place.load(schema_evolution="ignore")).rows == 1
    assert place.rows("SELECT * FROM T.t WHERE id = 3") == [(3, None, None)]


def test_one_bad_record_fails_a_load_that_wants_none(place: Place) -> None:
    place.write("a.csv", "id,amount\n1,1\n")
    place.run(place.load(columns="id INT, amount INT", bad_records="fail"))
    place.write("b.csv", "id,amount\n2,2\n3,x\n")
    with pytest.raises(
        DataCorrupt, match=r"lake\.\w+\.t was not loaded.*b\.csv': column 'amount': 'x' is not a valid INT"
    ):
        place.run(place.load(columns="id INT, amount INT", bad_records="fail"))
    assert place.rows("SELECT * FROM T.t") == [(1, 1)]
    place.write("b.csv", "id,amount\n2,2\n3,3\n")
    assert place.run(place.load(columns="id INT, amount INT", bad_records="fail")).rows == 2
    assert place.rows("SELECT * FROM T.t ORDER BY id") == [(1, 1), (2, 2), (3, 3)]


def test_dropped_records_are_counted(place: Place) -> None:
    place.write("a.csv", "id\n1\nx\n")
    result = place.run(place.load(columns="id INT", bad_records="drop"))
    assert (result.rows, result.bad_rows) == (1, 1)
    assert place.rows("SHOW TABLES IN lake." + place.schema) == [("t",)]


def test_a_file_that_is_cut_short_is_one_bad_record(place: Place) -> None:
    place.write("a.csv.gz", gzip.compress(b"id,w\n1,a\n"))
    whole = gzip.compress(b"id,w\n" + b"".join(b"%d,%d\n" % (i, i * 7919) for i in range(200_000)))
    place.write("b.csv.gz", whole[: len(whole) // 2])
    place.write("c.csv.gz", b"no gzip at all")
    result = place.run(place.load("*.gz", columns="id INT, w STRING"))
    assert (result.rows, result.files, result.bad_rows) == (1, 3, 2)
    assert [(file, record) for file, record, _ in place.bad()] == [("b.csv.gz", None), ("c.csv.gz", None)]
    assert all("can't be read" in reason for _, _, reason in place.bad())


def test_options_of_the_format(place: Place) -> None:
    place.write("a.tsv", "# made by hand\n1\t'a\tb'\t31.12.2024\n2\t-\t01.01.2025\n".encode("latin-1"))
    options = {"delimiter": "\\t", "header": "false", "quote": "'", "comment": "#", "nullValue": "-",
               "dateFormat": "dd.MM.yyyy", "encoding": "ISO-8859-1"}  # fmt: skip
    result = place.run(place.load("*.tsv", columns="id INT, name STRING, day DATE", options=options))
    assert (result.rows, result.bad_rows) == (2, 0)
    assert place.rows("SELECT id, name, CAST(day AS VARCHAR) FROM T.t ORDER BY id") == [
        (1, "a\tb", "2024-12-31"),
        (2, None, "2025-01-01"),
    ]


def test_names_of_files_that_spark_would_misread(place: Place) -> None:
    for at, name in enumerate(["a b.csv", "[x].csv", "_hidden.csv", "50%.csv", "ä{1}.csv"]):
        place.write(name, f"id\n{at}\nbad{at}\n")
    result = place.run(place.load(columns="id INT"))
    assert (result.rows, result.files, result.bad_rows) == (5, 5, 5)
    assert [file for file, _, _ in place.bad()] == sorted(["a b.csv", "[x].csv", "_hidden.csv", "50%.csv", "ä{1}.csv"])


def test_columns_that_clash(place: Place) -> None:
    place.write("a.csv", "id,id\n1,2\n")
    with pytest.raises(InvalidArgument, match="two columns of the name 'id'"):
        place.run(place.load())
    place.write("a.csv", "id\n1\n")
    place.run(place.load(columns="id INT"))
    place.write("b.csv", "id\n2\n")
    with pytest.raises(TypeMismatch, match="'id' as INT, and the load says STRING"):
        place.run(place.load(columns="id STRING"))
    with pytest.raises(InvalidArgument, match="no column 'w', which the load says"):
        place.run(place.load(columns="id INT, w STRING"))
    assert place.rows("SELECT * FROM T.t") == [(1,)]


def test_types_that_iceberg_has_others_for(place: Place) -> None:
    place.write("a.csv", "a,b,c,d\n1,2,x,2024-01-01 10:00:00\n")
    columns = "a SMALLINT, b TINYINT, c VARCHAR(10), d TIMESTAMP_NTZ"
    assert place.run(place.load(columns=columns)).rows == 1
    place.write("b.csv", "a,b,c,d\n3,4,y,\n")
    assert place.run(place.load(columns=columns)).rows == 1
    assert place.rows("SELECT a, b, c FROM T.t ORDER BY a") == [(1, 2, "x"), (3, 4, "y")]


def test_an_empty_place_and_empty_files(place: Place) -> None:
    assert place.run(place.load()).snapshot_id is None
    place.write("a.csv", "")
    with pytest.raises(InvalidArgument, match="no columns can be inferred"):
        place.run(place.load())
    assert place.run(place.load(columns="id INT")).files == 1
    assert place.run(place.load(columns="id INT")).files == 0
