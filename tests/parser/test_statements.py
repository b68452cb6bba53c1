"""The package of statement kinds: every name is where the table says, and loaded only when it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pinakes.parser import statements


@pytest.mark.parametrize("family", statements.FAMILIES)
def test_the_table_is_complete(family: str) -> None:
    module = import_module(f"pinakes.parser.statements.{family}")
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    made = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    made |= {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    assert made == set(statements.FAMILIES[family].split())


def test_editors_and_mypy_see_every_name() -> None:
    tree = ast.parse(Path(str(statements.__file__)).read_text(encoding="utf-8"))
    seen = {
        (str(node.module).rpartition(".")[2], alias.asname)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pinakes.parser.statements.")
        for alias in node.names
    }
    assert seen == {(family, name) for family, names in statements.FAMILIES.items() for name in names.split()}


def test_names_are_those_of_the_families() -> None:
    assert dir(statements) == sorted(statements.__all__)
    assert statements.Query is import_module("pinakes.parser.statements.queries").Query
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        getattr(statements, "Nonsense")  # noqa: B009


@pytest.mark.parametrize(
    ("sql", "families", "forms"),
    [
        ("select 1", "base,queries", "query"),
        ("show tables", "base,queries,shows", "query,show"),
        ("use lake", "base,queries,session", "query,session"),
    ],
)
def test_only_what_is_needed_is_loaded(sql: str, families: str, forms: str) -> None:
    program = (
        f"import sys; from pinakes.parser import classify; classify({sql!r})\n"
        "for place in ('pinakes.parser.statements.', 'pinakes.parser.grammar.'):\n"
        "    print(','.join(sorted(m.removeprefix(place) for m in sys.modules if m.startswith(place))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [families, forms]
