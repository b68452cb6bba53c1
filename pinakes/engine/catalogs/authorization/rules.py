"""The privileges that each kind of statement needs, one line each. A kind without a line is refused, and a test reports
it.

`anybody` is not unlimited: the tables that a statement reads pass `Guard.relation`, its paths `Guard.files`, and each
catalog decides about changes in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinakes.engine.catalogs.authorization.guard import Guard

Rule = Callable[[Any, "Guard"], None]


def anybody(statement: Any, guard: Guard) -> None:
    """Nothing but what the tables, paths and catalogs in it need."""


def _attach(statement: Any, guard: Guard) -> None:
    """Who may mount what is decided with its type and options at hand: `Guard.mount`."""
    guard.require("attach", "attaching catalogs")


def _setting(statement: Any, guard: Guard) -> None:
    if statement.scope == "GLOBAL":
        guard.require("global_settings", "changing settings of everybody")


def _secret(statement: Any, guard: Guard) -> None:
    """One that stands for the credentials of the server itself."""
    options = {option.key: str(option.value).lower() for option in statement.options}
    if "PROFILE" in options or options.get("PROVIDER") == "credential_chain":
        guard.require("server_credentials", "a secret with the credentials of the server itself")


def _table(statement: Any, guard: Guard) -> None:
    """A location of its own is checked where the table is made: temporary tables have none."""
    guard.properties(statement.properties)


def _alter_table(statement: Any, guard: Guard) -> None:
    for action in statement.actions:
        guard.properties(getattr(action, "properties", ()))


def _namespace(statement: Any, guard: Guard) -> None:
    """A view, too."""
    guard.properties(getattr(statement, "properties", ()) or getattr(statement, "updates", ()))


def _file(statement: Any, guard: Guard) -> None:
    """Before a row is computed."""
    _check_path(statement.path, guard)


def _check_path(path: str, guard: Guard) -> None:
    if "://" in path and not path.lower().startswith("file:"):
        return  # object stores are reached with the user's own secrets, or not at all
    from pinakes.engine.files.paths import local_text  # not loaded for a query, which has its paths checked as it reads

    guard.files.local(local_text(path))


def _call(statement: Any, guard: Guard) -> None:
    """Procedures of tables change what a catalog lets this user change; those of the engine have a line each."""
    parts = statement.procedure.parts
    if len(parts) == 3 and parts[0].matches("system") and parts[1].matches("runtime"):
        guard.procedure(parts[2].exact)


RULES: dict[str, Rule] = {
    # queries, and statements about them
    "Query": anybody,
    "Pivot": anybody,
    "Explain": anybody,
    "ExplainFull": anybody,
    "Describe": anybody,
    "Summarize": anybody,
    "Search": anybody,
    # listings: each catalog returns what the user may see
    "ShowCatalogs": anybody,
    "ShowNamespaces": anybody,
    "ShowTables": anybody,
    "ShowViews": anybody,
    "ShowColumns": anybody,
    "ShowFunctions": anybody,
    "ShowStats": anybody,
    "ShowCreate": anybody,
    "ShowCaches": anybody,
    "ShowSecrets": anybody,
    "ShowSession": anybody,
    "ShowCurrent": anybody,
    # the session's own
    "Use": anybody,
    "SetOption": _setting,
    "ResetOption": _setting,
    "Prepare": anybody,
    "Execute": anybody,
    "Deallocate": anybody,
    "Begin": anybody,
    "Commit": anybody,
    "Rollback": anybody,
    "Kill": anybody,  # one's own; `Guard.may_stop`
    # catalogs and secrets
    "Attach": _attach,
    "CreateCatalog": _attach,
    "Detach": anybody,  # one's own; `engine/commands/catalogs.py`
    "DropCatalog": anybody,
    "CreateSecret": _secret,
    "DropSecret": anybody,
    # definitions
    "CreateNamespace": _namespace,
    "AlterNamespace": _namespace,
    "DropNamespace": anybody,
    "CreateTable": _table,
    "CreateTableAs": _table,
    "AlterTable": _alter_table,
    "TableExecute": anybody,
    "RenameTable": anybody,
    "DropTable": anybody,
    "CreateView": _namespace,
    "AlterView": _namespace,
    "DropView": anybody,
    "CreateFunction": anybody,
    "DropFunction": anybody,
    "CommentOn": anybody,
    # changes
    "Insert": anybody,
    "Update": anybody,
    "Delete": anybody,
    "Merge": anybody,
    "Truncate": anybody,
    "CopyFrom": _file,
    "CopyTo": _file,
    "Analyze": anybody,
    "Call": _call,
    # parsed, and not supported (`engine/commands/registry.py`)
    "Grant": anybody,
    "Revoke": anybody,
}

TABLE_FUNCTIONS: dict[str, str] = {
    "read_parquet": "paths",
    "parquet_scan": "paths",
    "read_csv": "paths",
    "read_csv_auto": "paths",
    "read_json": "paths",
    "read_json_auto": "paths",
    "read_ndjson": "paths",
    "read_ndjson_auto": "paths",
    "read_arrow": "paths",
    "read_ipc": "paths",
    "read_feather": "paths",
    "read_avro": "paths",
    "read_orc": "paths",
    "read_xlsx": "paths",
    "read_excel": "paths",
    "search": "anybody",
    "generate_series": "anybody",
    "range": "anybody",
}
"""The same for functions that give rows: `paths` are read as far as `Guard.files` lets them."""

PROCEDURES: dict[str, tuple[str, str] | None] = {
    "kill_query": None,  # one's own; `Guard.may_stop`
    "flush_cache": ("global_settings", "flushing caches, whose entries are everybody's,"),
}
"""The same for procedures of the engine, `CALL system.runtime.x`: the power that one needs, and how a refusal names it;
None is anybody."""
