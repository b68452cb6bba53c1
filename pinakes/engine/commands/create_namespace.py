"""CREATE SCHEMA [IF NOT EXISTS] name [WITH (…)]"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, NamespaceExists
from pinakes.core.names import INFORMATION_SCHEMA
from pinakes.engine.binding.capabilities import namespace_changes
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateNamespace


def create_namespace(statement: CreateNamespace, execution: Execution) -> Result:
    place = execution.resolver.new_namespace(statement.name)
    if place.namespace[-1].lower() == INFORMATION_SCHEMA:
        raise InvalidArgument(f"namespace name '{INFORMATION_SCHEMA}' is reserved; choose another")
    catalog = namespace_changes(place.mount)
    try:
        catalog.create_namespace(place.namespace, dict(statement.properties))
    except NamespaceExists:
        if not statement.if_not_exists:
            raise
    return Result.done("CREATE SCHEMA")
