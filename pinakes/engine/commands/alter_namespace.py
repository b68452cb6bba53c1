"""ALTER SCHEMA name SET PROPERTIES (…) | UNSET PROPERTIES (…)"""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.engine.binding.capabilities import namespace_changes
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import AlterNamespace


def alter_namespace(statement: AlterNamespace, execution: Execution) -> Result:
    place = execution.resolver.namespace(statement.name)
    if statement.rename_to is not None:
        raise NotSupportedError("a namespace cannot be renamed: make a new one and ALTER TABLE … RENAME TO its tables")
    catalog = namespace_changes(place.mount)
    catalog.alter_namespace(place.namespace, dict(statement.updates), statement.removals)
    return Result.done("ALTER SCHEMA")
