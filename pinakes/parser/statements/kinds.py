"""The union of all statement kinds. Importing it loads every family, so import it under TYPE_CHECKING for
annotations.
"""

from __future__ import annotations

from pinakes.parser.statements.alter import AlterTable, TableExecute
from pinakes.parser.statements.changes import CopyFrom, CopyTo, Delete, Insert, Merge, Truncate, Update
from pinakes.parser.statements.definitions import (
    AlterNamespace,
    AlterView,
    Analyze,
    CommentOn,
    CreateFunction,
    CreateNamespace,
    CreateTable,
    CreateTableAs,
    CreateView,
    DropFunction,
    DropNamespace,
    DropTable,
    DropView,
    RenameTable,
)
from pinakes.parser.statements.mounts import Attach, CreateCatalog, CreateSecret, Detach, DropCatalog, DropSecret
from pinakes.parser.statements.queries import Explain, ExplainFull, Pivot, Query, Summarize
from pinakes.parser.statements.rights import Grant, Revoke
from pinakes.parser.statements.session import (
    Begin,
    Call,
    Commit,
    Deallocate,
    Execute,
    Kill,
    Prepare,
    ResetOption,
    Rollback,
    SetOption,
    Use,
)
from pinakes.parser.statements.shows import (
    Describe,
    Search,
    ShowCaches,
    ShowCatalogs,
    ShowColumns,
    ShowCreate,
    ShowCurrent,
    ShowFunctions,
    ShowNamespaces,
    ShowSecrets,
    ShowSession,
    ShowStats,
    ShowTables,
    ShowViews,
)

AnyStatement = (
    Query
    | Pivot
    | Explain
    | ExplainFull
    | Summarize
    | ShowCatalogs
    | ShowNamespaces
    | ShowTables
    | ShowViews
    | ShowColumns
    | ShowFunctions
    | ShowCreate
    | ShowSecrets
    | ShowCaches
    | ShowSession
    | ShowStats
    | ShowCurrent
    | Describe
    | Search
    | Use
    | SetOption
    | ResetOption
    | Begin
    | Commit
    | Rollback
    | Prepare
    | Execute
    | Deallocate
    | Kill
    | Call
    | Attach
    | Detach
    | CreateCatalog
    | DropCatalog
    | CreateSecret
    | DropSecret
    | CreateNamespace
    | DropNamespace
    | AlterNamespace
    | CreateTable
    | CreateTableAs
    | CreateView
    | AlterView
    | DropTable
    | DropView
    | CreateFunction
    | DropFunction
    | RenameTable
    | AlterTable
    | TableExecute
    | CommentOn
    | Analyze
    | Insert
    | Update
    | Delete
    | Merge
    | Truncate
    | CopyTo
    | CopyFrom
    | Grant
    | Revoke
)
"""The closed set of kinds: mypy reports a `match` over it that misses one."""
