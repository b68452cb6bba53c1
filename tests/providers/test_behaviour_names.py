"""How every type of catalog behaves (see `test_behaviour.py`): names of tables, schemas and views."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress

import pytest

from pinakes.core.errors import InvalidArgument, NamespaceNotFound, ParseError
from tests.engine.support import LONG
from tests.providers.kinds import EXCEPTIONS, ODD_NAMES, SCHEMAS, TABLES, VIEWS, Lake

pytestmark = pytest.mark.slow

SAMPLE = ["käse", 'q"uote', "per%cent", "do.t"]


def names(lake: Lake) -> list[str]:
    """A sample for databases in the normal run: `test_server_stores.py` stores all kinds of names in them."""
    return SAMPLE if lake.kind_name.startswith("jdbc_") and not LONG else ODD_NAMES


def outcome(lake: Lake, test: str, name: str) -> AbstractContextManager[object]:
    """Expects the error of a name that the type can't have, and none of others."""
    expected = EXCEPTIONS.get((lake.kind_name, test, name))
    return pytest.raises(expected[0]) if expected else nullcontext()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_odd_names_of_tables(lake: Lake) -> None:
    for name in names(lake):
        table, before = f"{{s}}.{quoted(name)}", lake.names("SHOW TABLES IN {s}")
        with outcome(lake, TABLES, name):
            lake.run(f"CREATE TABLE {table} AS SELECT 1 AS id")
            lake.run(f"INSERT INTO {table} VALUES (2)")
            assert lake.names("SHOW TABLES IN {s}") == sorted([*before, name])
            assert lake.rows(f"SELECT id FROM {table}") == [(1,), (2,)]
            if lake.kind.renames:
                lake.run(f"ALTER TABLE {table} RENAME TO {{s}}.plain")
                lake.run(f"ALTER TABLE {{s}}.plain RENAME TO {table}")
            lake.run(f"DROP TABLE {table}")
            assert lake.names("SHOW TABLES IN {s}") == before


def test_odd_names_of_schemas(lake: Lake) -> None:
    for name in names(lake):
        schema = f"cat.{quoted(f'{lake.name}{name}')}"
        with outcome(lake, SCHEMAS, name):
            lake.run(f"CREATE SCHEMA {schema}")
            lake.run(f"CREATE TABLE {schema}.t AS SELECT 1 AS id")
            assert lake.names(f"SHOW TABLES IN {schema}") == ["t"]
            assert lake.rows(f"SELECT id FROM {schema}.t") == [(1,)]
            lake.run(f"DROP SCHEMA {schema} CASCADE")


def test_odd_names_of_views(lake: Lake) -> None:
    if not lake.kind.views:
        return
    for name in names(lake):
        view, before = f"{{s}}.{quoted(name)}", lake.names("SHOW VIEWS IN {s}")
        with outcome(lake, VIEWS, name):
            lake.run(f"CREATE VIEW {view} AS SELECT 1 AS id")
            lake.run(f"CREATE OR REPLACE VIEW {view} AS SELECT 2 AS id")
            assert lake.names("SHOW VIEWS IN {s}") == sorted([*before, name])
            assert lake.rows(f"SELECT id FROM {view}") == [(2,)]
            lake.run(f"DROP VIEW {view}")


def test_names_that_a_path_would_lose(lake: Lake) -> None:
    """They work or are refused; what must not be is that something else is meant by them."""
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    for name in ("..", ".", ""):
        for statement in (
            f"CREATE TABLE {{s}}.{quoted(name)} (id INT)",
            f"DROP TABLE IF EXISTS {{s}}.{quoted(name)}",
            f"DROP SCHEMA IF EXISTS cat.{quoted(name)}",
        ):
            with suppress(InvalidArgument, ParseError, NamespaceNotFound):
                lake.run(statement)
        assert lake.rows("SELECT id FROM {s}.t") == [(1,)], name
