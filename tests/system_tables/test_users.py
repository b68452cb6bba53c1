"""Two users on one warm engine, in turn: neither sees a name that only the other may see, in any table."""

from __future__ import annotations

from typing import Any

import pytest

from pinakes.caches.caching_catalog import cache_catalog
from pinakes.core.catalog import Catalog, IcebergTable
from pinakes.core.errors import PermissionDenied
from pinakes.core.identity import Identity
from pinakes.core.names import INFORMATION_SCHEMA, Namespace
from pinakes.engine.catalogs.registry import Mount
from pinakes.system_tables import registry
from tests.engine.support import an_engine, rows
from tests.system_tables.counting import CountingCatalog

TABLES = [
    f"{INFORMATION_SCHEMA}.{name}" if schema == INFORMATION_SCHEMA else f"system.{schema}.{name}"
    for schema in registry.SCHEMAS
    for name in registry.names(schema)
]


class Guarded(CountingCatalog):
    """What one user may see; a table that they may list and not load is there, too."""

    def load_table(self, namespace: Namespace, name: str) -> IcebergTable:
        if name.startswith("denied"):
            raise PermissionDenied(f"no right to load {name}")
        return super().load_table(namespace, name)


def catalog_of(user: str) -> Guarded:
    return Guarded({("shared",): (["both", f"denied_{user}"], []), (f"of_{user}",): ([f"t_{user}"], [f"v_{user}"])})


@pytest.fixture(scope="module")
def sessions() -> Any:
    seen = {user: catalog_of(user) for user in ("zoltan", "quentin")}
    with an_engine() as engine:
        number = engine.next_mount_id()

        def open(identity: Identity) -> Catalog:
            return cache_catalog(seen[identity.user], engine.caches, mount=number, user=identity.fingerprint)

        engine.registry.mount(Mount("cat", "guarded", "attach", "", open, pass_token=True))
        users = {user: engine.session(Identity(user, token=f"token of {user}")) for user in seen}
        users["zoltan"].run("ATTACH ':memory:' AS zoltan_own (TYPE sqlite, VERIFY false)").read_all()
        yield users


@pytest.mark.parametrize("table", TABLES)
def test_no_name_of_the_other(sessions: Any, table: str) -> None:
    for _ in range(2):
        for user, other in (("zoltan", "quentin"), ("quentin", "zoltan")):
            told = str(rows(sessions[user], f"SELECT * FROM {table}"))
            assert other not in told
            assert f"denied_{other}" not in told
            assert rows(sessions[user], "SELECT * FROM system.metadata.errors WHERE catalog_name = 'cat'") == []


def test_each_sees_their_own(sessions: Any) -> None:
    for user in ("zoltan", "quentin"):
        query = "SELECT DISTINCT table_name FROM cat.information_schema.columns WHERE table_schema <> $1 ORDER BY 1"
        own = rows(sessions[user], query, [INFORMATION_SCHEMA])
        assert own == [("both",), (f"t_{user}",), (f"v_{user}",)]
