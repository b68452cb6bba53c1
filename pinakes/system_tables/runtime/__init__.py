"""system.runtime: what the engine does now and did lately. A user sees what is theirs, an administrator all of it."""

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
