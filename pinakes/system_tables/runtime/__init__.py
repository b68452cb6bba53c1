"""system.runtime: statements, sessions, caches and settings of this engine. A user sees their own, an administrator
all; state of catalogs belongs to `system_tables/metadata`.
"""

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
