"""system.runtime: the current and recent state of the engine. A user sees their own rows, an administrator all rows."""

TABLES: tuple[str, ...] = (
    "caches",
    "nodes",
    "pools",
    "queries",
    "secrets",
    "sessions",
    "settings",
    "tasks",
    "transactions",
)
