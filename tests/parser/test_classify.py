"""Every kind of statement and the ways people write it: text in, the facts of the statement out."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from pinakes.core.errors import NotSupportedError, ParseError
from pinakes.core.names import Name, Part
from pinakes.core.types.syntax import SqlType
from pinakes.parser import classify, statements
from pinakes.parser.dispatch import FORMS, form_of
from pinakes.parser.statements import AsOf, CopyOption, Option, Span, Statement, TableRef
from tests.parser.cases import CASES, NOT_SUPPORTED, TYPES


def plain(value: object, text: str) -> object:
    """A fact in the form of the table of cases: names, parts and spans as text, the rest as lists."""
    if isinstance(value, Name):
        return f"path:{value}" if value.is_path else str(value)
    if isinstance(value, Part | statements.Like):
        return str(value) if isinstance(value, Part) else value.pattern
    if isinstance(value, Span):
        return value.of(text)
    if isinstance(value, TableRef):
        return " ".join(str(plain(v, text)) for v in (value.name, value.alias, value.as_of) if v is not None)
    if isinstance(value, AsOf):
        return f"@{value.kind}={value.value.of(text)}"
    if isinstance(value, Option | CopyOption):
        return (value.key, value.value)
    if isinstance(value, SqlType):
        return type_text(value)
    if isinstance(value, tuple | list):
        return [plain(v, text) for v in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        shown = {k: plain(v, text) for k, v in fields.items() if v not in (None, (), False)}
        return {"": type(value).__name__, **shown}
    return value


def type_text(found: SqlType) -> str:
    inner = [type_text(i) for i in found.items]
    inner += [f"{f.name}: {type_text(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in found.fields]
    params = f"({', '.join(map(str, found.params))})" if found.params else ""
    return f"{found.name}{params}" + (f"<{', '.join(inner)}>" if inner else "")


@pytest.mark.parametrize(("sql", "kind", "facts"), CASES, ids=[c[0][:60] for c in CASES])
def test_statement(sql: str, kind: str, facts: dict[str, object]) -> None:
    statement = classify(sql)
    assert statement.kind == kind
    assert {k: plain(getattr(statement, k), statement.text) for k in facts} == facts


@pytest.mark.parametrize(("written", "expected"), TYPES, ids=[t[0] for t in TYPES])
def test_type(written: str, expected: str) -> None:
    statement = classify(f"CREATE TABLE t (x {written})")
    assert isinstance(statement, statements.CreateTable)
    assert type_text(statement.columns[0].type) == expected


@pytest.mark.parametrize("sql", NOT_SUPPORTED)
def test_not_supported(sql: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        classify(sql)
    assert caught.value.position is not None


def test_every_kind_has_a_case() -> None:
    kinds = {
        value.__name__
        for value in (getattr(statements, name) for name in statements.__all__)
        if isinstance(value, type)
        and issubclass(value, Statement)
        and value not in (Statement, statements.Planned, statements.Returning, statements.Conflict)
    }
    assert kinds == {kind for _, kind, _ in CASES}


@pytest.mark.parametrize(
    ("sql", "line", "column", "message"),
    [
        ("", 1, 1, "no statement"),
        ("  -- only a comment\n", 1, 3, "no statement"),
        (";;", 1, 1, "no statement"),
        ("FROBNICATE x", 1, 1, "found 'FROBNICATE'"),
        ("SELECT 'abc", 1, 8, "string is never closed"),
        ('SELECT "abc', 1, 8, "quoted identifier is never closed"),
        ("SELECT /* a /* b */", 1, 8, "comment is never closed"),
        ("SELECT $x$ abc", 1, 8, "dollar-quoted string is never closed"),
        ("SELECT (1", 1, 8, "( is never closed"),
        ("SELECT 1)", 1, 9, ") closes nothing"),
        ("SELECT [1)", 1, 10, ") closes nothing"),
        ("SELECT 1; SELECT 2", 1, 9, "one statement at a time"),
        ("SHOW TABLES\n  IN", 2, 5, "expected a catalog or namespace, found the end"),
        ("SHOW TABLES garbage", 1, 13, "expected the end of the statement, found 'garbage'"),
        ("DROP TABLE", 1, 11, "expected the name of a table"),
        ("DROP FROB x", 1, 6, "expected TABLE, VIEW"),
        ("CREATE FROB x", 1, 8, "expected TABLE, VIEW"),
        ("ALTER FROB x", 1, 7, "expected TABLE, VIEW"),
        ("CREATE TABLE t", 1, 15, "expected ( and the columns"),
        ("CREATE TABLE t ()", 1, 17, "the name of a column"),
        ("CREATE TABLE t (a)", 1, 19, "column a needs a type"),
        ("CREATE TABLE t (a INT,)", 1, 23, "the name of a column"),
        ("CREATE TABLE t (a INT) FROB", 1, 24, "expected PARTITIONED BY"),
        ("CREATE TABLE t (a MAP<INT>)", 1, 26, "expected ,"),
        ("CREATE TABLE t (a DECIMAL(x))", 1, 27, "expected a whole number"),
        ("DELETE FROM t\nWHERE x = = 2", 2, 11, "missing"),
        ("UPDATE t SET a", 1, 15, "expected ="),
        ("UPDATE t SET a = ", 1, 17, "expected an expression"),
        ("INSERT INTO t SELEC 1", 1, 15, "expected a query"),
        ("INSERT t VALUES (1)", 1, 8, "expected INTO or OVERWRITE"),
        ("MERGE INTO t USING s ON a = b", 1, 30, "expected WHEN"),
        ("MERGE INTO t USING s ON a = b WHEN MATCHED THEN INSERT *", 1, 49, "INSERT belongs to"),
        (
            "MERGE INTO t USING s ON a = b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)",
            1,
            67,
            "2 columns and 1 values",
        ),
        ("SELECT * FROM a.b.", 1, 1, ""),
        ("USE a.", 1, 7, "a name after the dot"),
        ('USE ""', 1, 5, "can't be empty"),
        ("EXPLAIN", 1, 8, "expected a query"),
        ("EXPLAIN EXPLAIN SELECT 1", 1, 9, "can't be explained"),
        ("PREPARE p AS EXECUTE q", 1, 14, "can't be prepared"),
        ("UPDATE t FOR VERSION AS OF 1 SET a = 1", 1, 10, "AS OF is for reading"),
        ("ATTACH x", 1, 8, "expected a location"),
    ],
)
def test_error_has_its_place(sql: str, line: int, column: int, message: str) -> None:
    if not message:  # DataFusion has the last word about a query that sqlglot can't read
        statement = classify(sql)
        assert isinstance(statement, statements.Query)
        assert not statement.parsed
        return
    with pytest.raises(ParseError) as caught:
        classify(sql)
    position = caught.value.position
    assert position is not None
    assert (position.line, position.column) == (line, column)
    assert message in caught.value.message


def test_error_marks_the_text() -> None:
    with pytest.raises(ParseError) as caught:
        classify("SHOW TABLES\n  IN a garbage")
    assert str(caught.value).endswith("(line 2, column 8)\n  IN a garbage\n       ^")


def test_unknown_start_says_what_may_start() -> None:
    with pytest.raises(ParseError, match=r"a statement starts with SELECT, .*EXPLAIN, …, found 'XYZZY'"):
        classify("XYZZY")


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("selct 1", "'selct' is not a statement; did you mean SELECT?"),
        ("Shwo tables", "did you mean SHOW?"),
        ("EXPLAIN INSRT INTO t SELECT 1", "'INSRT' is not a statement; did you mean INSERT?"),
        ("PREPARE p AS DELTE FROM t", "did you mean DELETE?"),
        ("creat table t (a int)", "did you mean CREATE?"),
    ],
)
def test_a_typing_error_gets_a_hint(sql: str, meant: str) -> None:
    with pytest.raises(ParseError) as caught:
        classify(sql)
    assert meant in caught.value.message


def test_every_first_word_has_its_form() -> None:
    for word in FORMS:
        assert callable(form_of(word))


def test_text_is_the_users_own() -> None:
    statement = classify("  /* why */ SELECT  1 -- because\n ; ")
    assert statement.text == "/* why */ SELECT  1"
    assert statement.shown == statement.text


@pytest.mark.parametrize("parts", range(1, 7))
def test_names_of_any_depth(parts: int) -> None:
    name = ".".join(["a", '"B c"', "`d``e`", "ünï", '"."', "f"][:parts])
    for sql in (
        f"SELECT * FROM {name}",
        f"INSERT INTO x SELECT * FROM {name}",
        f"DELETE FROM x WHERE a IN (FROM {name})",
    ):
        statement = classify(sql)
        assert isinstance(statement, statements.Planned)
        (table,) = statement.tables
        assert [p.text for p in table.name.parts] == ["a", "B c", "d`e", "ünï", ".", "f"][:parts]
        assert table.span.of(statement.text) == name


@pytest.mark.parametrize("count", [201, 10_000])
@pytest.mark.parametrize("shape", ["({})", "f({})", "[{}]", "(SELECT {})"])
def test_deep_brackets_are_refused(shape: str, count: int) -> None:
    before, after = shape.split("{}")
    with pytest.raises(ParseError, match="nested more than"):
        classify(f"SELECT {before * count}1{after * count} FROM t")


@pytest.mark.parametrize("shape", ["CASE WHEN {} THEN 1 END", "NOT {}", "- {}", "a + {}", "a AND {}"])
def test_deep_expressions_are_read_or_left_to_datafusion(shape: str) -> None:
    before, after = shape.split("{}")
    assert classify(f"SELECT {before * 900}1{after * 900} FROM t").kind == "Query"


def test_what_would_break_sqlglot_is_kept_from_it() -> None:
    many_froms = classify("SELECT * " + "FROM a " * 20_000)
    bare_joins = classify("SELECT * FROM a" + " JOIN b" * 40)
    nested_types = classify(f"SELECT {'date(' * 40}a{')' * 40} FROM t")
    for statement in (many_froms, bare_joins, nested_types):
        assert isinstance(statement, statements.Query)
        assert not statement.parsed


def test_sqlglot_waits_for_a_query_with_names() -> None:
    """It costs as much as DataFusion to import; SHOW, SET and SELECT 1 don't need it."""
    program = (
        "import sys; from pinakes.parser import classify, mask, split;"
        "[classify(s) for s in ('SHOW TABLES', 'SELECT 1', 'INSERT INTO t VALUES (1)', 'CREATE TABLE t (a INT)')];"
        "mask('x'); split('x'); sys.exit('sqlglot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_statements_are_frozen() -> None:
    statement = classify("SELECT 1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        statement.text = "x"  # type: ignore[misc]
