"""Which statement kind goes to which handler: one visible line each.

mypy names the kind that has no line here (`assert_never`). Handlers are imported when they are first needed, so that
`select 1` does not pay for what only CREATE TABLE uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from pinakes.parser import statements as s

if TYPE_CHECKING:
    from pinakes.engine.result import Result
    from pinakes.engine.statement_context import Execution


def dispatch(statement: s.AnyStatement, execution: Execution) -> Result:
    """Carry out one statement, if who asks may."""
    execution.session.guard.statement(statement)
    match statement:
        case s.Query():
            from pinakes.engine.commands.query import query

            return query(statement, execution)
        case s.Explain():
            from pinakes.engine.commands.explain import explain

            return explain(statement, execution)
        case s.ExplainFull():
            from pinakes.engine.commands.explain_full import explain_full

            return explain_full(statement, execution)
        case s.Describe():
            from pinakes.engine.commands.describe import describe

            return describe(statement, execution)
        case s.Summarize():
            from pinakes.engine.commands.summarize import summarize

            return summarize(statement, execution)
        case s.Search():
            from pinakes.engine.commands.search import search

            return search(statement, execution)
        case s.ShowCatalogs():
            from pinakes.engine.commands.show_catalogs import show_catalogs

            return show_catalogs(statement, execution)
        case s.ShowNamespaces():
            from pinakes.engine.commands.show_namespaces import show_namespaces

            return show_namespaces(statement, execution)
        case s.ShowTables():
            from pinakes.engine.commands.show_tables import show_tables

            return show_tables(statement, execution)
        case s.ShowViews():
            from pinakes.engine.commands.show_views import show_views

            return show_views(statement, execution)
        case s.ShowColumns():
            from pinakes.engine.commands.show_columns import show_columns

            return show_columns(statement, execution)
        case s.ShowFunctions():
            from pinakes.engine.commands.show_functions import show_functions

            return show_functions(statement, execution)
        case s.ShowStats():
            from pinakes.engine.commands.show_stats import show_stats

            return show_stats(statement, execution)
        case s.ShowCaches():
            from pinakes.engine.commands.show_caches import show_caches

            return show_caches(statement, execution)
        case s.ShowCreate():
            from pinakes.engine.commands.show_create import show_create

            return show_create(statement, execution)
        case s.ShowSession():
            from pinakes.engine.commands.show_session import show_session

            return show_session(statement, execution)
        case s.ShowCurrent():
            from pinakes.engine.commands.show_current import show_current

            return show_current(statement, execution)
        case s.Use():
            from pinakes.engine.commands.use import use

            return use(statement, execution)
        case s.SetOption():
            from pinakes.engine.commands.set_option import set_option

            return set_option(statement, execution)
        case s.ResetOption():
            from pinakes.engine.commands.reset_option import reset_option

            return reset_option(statement, execution)
        case s.Prepare():
            from pinakes.engine.commands.prepare import prepare

            return prepare(statement, execution)
        case s.Execute():
            from pinakes.engine.commands.execute import execute

            return execute(statement, execution)
        case s.Deallocate():
            from pinakes.engine.commands.deallocate import deallocate

            return deallocate(statement, execution)
        case s.Kill():
            from pinakes.engine.commands.kill import kill

            return kill(statement, execution)
        case s.Attach():
            from pinakes.engine.commands.attach import attach

            return attach(statement, execution)
        case s.Detach():
            from pinakes.engine.commands.detach import detach

            return detach(statement, execution)
        case s.CreateCatalog():
            from pinakes.engine.commands.create_catalog import create_catalog

            return create_catalog(statement, execution)
        case s.DropCatalog():
            from pinakes.engine.commands.drop_catalog import drop_catalog

            return drop_catalog(statement, execution)
        case s.CreateSecret():
            from pinakes.engine.commands.create_secret import create_secret

            return create_secret(statement, execution)
        case s.DropSecret():
            from pinakes.engine.commands.drop_secret import drop_secret

            return drop_secret(statement, execution)
        case s.ShowSecrets():
            from pinakes.engine.commands.show_secrets import show_secrets

            return show_secrets(statement, execution)
        case s.CreateNamespace():
            from pinakes.engine.commands.create_namespace import create_namespace

            return create_namespace(statement, execution)
        case s.DropNamespace():
            from pinakes.engine.commands.drop_namespace import drop_namespace

            return drop_namespace(statement, execution)
        case s.AlterNamespace():
            from pinakes.engine.commands.alter_namespace import alter_namespace

            return alter_namespace(statement, execution)
        case s.CreateTable():
            from pinakes.engine.commands.create_table import create_table

            return create_table(statement, execution)
        case s.CreateTableAs():
            from pinakes.engine.commands.create_table_as import create_table_as

            return create_table_as(statement, execution)
        case s.CreateView():
            from pinakes.engine.commands.create_view import create_view

            return create_view(statement, execution)
        case s.AlterView():
            from pinakes.engine.commands.alter_view import alter_view

            return alter_view(statement, execution)
        case s.DropTable():
            from pinakes.engine.commands.drop_table import drop_table

            return drop_table(statement, execution)
        case s.DropView():
            from pinakes.engine.commands.drop_view import drop_view

            return drop_view(statement, execution)
        case s.RenameTable():
            from pinakes.engine.commands.rename_table import rename_table

            return rename_table(statement, execution)
        case s.AlterTable():
            from pinakes.engine.commands.alter_table import alter_table

            return alter_table(statement, execution)
        case s.TableExecute():
            from pinakes.engine.commands.table_execute import table_execute

            return table_execute(statement, execution)
        case s.CommentOn():
            from pinakes.engine.commands.comment_on import comment_on

            return comment_on(statement, execution)
        case s.Insert():
            from pinakes.engine.commands.insert import insert

            return insert(statement, execution)
        case s.Update():
            from pinakes.engine.commands.update import update

            return update(statement, execution)
        case s.Delete():
            from pinakes.engine.commands.delete import delete

            return delete(statement, execution)
        case s.Merge():
            from pinakes.engine.commands.merge import merge

            return merge(statement, execution)
        case s.Truncate():
            from pinakes.engine.commands.truncate import truncate

            return truncate(statement, execution)
        case s.CopyFrom():
            from pinakes.engine.commands.copy_from import copy_from

            return copy_from(statement, execution)
        case s.CopyTo():
            from pinakes.engine.commands.copy_to import copy_to

            return copy_to(statement, execution)
        case s.Begin():
            from pinakes.engine.commands.begin import begin

            return begin(statement, execution)
        case s.Commit():
            from pinakes.engine.commands.commit import commit

            return commit(statement, execution)
        case s.Rollback():
            from pinakes.engine.commands.rollback import rollback

            return rollback(statement, execution)
        case s.Call():
            from pinakes.engine.commands.call import call

            return call(statement, execution)
        case s.Analyze():
            from pinakes.engine.commands.analyze import analyze

            return analyze(statement, execution)
        case s.Grant() | s.Revoke():
            from pinakes.engine.commands.refusals import refuse

            raise refuse(statement)
        case _:
            assert_never(statement)
