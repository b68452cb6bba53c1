"""Files that are not what their name says, that do not fit, or that nobody may read: typed errors that name them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.core import errors
from pinakes.core.errors import (
    ColumnNotFound,
    DataCorrupt,
    FileNotFound,
    InvalidArgument,
    NotSupportedError,
    OptionNotFound,
    PermissionDenied,
    PinakesError,
    TypeMismatch,
)
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.streams import text_stream
from pinakes.engine.files.stamps import stamp_of
from pinakes.engine.session import Session

TABLE = pa.table({"a": [1, 2, 3], "s": ["x", "y", None]})


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    with open_engine(parse_config(f"[engine]\ndata = '{tmp_path / 'lake'}'", tmp_path)) as engine:
        yield engine.session()


def failing(session: Session, sql: str) -> PinakesError:
    with pytest.raises(PinakesError) as caught:
        session.run(sql).read_all()
    assert "Traceback" not in str(caught.value)
    return caught.value


def write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


# --- not what the name says --------------------------------------------------------------------------------------


def parquet_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(TABLE, sink)
    return bytes(sink.getvalue())


def arrow_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return bytes(sink.getvalue())


WRONG = {
    "text.parquet": b"a,b\n1,2\n",
    "empty.parquet": b"",
    "cut.parquet": parquet_bytes()[:-20],
    "head.parquet": parquet_bytes()[:40] + parquet_bytes()[-40:],
    "empty.csv": b"",
    "blank.csv": b"\n\n\n",
    "binary.csv": parquet_bytes(),
    "utf16.csv": "a,b\n1,2\n".encode("utf-16"),
    "latin.csv": "id,name\n1,Zürich\n".encode("latin-1"),
    "cut.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)[:-30],
    "notgz.csv.gz": b"\x1f\x8bnothing",
    "empty.json": b"",
    "text.json": b"hello",
    "scalar.json": b"[1, 2]",
    "open.json": b'[{"a": 1}, {"a": 2}',
    "trail.json": b'[{"a": 1}] x',
    "bad.jsonl": b'{"a": 1}\n{"a": \n{"a": 3}\n',
    "binary.json": parquet_bytes(),
    "latin.json": '{"a": "Zürich"}'.encode("latin-1"),
    "empty.arrow": b"",
    "text.arrow": b"a,b\n1,2\n",
    "cut.arrow": arrow_bytes()[:-50],
    "feather1.feather": b"FEA1 and what follows",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_not_what_its_name_says(session: Session, name: str) -> None:
    write(name, WRONG[name])
    error = failing(session, f"SELECT * FROM '{name}'")
    assert isinstance(error, DataCorrupt), repr(error)
    assert name in str(error)


def test_a_broken_page_names_no_traceback(session: Session) -> None:
    whole = bytearray(parquet_bytes())
    whole[4:30] = bytes(26)
    write("page.parquet", bytes(whole))
    assert isinstance(failing(session, "SELECT * FROM 'page.parquet'"), errors.PinakesError)


def test_arrow_with_broken_offsets_does_not_end_the_process(session: Session) -> None:
    whole = arrow_bytes()
    for at in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[at] ^= 0x7F
        write("broken.arrow", bytes(broken))
        try:
            session.run("SELECT count(s), sum(a), max(s) FROM 'broken.arrow'").read_all()
        except PinakesError:
            continue


def test_a_directory_named_like_a_file(session: Session) -> None:
    Path("x.csv").mkdir()
    assert isinstance(failing(session, "SELECT * FROM 'x.csv'"), FileNotFound)


def test_the_directory_of_a_table_is_no_table(session: Session, tmp_path: Path) -> None:
    """It also has files that are no longer part of the table."""
    session.run("CREATE TABLE kept AS SELECT 1 AS a")
    session.run("INSERT INTO kept VALUES (2)")
    session.run("DELETE FROM kept WHERE a = 1")
    directory = next((tmp_path / "lake").rglob("*.metadata.json")).parent.parent
    error = failing(session, f"SELECT * FROM '{directory}'")
    assert isinstance(error, NotSupportedError)
    assert "its files alone are not its rows" in str(error)


def test_a_pipe_is_refused_and_not_waited_for(session: Session) -> None:
    os.mkfifo("pipe.csv")
    assert isinstance(failing(session, "SELECT * FROM 'pipe.csv'"), InvalidArgument)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read(session: Session) -> None:
    write("secret.csv", "a\n1\n")
    Path("secret.csv").chmod(0)
    assert isinstance(failing(session, "SELECT * FROM 'secret.csv'"), PermissionDenied)


# --- missing -----------------------------------------------------------------------------------------------------


def test_a_missing_file_shows_what_is_near(session: Session) -> None:
    write("orders.csv", "a\n1\n")
    error = failing(session, "SELECT * FROM 'order.csv'")
    assert isinstance(error, FileNotFound)
    assert "Did you mean 'orders.csv'" in str(error)


def test_a_pattern_without_a_match(session: Session) -> None:
    write("orders.csv", "a\n1\n")
    error = failing(session, "SELECT * FROM '*.parquet'")
    assert isinstance(error, FileNotFound)
    assert "orders.csv" in str(error)


@pytest.mark.parametrize("path", ["", "a\0b", "~nobody-of-that-name/x.csv", "x" * 5000 + ".csv", "no/such/dir/x.csv"])
def test_paths_that_are_none(session: Session, path: str) -> None:
    with pytest.raises((InvalidArgument, FileNotFound)):
        session.run("SELECT * FROM read_csv($1)", [path]).read_all()


@pytest.mark.parametrize("path", ["ftp://user:pw@host/x.csv", "gs://b/x.json"])
def test_what_lies_elsewhere_is_not_supported(session: Session, path: str) -> None:
    error = failing(session, f"SELECT * FROM '{path}'")
    assert isinstance(error, NotSupportedError)
    assert "only s3:// (with a secret), https:// and file:// can" in str(error)
    assert "pw" not in str(error)


@pytest.mark.parametrize(
    "path", ["s3://", "s3:///x", "S3://b//x", "s3://b/../x", "s3://b/a\0b", "s3://*/x", "s3://k:pw@b/x"]
)
def test_paths_of_stores_that_are_none(session: Session, path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        session.run("SELECT * FROM read_csv($1)", [path]).read_all()
    assert "pw" not in str(caught.value)


# --- lines and values that do not fit ----------------------------------------------------------------------------


def test_a_ragged_line_is_reported_by_its_number(session: Session) -> None:
    write("r.csv", 'a,b\n1,"two\nlines"\n\n3\n4,5\n')
    error = failing(session, "SELECT * FROM 'r.csv'")
    assert isinstance(error, DataCorrupt)
    assert "r.csv', line 5 has 1 value where the file has 2 columns" in str(error)
    rows = session.run("SELECT * FROM read_csv('r.csv', ignore_errors => true) ORDER BY a").read_all()
    assert rows.to_pydict() == {"a": [1, 4], "b": ["two\nlines", "5"]}


def test_a_ragged_line_far_behind_the_sample(session: Session) -> None:
    write("far.csv", "a,b\n" + "1,2\n" * 900_000 + "1,2,3\n" + "1,2\n" * 1000)
    error = failing(session, "SELECT sum(a) FROM 'far.csv'")
    assert isinstance(error, DataCorrupt)
    assert "line 900002 has 3 values where the file has 2 columns" in str(error)
    count = session.run("SELECT count(*) FROM read_csv('far.csv', ignore_errors => true)").read_all()
    assert count[0][0].as_py() == 901_000


FAR = "a,b\n" + "1,2\n" * 300_000 + '"","x"\n' + "1.5,2\n" + "1,2\n" * 1000


def test_a_value_behind_the_sample_widens_its_column(session: Session) -> None:
    write("far.csv", FAR)
    for _ in range(2):  # found out once, and said each time
        found = session.run("SELECT sum(a), count(a), max(b), count(*) FROM 'far.csv'").read_all()
        assert [column[0].as_py() for column in found] == [301_001.5, 301_001, "x", 301_002]
        assert found.schema.types == [pa.float64(), pa.int64(), pa.string(), pa.int64()]
        assert "far.csv' has values after the sample that are not BIGINT" in session.warnings[0]
        assert [w.split(":")[0] for w in session.warnings] == ["column 'a' is DOUBLE", "column 'b' is VARCHAR"]
        session.warnings.clear()
    with pytest.raises(DataCorrupt, match=r"'1\.5' is not a valid BIGINT"):
        session.run("SELECT sum(a) FROM read_csv('far.csv', types => {'a': 'BIGINT'})").read_all()
    write("far.csv", FAR.replace("1.5", "n/a"))  # another version of the file
    assert session.run("SELECT a FROM 'far.csv' WHERE length(a) > 1").read_all().to_pydict() == {"a": ["n/a"]}


def test_the_late_values_of_each_file_count(session: Session) -> None:
    for name, late in (("1", "1.5"), ("2", "2024-01-31"), ("3", "9")):
        write(f"l{name}.csv", "a,n\n" + "1,1\n" * 30_000 + f"{late},99999999999999999999\n")
    doubles = session.run("SELECT a, n FROM read_csv(['l1.csv', 'l3.csv']) WHERE a > 1 ORDER BY a").read_all()
    assert doubles.schema.types == [pa.float64(), pa.decimal128(38, 0)]
    assert doubles.to_pydict() == {"a": [1.5, 9.0], "n": [99999999999999999999] * 2}
    texts = session.run("SELECT a FROM 'l*.csv' WHERE a <> '1' ORDER BY a").read_all()
    assert texts.to_pydict() == {"a": ["1.5", "2024-01-31", "9"]}


def test_a_value_behind_the_sample_of_a_large_file(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinakes.engine.files.reading.csv._CHECKED_BYTES", 100_000)
    write("large.csv", FAR)
    error = failing(session, "SELECT sum(a) FROM 'large.csv'")
    assert isinstance(error, DataCorrupt)
    assert "line 300003, column 'a': '1.5' is not a valid BIGINT" in str(error)
    assert all(way in str(error) for way in ("types =>", "sample_size => -1", "all_varchar => true"))
    fine = session.run("SELECT count(a), count(*), sum(a) FROM read_csv('large.csv', sample_size => -1)").read_all()
    assert [column[0].as_py() for column in fine] == [301_001, 301_002, 301_001.5]
    left = session.run("SELECT count(*) FROM read_csv('large.csv', ignore_errors => true)").read_all()
    assert left[0][0].as_py() == 301_000
    write("packed.csv.gz", gzip.compress(FAR.encode()))  # smaller as a file, and not when it is unpacked
    assert "'1.5' is not a valid BIGINT" in str(failing(session, "SELECT sum(a) FROM 'packed.csv.gz'"))


def test_an_empty_text_in_quotes_is_no_number_and_no_null_text(session: Session) -> None:
    write("q.csv", 'n,s\n"1","a"\n"",""\n,\n')
    rows = session.run("SELECT * FROM 'q.csv'").read_all().to_pydict()
    assert rows == {"n": [1, None, None], "s": ["a", "", None]}


def test_a_quote_that_is_never_closed(session: Session) -> None:
    write("open.csv", 'a,b\n1,x\n2,"y\n3,z\n')
    error = failing(session, "SELECT * FROM read_csv('open.csv', header => true, delim => ',')")
    assert isinstance(error, DataCorrupt)
    assert "never closed" in str(error)


def test_a_line_longer_than_a_block(session: Session) -> None:
    write("long.csv", "a,b\n1,x\n2," + "y" * 9_000_000 + "\n3,z\n")
    rows = session.run("SELECT a, length(b) AS n FROM 'long.csv' ORDER BY a").read_all().to_pydict()
    assert rows == {"a": [1, 2, 3], "n": [1, 9_000_000, 1]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_a_quoted_line_end_at_the_end_of_a_block(session: Session, encoding: str) -> None:
    start = 'a,b\n1,"'
    for place in range((1 << 20) - 3, (1 << 20) + 1):
        value = "z" * (place - len(start)) + "\r\nz"
        write("crlf.csv", f'{start}{value}"\r\n2,x\r\n'.encode(encoding))
        found = session.run(f"SELECT b FROM read_csv('crlf.csv', encoding => '{encoding}')").read_all()
        assert found.column(0).to_pylist() == [value, "x"], place


def test_a_file_stays_open_while_arrow_may_read_ahead(session: Session) -> None:
    """A read from a closed descriptor would take bytes from the next file that is opened."""
    write("some.csv", "a\n1\n")
    path = Path("some.csv")
    with text_stream(File("some.csv", path, (), stamp_of(path))) as stream:
        pass
    assert not stream.closed


def test_json_that_does_not_fit_behind_the_sample(session: Session) -> None:
    line = '{"a": 1, "b": {"c": 2}}\n'
    write("far.jsonl", line * 30_000 + '{"a": "x", "b": null}\n' + line)
    error = failing(session, "SELECT sum(a) FROM 'far.jsonl'")
    assert isinstance(error, DataCorrupt)
    assert "far.jsonl', line 30001" in str(error)
    write("more.jsonl", line * 30_000 + '{"a": 1, "b": {"c": 2, "new": 1}}\n')
    assert "new" in str(failing(session, "SELECT * FROM 'more.jsonl'"))


def test_files_with_other_columns(session: Session) -> None:
    pq.write_table(TABLE, "1.parquet")
    pq.write_table(pa.table({"a": [9], "more": [1]}), "2.parquet")
    pq.write_table(pa.table({"a": ["text"], "s": ["x"]}), "3.parquet")
    assert isinstance(failing(session, "SELECT * FROM '[12].parquet'"), InvalidArgument)
    assert isinstance(failing(session, "SELECT * FROM '[13].parquet'"), TypeMismatch)
    rows = session.run("SELECT * FROM read_parquet('[12].parquet', union_by_name => true) ORDER BY a").read_all()
    assert rows.to_pydict() == {"a": [1, 2, 3, 9], "s": ["x", "y", None, None], "more": [None, None, None, 1]}


# --- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ("nope => 1", OptionNotFound, "DELIM"),
        ("delim => ';;'", InvalidArgument, "one character"),
        ("delim => '\"'", InvalidArgument, "different"),
        ("header => 'perhaps'", InvalidArgument, "true or false"),
        ("sample_size => 0", InvalidArgument, "at least 1"),
        ("types => {'nope': 'INT'}", ColumnNotFound, "available: a"),
        ("types => {'a': 'NOSUCH'}", errors.TypeNotFound, "NOSUCH"),
        ("types => {'a': ')'}", InvalidArgument, "is not a type"),
        ("types => 5", InvalidArgument, "types by name"),
        ("columns => {'x': 'INT', 'y': 'INT'}", InvalidArgument, "has 1 columns, but 2 columns are assigned"),
        ("columns => {'x': 'INT[]'}", NotSupportedError, "plain values"),
        ("compression => 'zip'", InvalidArgument, "gzip"),
        ("encoding => 'klingon'", InvalidArgument, "klingon"),
        ("nullstr => 5", InvalidArgument, "a text"),
    ],
)
def test_wrong_options(session: Session, options: str, kind: type[PinakesError], said: str) -> None:
    write("o.csv", "a\n1\n")
    error = failing(session, f"SELECT * FROM read_csv('o.csv', {options})")
    assert isinstance(error, kind), repr(error)
    assert said in str(error)


# --- what is allowed ---------------------------------------------------------------------------------------------


@pytest.fixture
def confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("a\n1\n")
    (inside / "own.csv").write_text("a\n1\n")
    (inside / "sub" / "own.csv").write_text("a\n2\n")
    (inside / "link.csv").symlink_to(outside / "secret.csv")
    (inside / "gone.csv").symlink_to(outside / "gone.csv")
    (inside / "door").symlink_to(outside)
    monkeypatch.chdir(inside)
    config = f"[engine]\ndata = '{tmp_path / 'lake'}'\nallowed_paths = ['{inside}']"
    with open_engine(parse_config(config, tmp_path)) as engine:
        yield engine.session()


@pytest.mark.parametrize(
    "path",
    "../outside/secret.csv ../outside/nothing.csv /etc/passwd link.csv gone.csv door/secret.csv door/*.csv *.csv "
    "../*/secret.csv ../outside / ~/x.csv [l]ink.csv sub/../../outside/*.csv".split(),
)
def test_nothing_outside_is_read_or_found_out(confined: Session, path: str) -> None:
    error = failing(confined, f"SELECT * FROM read_csv('{path}')")
    assert isinstance(error, PermissionDenied), repr(error)
    assert "secret" not in str(error).replace(path, "").replace("secret.csv' is outside", "")


def test_a_wildcard_does_not_follow_a_link_out(confined: Session) -> None:
    for pattern in ("*/own.csv", "**/own.csv", "*/../sub/own.csv"):
        rows = confined.run(f"SELECT a FROM '{pattern}' ORDER BY a").read_all()
        assert rows.num_rows >= 1
    error = failing(confined, "SELECT * FROM '*/secret.csv'")
    assert isinstance(error, FileNotFound)


def test_a_stored_view_and_copy_are_confined_too(confined: Session, tmp_path: Path) -> None:
    confined.run("CREATE VIEW v AS SELECT * FROM 'own.csv'")
    confined.run("CREATE TABLE t (a INT)")
    Path("own.csv").unlink()
    Path("own.csv").symlink_to(tmp_path / "outside" / "secret.csv")
    assert isinstance(failing(confined, "SELECT * FROM v"), PermissionDenied)
    assert isinstance(failing(confined, "COPY t FROM 'own.csv'"), PermissionDenied)
