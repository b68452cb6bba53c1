"""One frozen dataclass per statement kind. `classify` makes them, `engine/dispatch.py` runs each.

Every statement keeps the user's text. Positions in it are `Span`s of character offsets (end exclusive), so that the
engine can splice names, parameters and fragments without generating the text of a query.

Making a dataclass takes half a millisecond, and there are ninety: a family is loaded on first access to one of its
names, so that `select 1` loads `base` and `queries` only. A new kind needs a line in the table and in the imports
below; a test compares the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.parser.statements.alter import AddCheck as AddCheck
    from pinakes.parser.statements.alter import AddColumn as AddColumn
    from pinakes.parser.statements.alter import AddPartitionField as AddPartitionField
    from pinakes.parser.statements.alter import AlterAction as AlterAction
    from pinakes.parser.statements.alter import AlterTable as AlterTable
    from pinakes.parser.statements.alter import CommentColumn as CommentColumn
    from pinakes.parser.statements.alter import CreateRef as CreateRef
    from pinakes.parser.statements.alter import DropColumn as DropColumn
    from pinakes.parser.statements.alter import DropConstraint as DropConstraint
    from pinakes.parser.statements.alter import DropDefault as DropDefault
    from pinakes.parser.statements.alter import DropNotNull as DropNotNull
    from pinakes.parser.statements.alter import DropPartitionField as DropPartitionField
    from pinakes.parser.statements.alter import DropRef as DropRef
    from pinakes.parser.statements.alter import MoveColumn as MoveColumn
    from pinakes.parser.statements.alter import RenameColumn as RenameColumn
    from pinakes.parser.statements.alter import SetColumnType as SetColumnType
    from pinakes.parser.statements.alter import SetDefault as SetDefault
    from pinakes.parser.statements.alter import SetNotNull as SetNotNull
    from pinakes.parser.statements.alter import SetProperties as SetProperties
    from pinakes.parser.statements.alter import SetSortOrder as SetSortOrder
    from pinakes.parser.statements.alter import TableExecute as TableExecute
    from pinakes.parser.statements.alter import UnsetProperties as UnsetProperties
    from pinakes.parser.statements.base import AsOf as AsOf
    from pinakes.parser.statements.base import Bound as Bound
    from pinakes.parser.statements.base import CatalogCall as CatalogCall
    from pinakes.parser.statements.base import ColumnRef as ColumnRef
    from pinakes.parser.statements.base import Definition as Definition
    from pinakes.parser.statements.base import FileArgument as FileArgument
    from pinakes.parser.statements.base import FileCall as FileCall
    from pinakes.parser.statements.base import FunctionRef as FunctionRef
    from pinakes.parser.statements.base import OptionValue as OptionValue
    from pinakes.parser.statements.base import Origin as Origin
    from pinakes.parser.statements.base import Path as Path
    from pinakes.parser.statements.base import Placeholder as Placeholder
    from pinakes.parser.statements.base import Planned as Planned
    from pinakes.parser.statements.base import Projection as Projection
    from pinakes.parser.statements.base import Properties as Properties
    from pinakes.parser.statements.base import References as References
    from pinakes.parser.statements.base import Repair as Repair
    from pinakes.parser.statements.base import SearchCall as SearchCall
    from pinakes.parser.statements.base import SessionValue as SessionValue
    from pinakes.parser.statements.base import SharedStar as SharedStar
    from pinakes.parser.statements.base import Span as Span
    from pinakes.parser.statements.base import Statement as Statement
    from pinakes.parser.statements.base import TableCall as TableCall
    from pinakes.parser.statements.base import TableRef as TableRef
    from pinakes.parser.statements.changes import Assignment as Assignment
    from pinakes.parser.statements.changes import Conflict as Conflict
    from pinakes.parser.statements.changes import CopyFrom as CopyFrom
    from pinakes.parser.statements.changes import CopyOption as CopyOption
    from pinakes.parser.statements.changes import CopyTo as CopyTo
    from pinakes.parser.statements.changes import Delete as Delete
    from pinakes.parser.statements.changes import Insert as Insert
    from pinakes.parser.statements.changes import Merge as Merge
    from pinakes.parser.statements.changes import MergeClause as MergeClause
    from pinakes.parser.statements.changes import PartitionColumn as PartitionColumn
    from pinakes.parser.statements.changes import Returning as Returning
    from pinakes.parser.statements.changes import Truncate as Truncate
    from pinakes.parser.statements.changes import Update as Update
    from pinakes.parser.statements.definitions import AlterNamespace as AlterNamespace
    from pinakes.parser.statements.definitions import AlterView as AlterView
    from pinakes.parser.statements.definitions import Analyze as Analyze
    from pinakes.parser.statements.definitions import Check as Check
    from pinakes.parser.statements.definitions import ColumnDef as ColumnDef
    from pinakes.parser.statements.definitions import CommentOn as CommentOn
    from pinakes.parser.statements.definitions import CreateFunction as CreateFunction
    from pinakes.parser.statements.definitions import CreateNamespace as CreateNamespace
    from pinakes.parser.statements.definitions import CreateTable as CreateTable
    from pinakes.parser.statements.definitions import CreateTableAs as CreateTableAs
    from pinakes.parser.statements.definitions import CreateView as CreateView
    from pinakes.parser.statements.definitions import DropFunction as DropFunction
    from pinakes.parser.statements.definitions import DropNamespace as DropNamespace
    from pinakes.parser.statements.definitions import DropTable as DropTable
    from pinakes.parser.statements.definitions import DropView as DropView
    from pinakes.parser.statements.definitions import FunctionForm as FunctionForm
    from pinakes.parser.statements.definitions import FunctionParameter as FunctionParameter
    from pinakes.parser.statements.definitions import PartitionTerm as PartitionTerm
    from pinakes.parser.statements.definitions import RenameTable as RenameTable
    from pinakes.parser.statements.definitions import SortTerm as SortTerm
    from pinakes.parser.statements.kinds import AnyStatement as AnyStatement
    from pinakes.parser.statements.mounts import Attach as Attach
    from pinakes.parser.statements.mounts import CreateCatalog as CreateCatalog
    from pinakes.parser.statements.mounts import CreateSecret as CreateSecret
    from pinakes.parser.statements.mounts import Detach as Detach
    from pinakes.parser.statements.mounts import DropCatalog as DropCatalog
    from pinakes.parser.statements.mounts import DropSecret as DropSecret
    from pinakes.parser.statements.mounts import Option as Option
    from pinakes.parser.statements.queries import Explain as Explain
    from pinakes.parser.statements.queries import ExplainFull as ExplainFull
    from pinakes.parser.statements.queries import Pivot as Pivot
    from pinakes.parser.statements.queries import Query as Query
    from pinakes.parser.statements.queries import Summarize as Summarize
    from pinakes.parser.statements.rights import Grant as Grant
    from pinakes.parser.statements.rights import Revoke as Revoke
    from pinakes.parser.statements.session import Argument as Argument
    from pinakes.parser.statements.session import Begin as Begin
    from pinakes.parser.statements.session import Call as Call
    from pinakes.parser.statements.session import Commit as Commit
    from pinakes.parser.statements.session import Deallocate as Deallocate
    from pinakes.parser.statements.session import Execute as Execute
    from pinakes.parser.statements.session import Kill as Kill
    from pinakes.parser.statements.session import Prepare as Prepare
    from pinakes.parser.statements.session import ResetOption as ResetOption
    from pinakes.parser.statements.session import Rollback as Rollback
    from pinakes.parser.statements.session import SetOption as SetOption
    from pinakes.parser.statements.session import Use as Use
    from pinakes.parser.statements.shows import Describe as Describe
    from pinakes.parser.statements.shows import Like as Like
    from pinakes.parser.statements.shows import Search as Search
    from pinakes.parser.statements.shows import ShowCaches as ShowCaches
    from pinakes.parser.statements.shows import ShowCatalogs as ShowCatalogs
    from pinakes.parser.statements.shows import ShowColumns as ShowColumns
    from pinakes.parser.statements.shows import ShowCreate as ShowCreate
    from pinakes.parser.statements.shows import ShowCurrent as ShowCurrent
    from pinakes.parser.statements.shows import ShowFunctions as ShowFunctions
    from pinakes.parser.statements.shows import ShowNamespaces as ShowNamespaces
    from pinakes.parser.statements.shows import ShowSecrets as ShowSecrets
    from pinakes.parser.statements.shows import ShowSession as ShowSession
    from pinakes.parser.statements.shows import ShowStats as ShowStats
    from pinakes.parser.statements.shows import ShowTables as ShowTables
    from pinakes.parser.statements.shows import ShowViews as ShowViews

FAMILIES = {
    "base": (
        "Span AsOf Bound Definition FileArgument FileCall SearchCall CatalogCall TableCall TableRef ColumnRef "
        "SharedStar References FunctionRef Placeholder SessionValue Projection Repair Statement Planned OptionValue "
        "Properties Path Origin"
    ),
    "queries": "Query Pivot Explain ExplainFull Summarize",
    "shows": (
        "Like ShowCatalogs ShowNamespaces ShowTables ShowViews ShowColumns ShowFunctions ShowCreate "
        "ShowSecrets ShowCaches ShowSession ShowStats ShowCurrent Describe Search"
    ),
    "session": "Use SetOption ResetOption Begin Commit Rollback Prepare Execute Deallocate Kill Argument Call",
    "mounts": "Option Attach Detach CreateCatalog DropCatalog CreateSecret DropSecret",
    "definitions": (
        "CreateNamespace DropNamespace AlterNamespace Check ColumnDef PartitionTerm SortTerm CreateTable "
        "CreateTableAs CreateView AlterView DropTable DropView RenameTable CommentOn Analyze "
        "FunctionParameter FunctionForm CreateFunction DropFunction"
    ),
    "alter": (
        "AddColumn DropColumn RenameColumn SetColumnType SetNotNull DropNotNull SetDefault DropDefault "
        "CommentColumn MoveColumn SetProperties UnsetProperties AddPartitionField DropPartitionField "
        "CreateRef DropRef AddCheck DropConstraint "
        "SetSortOrder AlterAction AlterTable TableExecute"
    ),
    "changes": (
        "Assignment PartitionColumn Returning Conflict Insert Update Delete MergeClause Merge Truncate CopyOption "
        "CopyTo CopyFrom"
    ),
    "rights": "Grant Revoke",
    "kinds": "AnyStatement",
}
"""Each module and the names that it defines."""

_MODULES = {name: module for module, names in FAMILIES.items() for name in names.split()}

__all__ = [*_MODULES]

if not TYPE_CHECKING:  # mypy knows the names from above, and would take any other for one

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
