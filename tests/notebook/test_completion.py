"""Tab in a cell: SQL is completed where SQL stands, and Python everywhere else."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from pinakes.notebook import completion
from pinakes.notebook.completion import sql_at
from tests.notebook.conftest import Run

BEFORE = "|"
"""Where the cursor stands in the texts below."""


def texts(shell: InteractiveShell, marked: str) -> list[str]:
    """The whole texts that the proposals would make."""
    text, cursor = marked.replace(BEFORE, ""), marked.index(BEFORE)
    with provisionalcompleter():
        found = list(shell.Completer.completions(text, cursor))
    return [text[: one.start] + one.text + text[one.end :] for one in found]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is proposed is asked here, and not how busy the machine is."""
    monkeypatch.setattr(completion, "PATIENCE", 60.0)


@pytest.fixture(autouse=True)
def tables(run: Run) -> None:
    run("%%sql\nCREATE TABLE orders (order_id INT, placed_at DATE);\nCREATE TABLE items (item INT)")


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("%sql SELECT * FROM ord|", "%sql SELECT * FROM orders"),
        ("%sql SELECT pla| FROM orders", "%sql SELECT placed_at FROM orders"),
        ("%%sql\nSELECT *\nFROM ite|\n", "%%sql\nSELECT *\nFROM items\n"),
        ("%%sql --out x\nSELECT * FROM orders WHERE ord|", "%%sql --out x\nSELECT * FROM orders WHERE order_id"),
        ("%%sql x << SELECT * FROM lake.default.ord|\n", "%%sql x << SELECT * FROM lake.default.orders\n"),
        ("n = 1\nfound = %sql SELECT * FROM ord|", "n = 1\nfound = %sql SELECT * FROM orders"),
    ],
)
def test_sql_is_completed(shell: InteractiveShell, marked: str, expected: str) -> None:
    assert expected in texts(shell, marked)


def test_what_a_statement_made_is_known(shell: InteractiveShell, run: Run) -> None:
    assert texts(shell, "%sql SELECT * FROM brand|") == []
    run("%sql CREATE TABLE brand_new (a INT)")
    assert "%sql SELECT * FROM brand_new" in texts(shell, "%sql SELECT * FROM brand|")


def test_python_is_left_to_python(shell: InteractiveShell) -> None:
    shell.user_ns["orders_of_python"] = 1
    assert texts(shell, "orders_of_py|") == ["orders_of_python"]


@pytest.mark.parametrize(
    ("marked", "sql"),
    [
        ("%sql a|", ("a", 1)),
        ("  x.y = %sql a|", ("a", 1)),
        ("%%sql\na\n|b", ("\na\nb", 3)),
        ("%%sql --out x a|\nb", ("a\nb", 1)),
        ("%%sq|l\na", None),
        ("%%sql --connect data=|x y", None),
        ("%%sql --nope |", None),
        ("print('%sql a|')", None),
        ("%sqlite a|", None),
        ("a %sql b|", None),
    ],
)
def test_where_sql_stands(marked: str, sql: tuple[str, int] | None) -> None:
    before = marked[: marked.index(BEFORE)]
    found = sql_at(marked.replace(BEFORE, ""), before.count("\n"), len(before) - before.rfind("\n") - 1)
    assert found == sql
