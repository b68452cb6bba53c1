"""Import cycles between modules, counted at run time: imports within functions count, those for types alone do not.
The modules that users import keep their paths."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pinakes"
MOST = 3
"""Modules in a cycle."""


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(tree: ast.AST, known: set[str]) -> set[str]:
    """The modules of the package that a module imports when it runs."""
    found: set[str] = set()
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import: {ast.unparse(node)}"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(name if name in known else node.module or "" for name in names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        else:
            todo += (
                n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt | ast.excepthandler | ast.match_case)
            )
    return found & known


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that import each other, directly or not."""
    graph = {name: set(targets) for name, targets in graph.items()}
    groups = {name: {name} for name in graph}
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            merged = set(error.args[1])
        else:
            return [group for group in groups.values() if len(group) > 1]
        first, *rest = sorted(merged)
        groups[first].update(*(groups.pop(name) for name in rest))
        graph[first].update(*(graph.pop(name) for name in rest))
        graph = {
            name: {first if target in merged else target for target in targets} - {name}
            for name, targets in graph.items()
        }


@cache
def cycles_of_the_package() -> list[set[str]]:
    known = set(MODULES)
    graph = {
        name: imported(ast.parse(path.read_text(encoding="utf-8")), known) - {name} for name, path in MODULES.items()
    }
    assert sum(map(len, graph.values())) > len(graph)
    return cycles(graph)


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d", "f"}, "f": set[str]()}
    assert sorted(map(sorted, cycles(graph))) == [["a", "b", "c"], ["d", "e"]]


def test_imports_in_functions_count_and_those_for_types_do_not() -> None:
    text = "if TYPE_CHECKING:\n    import a\ndef f():\n    from b import c, d\n    import e\n"
    assert imported(ast.parse(text), {"a", "b", "b.c", "e"}) == {"b.c", "b", "e"}


def test_no_import_cycle_has_more_than_three_modules() -> None:
    assert [sorted(cycle) for cycle in cycles_of_the_package() if len(cycle) > MOST] == []


def test_no_import_cycle_crosses_packages_of_the_engine() -> None:
    packages = sorted(path.parent.name for path in (PACKAGE / "engine").glob("*/__init__.py"))
    assert {"binding", "commands", "planning"} <= set(packages)

    def within(cycle: set[str]) -> set[str]:
        parts = (name.split(".") for name in cycle if name.startswith("pinakes.engine."))
        return {part[2] for part in parts if part[2] in packages}

    assert [sorted(cycle) for cycle in cycles_of_the_package() if len(within(cycle)) > 1] == []


# --- public modules ------------------------------------------------------------------------------------------------

PUBLIC = {
    "pinakes": ["connect"],
    "pinakes.core.errors": ["CatalogUnavailable"],
    "pinakes.core.secrets": ["Access"],
    "pinakes.pipeline.expect": ["expect"],
    "pinakes.providers.options": ["option"],
    "pinakes.providers.sql_catalog.adapter": ["StoreCatalog"],
    "pinakes.providers.sql_catalog.store": ["Kind"],
    "pinakes.worker": ["Worker"],
    "pinakes.worker.catalog": ["Catalog", "Schema", "Table", "View"],
    "pinakes.worker.client": ["Client"],
    "pinakes.worker.client.catalog_mixin": ["CatalogClientMixin"],
}
"""The modules that users import, with some of their names: their paths stay."""

IMPORT = re.compile(r"^\s*from (pinakes(?:\.\w+)*) import (\([^)]*\)|[\w, ]+)", re.MULTILINE)


def documented_imports() -> set[tuple[str, str]]:
    """The imports from the package in the documentation and in the examples."""
    root = PACKAGE.parent
    files = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("examples/**/*.py")]
    found = set()
    for path in files:
        for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            plain = (name.strip("() \n").partition(" as ")[0] for name in names.split(","))
            found |= {(module, name) for name in plain if name}
    return found


@pytest.mark.parametrize("module", PUBLIC)
def test_public_modules_have_their_names(module: str) -> None:
    there = importlib.import_module(module)
    assert [name for name in PUBLIC[module] if not hasattr(there, name)] == []


def test_documentation_and_examples_import_public_modules_only() -> None:
    imports = documented_imports()
    assert ("pinakes.pipeline.expect", "expect") in imports
    assert sorted({module for module, _ in imports} - set(PUBLIC)) == []


@pytest.mark.parametrize(("module", "name"), sorted(documented_imports()))
def test_documented_imports_work(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)
