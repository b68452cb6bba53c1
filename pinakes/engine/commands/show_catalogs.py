"""SHOW CATALOGS [LIKE p]: everything that is mounted, whether it answers or not; as system.metadata.catalogs."""

from __future__ import annotations

from pinakes.engine.commands.listings import one_column
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowCatalogs


def show_catalogs(statement: ShowCatalogs, execution: Execution) -> Result:
    names = [mount.name for mount in execution.session.catalogs.seen()]
    return one_column("Catalog", names, statement.like)
