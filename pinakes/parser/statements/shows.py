"""SHOW, DESCRIBE and SEARCH."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pinakes.core.names import Name
from pinakes.parser.statements.base import Planned, Span, Statement, TableRef


@dataclass(frozen=True, slots=True)
class Like:
    """LIKE 'pattern': SQL's % and _ and Spark's * and | are both understood; `matches` ignores case."""

    pattern: str

    def matches(self, name: str) -> bool:
        from pinakes.parser.patterns import like

        return like(self.pattern, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCatalogs(Statement):
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNamespaces(Statement):
    """SHOW NAMESPACES | SCHEMAS | DATABASES [FROM|IN name] [LIKE p]"""

    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTables(Statement):
    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowViews(Statement):
    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowColumns(Statement):
    table: Name
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowFunctions(Statement):
    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCreate(Statement):
    """SHOW CREATE TABLE | VIEW | SCHEMA | CATALOG name"""

    what: Literal["TABLE", "VIEW", "FUNCTION", "SCHEMA", "CATALOG"]
    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSecrets(Statement):
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCaches(Statement):
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSession(Statement):
    """SHOW SESSION [LIKE p], SHOW ALL, SHOW SETTINGS, SHOW setting_name (`setting`)"""

    setting: str | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowStats(Statement):
    """SHOW STATS FOR table"""

    table: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCurrent(Statement):
    """SHOW CURRENT NAMESPACE | SCHEMA | DATABASE | CATALOG"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Planned):
    """DESCRIBE | DESC [TABLE | VIEW] [EXTENDED] name, DESCRIBE NAMESPACE|SCHEMA|DATABASE name, DESCRIBE query, or
    DESCRIBE read_csv(…), which is `table`"""

    what: Literal["TABLE", "NAMESPACE", "QUERY", "FILES"] = "TABLE"
    name: Name | None = None
    table: TableRef | None = None
    body: Span | None = None
    extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Statement):
    """SEARCH 'words' [IN cat]"""

    words: str
    within: Name | None = None
