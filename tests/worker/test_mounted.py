"""Workers mounted in an engine: the examples as their comments say, and what SQL may do with a worker's catalog."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pinakes
from pinakes.api.connection import Connection
from tests.worker.support import EXAMPLES, NUMBERS, command, example, program

pytestmark = pytest.mark.slow


@pytest.fixture
def connection() -> Iterator[Connection]:
    with pinakes.connect(data=":memory:") as connection:
        yield connection


def rows(connection: Connection, sql: str) -> list[tuple]:
    return connection.execute(sql).fetchall()


def mount(connection: Connection, name: str, location: str, options: str = "") -> None:
    connection.execute(f"ATTACH '{name}' (TYPE vgi, LOCATION '{location}'{options})")


# --- the examples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_short(path: Path):
    assert len(path.read_text().splitlines()) < 60


def test_users_in_an_engine_of_its_own(tmp_path: Path):
    """The shell, as a process of its own, with the worker as a process of that."""
    script = f"""
        ATTACH 'myapp' (TYPE 'vgi', LOCATION '{example("users")}');
        SELECT name, myapp.main.initials(name) AS short FROM myapp.main.active_users ORDER BY id;
    """
    ran = subprocess.run(
        [sys.executable, "-m", "pinakes", "--data", str(tmp_path / "data"), "--format", "csv", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.splitlines()[-2:] == ["Alice Ames,AA", "Bob Burr,BB"], ran.stderr


def test_users(connection: Connection):
    mount(connection, "myapp", example("users"))
    assert rows(connection, "SELECT * FROM myapp.main.users ORDER BY id DESC LIMIT 1") == [(3, "Carol Cole", False)]
    assert rows(connection, "SELECT count(*) FROM myapp.users WHERE active") == [(2,)]
    comments = "SELECT table_name, comment FROM system.metadata.table_comments"
    told = f"{comments} WHERE catalog_name = 'myapp' AND schema_name = 'main'"
    assert sorted(rows(connection, told)) == [("active_users", "Active accounts only"), ("users", "User accounts")]
    tags = "SELECT schema_name, table_name, tag_name, tag_value FROM system.metadata.tags WHERE catalog_name = 'myapp'"
    assert rows(connection, tags) == [("main", None, "owner", "crm")]
    columns = "SELECT column_name, is_nullable FROM myapp.information_schema.columns WHERE table_name = '{}'"
    assert rows(connection, columns.format("users")) == [("id", "NO"), ("name", "YES"), ("active", "YES")]
    assert [r[0] for r in rows(connection, columns.format("active_users"))] == ["id", "name", "active"]
    functions = "SELECT function_name, syntax FROM system.metadata.functions WHERE catalog_name = 'myapp' ORDER BY 1"
    assert rows(connection, functions) == [
        ("initials", "myapp.main.initials(name)"),
        ("users_function", "myapp.main.users_function()"),
    ]
    with pytest.raises(Exception, match="can only be read"):
        connection.execute("CREATE TABLE myapp.main.t (a INT)")
    with pytest.raises(Exception, match="table of a worker"):
        connection.execute("INSERT INTO myapp.main.users VALUES (4, 'x', true)")
    connection.execute("CREATE TABLE lake.default.copy AS SELECT * FROM myapp.main.users")
    assert rows(connection, "SELECT count(*) FROM copy c JOIN myapp.main.users u ON c.id = u.id") == [(3,)]


def test_csv_directory(connection: Connection, tmp_path: Path):
    (tmp_path / "towns.csv").write_text("id,town\n1,Oslo\n2,Bern\n")
    mount(connection, "csv", example("csv_directory"), f", DIRECTORY '{tmp_path}'")
    assert rows(connection, "SELECT town FROM csv.main.towns WHERE id = 2") == [("Bern",)]
    (tmp_path / "lakes.csv").write_text("name\nMjøsa\n")
    assert rows(connection, "SHOW TABLES IN csv.main") == [("lakes",), ("towns",)]  # its version has changed
    (tmp_path / "towns.csv").write_text("id,town,people\n1,Oslo,700000\n")
    assert rows(connection, "SELECT people FROM csv.main.towns") == [(700000,)]


def test_tickets_are_pushed_down(connection: Connection, caplog: pytest.LogCaptureFixture):
    mount(connection, "tickets", example("tickets"))
    with caplog.at_level("INFO", logger="pinakes.worker.stderr"):
        found = rows(connection, "SELECT title FROM tickets.main.tickets WHERE id BETWEEN 2000 AND 2001 ORDER BY 1")
        assert found == [("Ticket 2000",), ("Ticket 2001",)]
        assert rows(connection, "SELECT count(*) FROM tickets.tickets WHERE id < 250 AND open") == [(84,)]
        assert len(rows(connection, "SELECT * FROM tickets.tickets LIMIT 2")) == 2
        assert rows(connection, "SELECT count(*), sum(votes) FROM tickets.tickets") == [(10_000, 29_994)]
        connection.execute("DETACH tickets")
    asked = [r.getMessage() for r in caplog.records if "GET" in r.getMessage()]
    assert any("tickets: GET /tickets?page=20&fields=id,title" in line for line in asked), asked[:5]


def test_notes_in_transactions(connection: Connection, tmp_path: Path):
    mount(connection, "notes", example("notes"), f", PATH '{tmp_path / 'notes.db'}'")
    for sql in ("CREATE TABLE notes.main.todo (x INT)", "COMMENT ON TABLE notes.main.todo IS 'milk\nbread'"):
        connection.execute(sql)
    assert rows(connection, "SELECT text FROM notes.main.todo ORDER BY 1") == [("bread",), ("milk",)]
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE notes.main.other (x INT)")
    assert rows(connection, "SHOW TABLES IN notes.main") == [("other",), ("todo",)]
    with pinakes.connect(data=":memory:") as another:
        mount(another, "notes", example("notes"), f", PATH '{tmp_path / 'notes.db'}'")
        assert rows(another, "SHOW TABLES IN notes.main") == [("todo",)]
        connection.execute("ROLLBACK")
        assert rows(connection, "SHOW TABLES IN notes.main") == [("todo",)]
        connection.execute("BEGIN")
        connection.execute("DROP TABLE notes.main.todo")
        connection.execute("COMMIT")
        assert rows(connection, "SHOW TABLES IN notes.main") == []
        assert rows(another, "SHOW TABLES IN notes.main") == []
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE notes.main.mine (x INT)")
        another.execute("CREATE TABLE notes.main.theirs (x INT)")
        with pytest.raises(Exception, match="changed by another writer"):
            connection.execute("COMMIT")
        assert rows(connection, "SHOW TABLES IN notes.main") == [("theirs",)]


# --- functions -------------------------------------------------------------------------------------------------------


@pytest.fixture
def numbers(connection: Connection, tmp_path: Path) -> Connection:
    mount(connection, "numbers", command(program(tmp_path, NUMBERS)))
    return connection


def test_functions_by_their_full_names(numbers: Connection):
    assert rows(numbers, "SELECT numbers.main.twice(21)") == [(42,)]
    assert rows(numbers, "SELECT numbers.main.answer() FROM range(0, 3)") == [(42,)] * 3
    assert rows(numbers, "SELECT sum(numbers.twice(value)) FROM range(0, 1000)") == [(999_000,)]
    assert rows(numbers, "SELECT count(*), sum(i), sum(square) FROM numbers.main.numbers(100)") == [(100, 4950, 328350)]
    bound = "SELECT i FROM numbers.main.numbers(?, start => 8) WHERE i >= 10 ORDER BY i LIMIT 2"
    assert numbers.execute(bound, [5]).fetchall() == [(10,), (11,)]
    nested = "SELECT numbers.main.twice(numbers.main.twice(i)) AS x FROM numbers.main.numbers(3) ORDER BY x"
    assert rows(numbers, nested) == [(0,), (4,), (8,)]
    grouped = (
        "SELECT numbers.twice(i) % 4 AS k, count(*) FROM numbers.numbers(10) GROUP BY k HAVING count(*) > 1 ORDER BY k"
    )
    assert rows(numbers, grouped) == [(0, 5), (2, 5)]
    numbers.execute(
        "CREATE VIEW lake.default.doubled AS SELECT numbers.main.twice(i) AS d FROM numbers.main.numbers(4)"
    )
    assert rows(numbers, "SELECT max(d) FROM lake.default.doubled") == [(6,)]
    assert rows(numbers, "SELECT max(d) FROM lake.default.doubled") == [(6,)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT numbers.main.nope(1)", "numbers.main has the scalar functions: answer, twice"),
        ("SELECT * FROM numbers.main.nope(1)", "numbers.main has the table functions: endless, numbers"),
        ("SELECT numbers.main.twice(1, 2)", r"it takes \(x bigint\)"),
        ("SELECT numbers.main.numbers(1)", "is a table function: call it in FROM"),
        ("SELECT * FROM numbers.main.twice(1)", "is a scalar function: call it in an expression"),
        ("SELECT * FROM numbers.main.numbers('x')", "is not a valid bigint"),
        ("SELECT * FROM numbers.main.numbers()", "needs the argument 'n'"),
        ("SELECT * FROM numbers.main.numbers(1, m => 2)", "has no argument 'm'; it has: n, start"),
    ],
)
def test_calls_that_are_wrong(numbers: Connection, sql: str, message: str):
    with pytest.raises(Exception, match=message):
        numbers.execute(sql).fetchall()


def test_a_limit_ends_a_function_that_never_ends(numbers: Connection, tmp_path: Path):
    assert len(rows(numbers, "SELECT * FROM numbers.main.endless() LIMIT 5")) == 5
    assert rows(numbers, "SELECT numbers.main.twice(2)") == [(4,)]


def test_show_functions(numbers: Connection):
    found = rows(numbers, "SHOW FUNCTIONS IN numbers.main")
    assert [row[0] for row in found] == ["answer", "endless", "numbers", "twice"]
    assert ("numbers.main.twice", "bigint", "bigint", "scalar", True, "Twice as much.", "") in rows(
        numbers, "SHOW FUNCTIONS LIKE 'numbers%'"
    )
    assert rows(numbers, "DESCRIBE numbers.main.numbers(1)")[0][:2] == ("i", "bigint")
