"""CREATE CATALOG name USING type WITH (LOCATION '…', …): ATTACH in another dialect."""

from __future__ import annotations

from pinakes.engine.commands.attach import given, mount
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateCatalog


def create_catalog(statement: CreateCatalog, execution: Execution) -> Result:
    options = given(statement.options)
    mount(
        execution,
        statement.name.exact,
        str(options.pop("LOCATION", "")),
        options,
        if_not_exists=statement.if_not_exists,
        or_replace=statement.or_replace,
    )
    return Result.done("CREATE CATALOG")
