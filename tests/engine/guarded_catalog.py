"""A catalog whose tables not everybody may see: `hidden` is there for the token GOLD alone, and for nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import TableNotFound
from pinakes.core.names import Namespace
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.parser.statements import OptionValue
from pinakes.providers.sql_catalog.adapter import PinnedStoreCatalog
from pinakes.providers.sqlite import SqliteCatalog

GOLD, TIN = "gold", "tin"
HIDDEN = "hidden"


class GuardedCatalog(SqliteCatalog):
    """An ordinary one of type sqlite; the token is the session's own (PASS_TOKEN) or that of its secret."""

    PASSES_TOKEN: ClassVar[bool] = True
    sees_all = False

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> GuardedCatalog:
        opened = super().open(alias, location, options, ANONYMOUS)
        assert isinstance(opened, GuardedCatalog)
        token = access.token or (access.secret["TOKEN"] if access.secret is not None else "")
        opened.sees_all = token == GOLD
        return opened

    def pin(self) -> PinnedStoreCatalog:
        """Within a transaction, too, the token counts."""
        found = super().pin()
        assert isinstance(found, GuardedCatalog)
        found.sees_all = self.sees_all
        return found

    def list_tables(self, namespace: Namespace) -> list[str]:
        return [name for name in super().list_tables(namespace) if self.sees_all or name != HIDDEN]

    def load_table(self, namespace: Namespace, name: str) -> IcebergTable:
        if name == HIDDEN and not self.sees_all:
            raise TableNotFound(f"table {name} does not exist")
        return super().load_table(namespace, name)
