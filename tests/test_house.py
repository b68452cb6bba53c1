"""The house rules that a test can hold: one thing, one name, everywhere; nothing undocumented; nothing heavy early."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from pinakes.config.model import CacheConfig, CachesConfig, EngineConfig, LogConfig, SizedCacheConfig
from pinakes.config.server import AccessConfig, LoginConfig, OidcConfig, TlsConfig
from pinakes.config.server_limits import ServerLimits
from pinakes.config.serving import MetricsConfig, StatementLimits
from pinakes.config.settings import Settings
from pinakes.config.spark import SparkConfig
from pinakes.core import errors
from pinakes.core.access.privileges import PRIVILEGES
from pinakes.core.values import docs_of
from pinakes.engine.commands.registry import HANDLERS, UNSUPPORTED, handler_of
from pinakes.engine.describe import LOOKS
from pinakes.parser import classify, statements
from pinakes.parser.statements import Planned, Statement
from pinakes.system_tables import registry as system
from tests.sqllogic import parse

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pinakes"
SQL = ROOT / "tests" / "sql"
MODULES = sorted(PACKAGE.rglob("*.py"))
KINDS: list[type[Statement]] = [
    kind
    for kind in (getattr(statements, name) for name in statements.__all__)
    if isinstance(kind, type)
    and issubclass(kind, Statement)
    and kind not in (Statement, Planned, statements.Returning, statements.Conflict)
]
SUPPORTED = [kind for kind in KINDS if kind.__name__ not in UNSUPPORTED]


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


# --- statements --------------------------------------------------------------------------------------------------


def test_the_kinds_are_found() -> None:
    assert {"Query", "ShowTables", "Grant"} <= {kind.__name__ for kind in KINDS}


def test_every_kind_is_in_the_registry_once() -> None:
    assert set(KINDS) == set(get_args(statements.AnyStatement))
    assert sorted(kind.__name__ for kind in KINDS) == sorted([*HANDLERS, *UNSUPPORTED])


@pytest.mark.parametrize("kind", SUPPORTED, ids=lambda kind: kind.__name__)
def test_every_supported_kind_has_a_handler_of_its_name(kind: type[Statement]) -> None:
    handler = handler_of(kind.__name__)
    assert inspect.isfunction(handler)
    assert handler.__name__ == snake(kind.__name__)
    module, _, function = HANDLERS[kind.__name__].partition(":")
    assert (handler.__module__, handler.__name__) == (f"pinakes.engine.commands.{module}", function)
    statement, execution = inspect.signature(handler).parameters.values()
    assert (statement.annotation, execution.annotation) == (kind.__name__, "Execution")


@pytest.mark.parametrize("kind", SUPPORTED, ids=lambda kind: kind.__name__)
def test_every_supported_kind_has_a_documented_form(kind: type[Statement]) -> None:
    doc = inspect.getdoc(handler_of(kind.__name__)) or ""
    form = " ".join(doc.split("\n\n")[0].split()).partition(": ")[0]
    assert re.match(r"[A-Z]{2,}\b", form), "the docstring of a handler starts with the form of its statement"
    page = (ROOT / "docs/reference/statements.md").read_text(encoding="utf-8")
    assert f"\n{form.rstrip('.')}\n" in page


def test_every_module_of_commands_has_handlers() -> None:
    families = {path.stem for path in (PACKAGE / "engine/commands").glob("*.py")} - {
        "__init__",
        "registry",
        "select_engine",
    }
    assert families == {entry.partition(":")[0] for entry in HANDLERS.values()}


@pytest.mark.parametrize("kind", SUPPORTED, ids=lambda kind: kind.__name__)
def test_every_supported_kind_has_sql_tests(kind: type[Statement]) -> None:
    file = SQL / f"{snake(kind.__name__)}.slt"
    assert file.is_file(), f"{file.relative_to(ROOT)} is missing"
    assert kind.__name__ in kinds_in(file)


def test_every_statement_that_shows_something_is_described_with_its_columns() -> None:
    """Clients that prepare a statement take one without columns for an update, and read no rows."""
    assert {kind.__name__ for kind in KINDS if kind.__name__.startswith("Show")} <= LOOKS


def test_every_unsupported_kind_has_sql_tests() -> None:
    assert set(UNSUPPORTED) <= kinds_in(SQL / "refusals.slt")


def kinds_in(file: Path) -> set[str]:
    """The kinds of the statements that a file runs; what is wrong on purpose has none."""
    found = set()
    for record in parse(file.read_text(encoding="utf-8"), file):
        try:
            found.add(classify(record.sql).kind)
        except errors.PinakesError:
            continue
    return found


# --- structure ---------------------------------------------------------------------------------------------------


def test_one_module_reads_the_expressions_of_datafusion() -> None:
    """All others read predicates (`engine/pushdown/predicate.py`)."""
    api = re.compile(r"\.(?:variant_name|rex_\w+|python_value|canonical_name|schema_name|agg_func_name)\(")
    readers = [str(m.relative_to(PACKAGE)) for m in MODULES if api.search(m.read_text(encoding="utf-8"))]
    assert readers == ["engine/pushdown/expressions.py"]


def test_one_module_makes_placeholder_scans() -> None:
    named = [str(m.relative_to(PACKAGE)) for m in MODULES if "with_bytes(TABLE_NAME" in m.read_text(encoding="utf-8")]
    assert named == ["engine/pushdown/placeholder_scan.py"]


# --- documentation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", ["architecture", "contributing"])
def test_the_paths_that_a_page_for_contributors_names_exist(page: str) -> None:
    """In code spans and in the diagram; relative to the package, or to the root of the tree."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    pieces = [*re.findall(r"`([^`\n]+)`", text), *" ".join(re.findall(r"^```$(.*?)^```$", text, re.M | re.S)).split()]
    paths = {piece.rstrip(",") for piece in pieces if re.fullmatch(r"[\w./-]+(?:/|\.(?:py|md|toml)),?", piece)}
    assert len(paths) > 30
    in_packages = {"table.py", "__init__.py"}
    assert [p for p in sorted(paths - in_packages) if not ((PACKAGE / p).exists() or (ROOT / p).exists())] == []


def test_the_architecture_page_names_every_package() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    packages = [
        path.parent.relative_to(PACKAGE) for depth in ("*", "engine/*") for path in PACKAGE.glob(f"{depth}/__init__.py")
    ]
    assert [str(p) for p in packages if f"`{p}/" not in text] == []


