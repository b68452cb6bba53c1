"""The handler of each statement kind, as module and function; and the kinds that are parsed but not supported.

A family is imported when one of its statements first runs, so that `SELECT 1` loads `queries.py` only. For the same
reason kinds are given by name. tests/test_house.py checks that every kind has an entry and that each entry exists.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import NotSupportedError

if TYPE_CHECKING:
    from pinakes.engine.result import Result
    from pinakes.engine.statement_context import Execution

Handler = Callable[[Any, "Execution"], "Result"]
"""Runs a statement of its kind. The handler's docstring is the statement's documented form."""

HANDLERS = {
    "Query": "queries:query",
    "Pivot": "queries:pivot",
    "Prepare": "queries:prepare",
    "Execute": "queries:execute",
    "Deallocate": "queries:deallocate",
    "Kill": "queries:kill",
    "Explain": "explain:explain",
    "ExplainFull": "explain:explain_full",
    "Summarize": "summarize:summarize",
    "ShowTables": "show:show_tables",
    "ShowViews": "show:show_views",
    "ShowColumns": "show:show_columns",
    "Describe": "show:describe",
    "ShowCreate": "show:show_create",
    "ShowFunctions": "show_system:show_functions",
    "ShowStats": "show_system:show_stats",
    "ShowCaches": "show_system:show_caches",
    "Search": "show_system:search",
    "Attach": "catalogs:attach",
    "Detach": "catalogs:detach",
    "CreateCatalog": "catalogs:create_catalog",
    "DropCatalog": "catalogs:drop_catalog",
    "ShowCatalogs": "catalogs:show_catalogs",
    "CreateNamespace": "namespaces:create_namespace",
    "AlterNamespace": "namespaces:alter_namespace",
    "DropNamespace": "namespaces:drop_namespace",
    "ShowNamespaces": "namespaces:show_namespaces",
    "Use": "namespaces:use",
    "ShowCurrent": "namespaces:show_current",
    "CreateTable": "tables:create_table",
    "CreateTableAs": "tables:create_table_as",
    "DropTable": "tables:drop_table",
    "AlterTable": "alter_table:alter_table",
    "RenameTable": "alter_table:rename_table",
    "CommentOn": "alter_table:comment_on",
    "CreateView": "views:create_view",
    "AlterView": "views:alter_view",
    "DropView": "views:drop_view",
    "CreateFunction": "functions:create_function",
    "DropFunction": "functions:drop_function",
    "Insert": "changes:insert",
    "Update": "changes:update",
    "Delete": "changes:delete",
    "Merge": "changes:merge",
    "Truncate": "changes:truncate",
    "CopyFrom": "copy:copy_from",
    "CopyTo": "copy:copy_to",
    "SetOption": "settings:set_option",
    "ResetOption": "settings:reset_option",
    "ShowSession": "settings:show_session",
    "CreateSecret": "secrets:create_secret",
    "DropSecret": "secrets:drop_secret",
    "ShowSecrets": "secrets:show_secrets",
    "Begin": "transactions:begin",
    "Commit": "transactions:commit",
    "Rollback": "transactions:rollback",
    "Call": "maintenance:call",
    "TableExecute": "maintenance:table_execute",
    "Analyze": "maintenance:analyze",
}

REMOTE = frozenset({"Query", "Insert", "Update", "Delete", "Merge", "CreateTableAs", "Call", "TableExecute", "Analyze"})
"""The kinds that a remote engine can run (`select_engine.py`)."""

UNSUPPORTED = {
    "Grant": "GRANT is not supported: rights are those of the catalog",
    "Revoke": "REVOKE is not supported: rights are those of the catalog",
}
"""The kinds without a handler, with the error message of each."""


@cache
def handler_of(kind: str) -> Handler:
    """Returns the function that runs statements of this kind, and imports its family if need be."""
    if kind in UNSUPPORTED:
        raise NotSupportedError(UNSUPPORTED[kind])
    module, _, function = HANDLERS[kind].partition(":")
    handler: Handler = getattr(import_module(f"{__package__}.{module}"), function)
    return handler