@pytest.mark.parametrize("package", [m for m in MODULES if m.name == "__init__.py"], ids=lambda p: p.parent.name)
def test_every_package_says_what_belongs_there_and_what_does_not(package: Path) -> None:
    """In two sentences; modules that it names are there."""
    text = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))) or ""
    assert len(re.findall(r"[.:](?=\s|$)", text)) >= 2
    named = re.findall(r"`([\w/]+\.(?:py|md))`", text)
    places = (package.parent, package.parent.parent, PACKAGE, ROOT)
    assert [name for name in named if not any((place / name).is_file() for place in places)] == []


def settings() -> list[tuple[str, str, str]]:
    engine = (Settings, EngineConfig, CacheConfig, SizedCacheConfig, LogConfig, SparkConfig)
    server = (LoginConfig, ServerLimits, StatementLimits, MetricsConfig, OidcConfig, TlsConfig, AccessConfig)
    return [row for kind in (*engine, *server) for row in docs_of(kind)]


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    missing = [name for name, _, doc in settings() if f"| {name} | " not in page or doc.replace("|", "\\|") not in page]
    missing += [name for name in (*CachesConfig.__dataclass_fields__, *PRIVILEGES) if f"| {name} | " not in page]
    assert missing == []


PAGES = (
    *(
        f"reference/{page}.md"
        for page in (
            "settings",
            "errors",
            "catalogs",
            "system-tables",
            "statements",
            "command",
            "differences",
            "functions",
        )
    ),
    "adr/index.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_is_in_step_with_the_code(page: str) -> None:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs/generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert set(generate.PAGES) == set(PAGES)
    written = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert written == generate.PAGES[page](), "run `make docs`"


SYSTEM_TABLES = [(schema, name) for schema in system.SCHEMAS for name in system.names(schema)]


@pytest.mark.parametrize(("schema", "name"), SYSTEM_TABLES)
def test_every_system_table_shows_what_it_is(schema: str, name: str) -> None:
    table = system.table(schema, name)
    assert table.name == name
    assert table.doc.endswith(".")
    assert len({column.name for column in table.columns}) == len(table.columns)
    assert [column.name for column in table.columns if not column.doc or column.doc.endswith(".")] == []


@pytest.mark.parametrize(("schema", "name"), SYSTEM_TABLES)
def test_every_system_table_has_sql_tests(schema: str, name: str) -> None:
    """Those without rows share a file."""
    own, empty = SQL / f"{schema}_{name}.slt", SQL / f"{schema}_empty.slt"
    assert own.is_file() or f"system.{schema}.{name}\n" in empty.read_text(encoding="utf-8")


def test_every_error_has_a_code_of_its_own_and_stands_in_the_tree() -> None:
    kinds = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.PinakesError)]
    codes = [e.code for e in kinds]
    assert len(codes) == len(set(codes))
    drawn = dict(re.findall(r"[├└]── (\w+)\s+([A-Z_]+)", errors.__doc__ or ""))
    assert drawn == {e.__name__: e.code for e in kinds if e is not errors.PinakesError}


def test_every_make_target_shows_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    told = set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))
    assert targets == told
    assert {"venv", "shell", "check", "test", "test-long", "bench", "help"} <= targets


# --- what must not be there --------------------------------------------------------------------------------------


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    home = re.compile(rb"/(?:root|home/\w+|Users/\w+|work)/\w")
    found = [
        f"{path.relative_to(ROOT)}: {match.group().decode()}"
        for path in tracked()
        for match in home.finditer(path.read_bytes())
    ]
    assert found == []


HEAVY = ("datafusion", "pyarrow", "pyspark", "pyiceberg", "sqlglot", "prompt_toolkit", "rich")


def test_a_query_loads_no_other_statements() -> None:
    """Half a millisecond for each dataclass, and there are ninety: `select 1` pays for its own family only."""
    code = (
        "import sys\nfrom pinakes.cli.main import main\n"
        "try:\n    main(['--data', ':memory:', '-c', 'select 1'])\nexcept SystemExit:\n    pass\n"
        "place = 'pinakes.parser.statements.'\n"
        "sys.stderr.write(','.join(sorted(m.removeprefix(place) for m in sys.modules if m.startswith(place))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == "base,queries"


def test_a_query_loads_no_other_handlers() -> None:
    code = (
        "import sys\nfrom pinakes.cli.main import main\n"
        "try:\n    main(['--data', ':memory:', '-c', 'select 1'])\nexcept SystemExit:\n    pass\n"
        "place = 'pinakes.engine.commands.'\n"
        "sys.stderr.write(','.join(sorted(m.removeprefix(place) for m in sys.modules if m.startswith(place))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == "queries,registry"


def test_a_query_loads_no_system_tables() -> None:
    code = (
        "import sys\nfrom pinakes.cli.main import main\n"
        "try:\n    main(['--data', ':memory:', '-c', 'select 1'])\nexcept SystemExit:\n    pass\n"
        "place = 'pinakes.system_tables.'\n"
        "sys.stderr.write(','.join(sorted(m.removeprefix(place) for m in sys.modules if m.startswith(place))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == "catalog_metadata,catalog_metadata.errors,catalog_metadata.executor"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom pinakes.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"sys.stderr.write(','.join(m for m in {HEAVY!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "usage: pinakes" in done.stdout
    assert done.stderr == ""
