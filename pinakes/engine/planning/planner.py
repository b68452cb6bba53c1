"""Plans statements: resolves names, splices the text, and leaves the rest to DataFusion.

One planner serves one statement. It loads each table once, so a query reads one snapshot of each. A view is planned by
its own planner, within the view's default catalog and namespace.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from datafusion import DataFrame, SessionContext, col

from pinakes.core.catalog import IcebergTable, ViewDefinition
from pinakes.core.errors import (
    ColumnNotFound,
    InvalidArgument,
    NotFoundError,
    NotSupportedError,
    PinakesError,
    TableNotFound,
    listing,
)
from pinakes.core.names import Name, Part, dotted, quote, undotted
from pinakes.engine.binding.binder import Relations
from pinakes.engine.binding.namespaces import ResolvedTable, Scope
from pinakes.engine.binding.planned_text import covers, planned_placeholders, planned_text
from pinakes.engine.binding.relation import ROOT, Key, Relation
from pinakes.engine.binding.resolver import Resolver
from pinakes.engine.datafusion.catalog_bridge import CURRENT
from pinakes.engine.datafusion.error_rules import column_or_text, repeated_column
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_metrics import count_joins
from pinakes.engine.datafusion.plan_schema import schema_of, without_views
from pinakes.engine.datafusion.workarounds.correlated_subqueries import refuse_unread, refuse_unsound_subqueries
from pinakes.engine.datafusion.workarounds.join_filter_columns import may_go_astray
from pinakes.engine.iceberg.scan.widths import widest_row
from pinakes.engine.planning.optimize.improve import improved
from pinakes.engine.planning.plan import (
    FEWEST,
    MOST_OF_CONSTANTS,
    Bound,
    Locate,
    Plan,
    PlanFacts,
    plan_frame,
)
from pinakes.engine.planning.text_cache import TEXTS
from pinakes.parser import TRANSLATED, classify, classify_dialect
from pinakes.parser.expansion import READ_TWICE
from pinakes.parser.lexer import tokenize_what_fits
from pinakes.parser.projections import distinct_names
from pinakes.parser.splice import Edit, Spliced
from pinakes.parser.statements import Planned, Query, Span, TableRef
from pinakes.parser.typed import LATE

if TYPE_CHECKING:
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import AnyStatement
    from pinakes.parser.typed.nodes import Query as Tree
    from pinakes.parser.typed.rewrite import Rewritten
    from pinakes.parser.workarounds.writing import Written

MAX_VIEW_DEPTH = 64
MOST_STEPS = 5_000
"""Of the views that a statement reads: other users wait while DataFusion optimises a plan."""
_MOST_RENAMED = 8
"""Plans of a statement for columns of one name: each gives all of them other names but aliases beside a star."""
_UNTYPED = re.compile(r"""SELECT\s+(?:\d{1,9}|'[^']*')(?:\s+AS\s+"[^"]*")?\s*;?\s*""", re.IGNORECASE)
"""Texts in which no two types meet."""
LONG = 1_000
"""Characters of a constant from which it counts in the size of a batch."""
_LONG_TEXT = re.compile(rf"'[^']{{{LONG},}}+'")
"""A long constant, or the text between two short ones."""
_LATE_TEXT = re.compile(rf"\"(?:repeat|\$[lr]pad){re.escape(LATE)}\"\(")
"""A call that makes a long text of constants."""
_RECURSIVE = re.compile(r"\bRECURSIVE\b", re.IGNORECASE)
_SUBQUERY = re.compile(r"\(\s*(?:SELECT|WITH|FROM|TABLE)\b", re.IGNORECASE)

_SUBQUERY_OR_ROWS = re.compile(r"(?<!FROM )\(\s*(?:SELECT|WITH|FROM|TABLE|VALUES)\b", re.IGNORECASE)


class Planner:
    def __init__(
        self,
        execution: Execution,
        resolver: Resolver,
        *,
        within: tuple[ResolvedTable, ...] = (),
        memo: dict[Key, Relation] | None = None,
        nested: bool = False,
    ) -> None:
        self.execution = execution
        self._session = execution.session
        self._resolver = resolver
        self._within = within
        self._memo: dict[Key, Relation] = {} if memo is None else memo
        self.is_nested = nested
        """Another thread plans meanwhile, holds the session's lock, and waits for this."""
        self._resolved: dict[tuple[int, int], tuple[Planned, Key]] = {}
        self._ahead: dict[str, Plan] = {}
        self._all_resolved = True
        self._has_secrets = True
        self._missing: NotFoundError | None = None
        self._typed_texts: dict[str, Rewritten] = {}
        self._is_whole = False
        """Whether the text that is planned is that of a whole query, whose rows nothing repeats."""

    # --- text -----------------------------------------------------------------------------------------------------

    def rewrite(
        self,
        statement: Planned,
        span: Span | None = None,
        *,
        target: tuple[TableRef, Relation] | None = None,
        also: Sequence[Edit] = (),
    ) -> Spliced:
        """The statement's text, or a piece of it, as DataFusion is to read it."""
        if self._session.engine.admission is not None:
            from pinakes.parser.typed.references import references_of

            self._check_relations(references_of(statement.text))
        instead = [] if target is not None else improved(self, statement, span)
        return self.spliced(statement, span, target=target, also=also, instead=instead)

    def spliced(
        self,
        statement: Planned,
        span: Span | None = None,
        *,
        target: tuple[TableRef, Relation] | None = None,
        also: Sequence[Edit] = (),
        instead: Sequence[Edit] = (),
    ) -> Spliced:
        """The same, with other text `instead` of some pieces."""
        relations, steps = dict[int, Relation](), 0
        for index, ref in enumerate(statement.tables):
            if span is None or covers(span, ref.span):
                relations[index] = relation = self.relation_of(index, statement)
                steps += relation.steps
        if steps > MOST_STEPS:
            views = listing([".".join(r.path) for r in relations.values() if r.view is not None])
            raise NotSupportedError(
                f"this statement would have more than {MOST_STEPS:,} steps, since a view is planned wherever it is "
                f"read, with the views that it reads: {views}. Store one of them with CREATE TABLE … AS."
            )
        value = self._session.value
        if statement.functions:
            from pinakes.engine.workers.functions import function_edits

            also = [*also, *function_edits(self, self._resolver, statement, span)]
        return planned_text(statement, relations, value, span, target=target, also=also, instead=instead)

    def relation_of(self, index: int, statement: Planned) -> Relation:
        """That of a statement's table. Its name is resolved once, however many pieces of the text it stands in."""
        of, key = self._resolved.get((id(statement), index), (None, None))
        known = self._memo.get(key) if key is not None and of is statement else None
        if known is None:
            known = self.relations.of(statement.tables[index], statement)
            self._resolved[id(statement), index] = statement, known.key
        return known

    def aside(self, relation: Relation) -> Planner:
        """Another planner, for a question about one relation: what it plans is not the statement's own."""
        return Planner(self.execution, self._resolver, within=self._within, memo={relation.key: relation})

    @property
    def place(self) -> str:
        """Distinguishes the texts of a statement and of the views that it reads."""
        return "".join(f"{found}:" for found in self._within)

    @property
    def view(self) -> ResolvedTable | None:
        """The view whose text is planned; None for the statement itself."""
        return self._within[-1] if self._within else None

    @property
    def resolver(self) -> Resolver:
        """The meaning of names in the text that is planned."""
        return self._resolver

    @property
    def context(self) -> SessionContext:
        return self._session.context

    def check(self) -> None:
        """Raise if the statement was stopped."""
        self.execution.query.check()

    # --- plans ----------------------------------------------------------------------------------------------------

    def query(self, statement: Planned, span: Span | None = None, *, is_result: bool = False) -> Plan:
        """The plan of a query that stands in the statement. If its rows are the result of the statement, several of its
        columns may have one name: `parser/projections.py` has their names in the plan."""
        for _ in range(_MOST_RENAMED if is_result else 0):
            try:
                return self._query(statement, span)
            except (InvalidArgument, NotSupportedError) as error:
                name = repeated_column(error)
                renamed = None if name is None else _with_distinct_names(statement, span, name)
                if renamed is None:
                    raise
                statement = renamed
        return self._query(statement, span)

    def _query(self, statement: Planned, span: Span | None) -> Plan:
        with self.execution.query.phase("resolve"):
            text = self.rewrite(statement, span)
        self._is_whole = not self._within
        try:
            return self.plan(text.text, statement, text.locate)
        finally:
            self._is_whole = False

    def plan(self, sql: str, statement: Planned, locate: Locate | None = None) -> Plan:
        """The plan of text in DataFusion's form; `statement` has the parameters that it takes."""
        ahead = self._ahead.pop(sql, None)
        return ahead if ahead is not None else self._plan(sql, statement, locate)

    def plan_ahead(self, text: Spliced, statement: Planned) -> Plan:
        """The same, to see whether there is one; who asks for the very same text next need not wait."""
        self._ahead[text.text] = plan = self._plan(text.text, statement, text.locate)
        return plan

    def types(self, sql: str, statement: Planned, locate: Locate | None = None) -> list[pa.DataType]:
        """Those of the columns of a query that is DataFusion's already. Nothing is planned where `parser/typed` knows
        all of them exactly, which it does not for the fields of a struct. A subquery is planned, since only its plan
        shows whether DataFusion answers it rightly."""
        if statement.parsed and not _SUBQUERY.search(sql):
            found = self._rewritten(sql, self._parameters(statement), None).types
            if found is not None and not any(pa.types.is_nested(type) for type in found):
                return [without_views(type) for type in found]
        return list(schema_of(self.plan(sql, statement, locate).frame).types)

    def bind(
        self, sql: str, statement: Planned, locate: Locate | None = None, *, joins_subqueries: bool = False
    ) -> Bound:
        """The text without the forms that DataFusion answers wrongly and with the casts that its types need; its
        relations; and the facts about both. With `joins_subqueries`, joins replace all subqueries that refer to
        outer rows."""
        tree, is_unread = None, False
        steps = self._without_subqueries(sql, statement, everything=joins_subqueries)
        if steps is None:
            from pinakes.parser.columns import refuse_subqueries

            refuse_subqueries(statement)
        for step in steps or ():
            sql, locate = step.text, _located(locate, step)
        if not _UNTYPED.fullmatch(sql):  # SELECT 1 is not worth the imports
            from pinakes.parser.workarounds.rewrite import rewrite_planned

            views = any(relation.view is not None for relation in self._memo.values())
            rewrite = partial(rewrite_planned, sql, is_source=bool(self._within), reads_views=views)
            written = (
                TEXTS.without_forms(sql, self._floats, lambda floats: rewrite(floats=floats), bool(self._within), views)
                if statement.shown == statement.text
                else rewrite(floats=self._floats)
            )
            if written is None:
                is_unread = True
            elif written.text == sql:
                tree = written.tree
            else:
                sql, locate = written.text, _located(locate, written)
        self._all_resolved, self._has_secrets = statement.parsed, statement.shown != statement.text
        parameters = self._parameters(statement)
        typed, untyped, unchecked, references = sql, False, False, 0
        if not _UNTYPED.fullmatch(sql):
            with translated(locate):
                rewritten = self._rewritten(sql, parameters, tree)
            typed, untyped, unchecked = rewritten.text, not rewritten.complete, rewritten.unchecked
            references = rewritten.references
            self._check_relations(references)
        facts = PlanFacts(
            recursive=_RECURSIVE.search(sql) is not None,
            names_meet=self._names_meet(statement),
            needs_check=may_go_astray(sql),
            untyped=untyped,
            unchecked=unchecked,
            constants=max(_constants(typed, parameters) + self._longest_rows(), self.execution.wide),
        )
        for relation in self._memo.values():
            inner = relation.view_plan or (relation.shared and relation.shared.plan)
            if inner:
                facts = facts.merge(inner.bound.facts)
        has_subqueries = _SUBQUERY.search(sql) is not None
        return Bound(
            typed,
            dict(self._memo),
            facts,
            parameters,
            locate,
            has_subqueries=has_subqueries,
            is_unread=is_unread,
            references=references,
        )

    def _without_subqueries(self, sql: str, statement: Planned, *, everything: bool) -> Sequence[Written] | None:
        """The steps to a text without the subqueries that DataFusion can't plan; None if it can't be read."""
        if not _SUBQUERY_OR_ROWS.search(sql):
            return ()
        from pinakes.parser.subqueries.rewrite import rewrite_subqueries

        def columns(parts: tuple[str, ...]) -> Collection[str] | None:
            relation = self._memo.get(parts) if len(parts) == 3 else None
            return None if relation is None else relation.columns

        def is_stable(parts: tuple[str, ...]) -> bool:
            relation = self._memo.get(parts) if len(parts) == 3 else None
            return relation is not None and relation.is_repeatable

        rewrite = partial(rewrite_subqueries, sql, everything=everything)
        if statement.shown != statement.text:
            return rewrite(columns, is_stable)
        return TEXTS.without_subqueries(sql, (columns, is_stable), rewrite, everything)

    def _plan(self, sql: str, statement: Planned, locate: Locate | None) -> Plan:
        try:
            return self._plan_text(sql, statement, locate)
        except NotSupportedError:
            if not self._without_subqueries(sql, statement, everything=True):
                raise
            return self._plan_text(sql, statement, locate, joins_subqueries=True)

    def _plan_text(
        self, sql: str, statement: Planned, locate: Locate | None, *, joins_subqueries: bool = False
    ) -> Plan:
        query, session = self.execution.query, self._session
        try:
            with query.phase("plan"), nullcontext() if self.is_nested else session.plan_lock:
                bound = self.bind(sql, statement, locate, joins_subqueries=joins_subqueries)
                with translated(bound.locate):
                    if statement.parsed:
                        frame = plan_frame(bound, session, query, nested=self.is_nested)
                    else:
                        bound, frame = self._plan_unresolved(bound)
        except TableNotFound as error:
            raise self._missing or error from None
        except ColumnNotFound as error:
            raise column_or_text(error, statement.text) from error.__cause__
        self._check_joins(bound, frame)
        if READ_TWICE in sql:
            _check_repeatable(bound)
        if bound.has_subqueries:
            refuse_unsound_subqueries(frame.logical_plan())
        if bound.is_unread:
            refuse_unread(frame.logical_plan())
        return Plan(bound, frame)

    def _plan_unresolved(self, bound: Bound) -> tuple[Bound, DataFrame]:
        """Plans a text whose names are resolved when DataFusion asks for them. Once more, if they lead to files whose
        statistics can't be used."""
        query, statistics = self.execution.query, bound.uses_statistics
        frame = plan_frame(bound, self._session, query, resolve=self._resolve_now, nested=self.is_nested)
        bound = replace(bound, relations=dict(self._memo))
        if bound.uses_statistics != statistics:
            frame = plan_frame(bound, self._session, query, resolve=self._resolve_now, nested=self.is_nested)
        for relation in bound.relations.values():
            if relation.view_plan is not None:
                bound = replace(bound, facts=bound.facts.merge(relation.view_plan.bound.facts))
        return bound, frame

    def _rewritten(self, sql: str, parameters: dict[str, object] | None, tree: Tree | None) -> Rewritten:
        known = self._typed_texts.get(sql)
        if known is None:
            from pinakes.engine.planning.expression_types import PlanEnvironment

            session = self._session
            zone, limit = session.settings.time_zone, session.engine.result_limit
            find = None if self._all_resolved else self._found
            environment = PlanEnvironment(self._memo, parameters, zone, session.manifests, session.context, limit, find)
            is_part = not self._is_whole
            if self._has_secrets or find is not None:
                from pinakes.parser.typed.rewrite import rewrite

                known = rewrite(sql, environment, tree, is_part=is_part)
            else:
                known = TEXTS.typed(sql, environment, tree, zone, limit, is_part=is_part)
            self._typed_texts[sql] = known
        return known

    def _found(self, parts: tuple[str, ...]) -> Relation | None:
        """A table of a text that sqlglot could not read, in which it stands as it was written."""
        try:
            return self.named(Name(tuple(Part(part, quoted=part != part.lower()) for part in parts)))
        except NotFoundError:
            return None  # DataFusion will report it, if it is a table at all

    def _longest_rows(self) -> int:
        """The bytes of the long values in rows of the statement's tables, as far as they are known."""
        tables = [relation.table for relation in self._memo.values() if relation.table is not None]
        return sum(widest_row(table.handle.metadata) for table in tables)

    def _check_relations(self, count: int) -> None:
        """An error if a server's statement has too many: DataFusion's planning grows faster than they do, can't be
        stopped, and lets no other thread of Python run."""
        admission = self._session.engine.admission
        if admission is not None and 0 < admission.limits.plan_relations < count:
            raise NotSupportedError(
                f"the plan of this statement would have {_shown(count)} relations, and this server takes "
                f"{admission.limits.plan_relations:,} at most (plan_relations), where a query of WITH counts wherever "
                f"it is read: store intermediate rows with CREATE TABLE … AS"
            )

    def _check_joins(self, bound: Bound, frame: DataFrame) -> None:
        admission = self._session.engine.admission
        if admission is None or not admission.limits.plan_joins:
            return
        most, subqueries = admission.limits.plan_joins, len(_SUBQUERY.findall(bound.sql))
        steps = sum(relation.steps for relation in self._memo.values()) + subqueries
        if max(steps, bound.references) <= most:
            return
        joins = count_joins(frame.logical_plan(), MOST_STEPS) + subqueries
        if joins > most:
            raise NotSupportedError(
                f"this statement has {joins:,} joins and subqueries, and this server takes {most:,} at most "
                f"(plan_joins): store intermediate rows with CREATE TABLE … AS"
            )

    def _floats(self) -> frozenset[str]:
        """The columns of the statement's relations that hold floating point numbers."""
        columns = [column for relation in self._memo.values() for column in relation.types.items()]
        return frozenset(name for name, type in columns if pa.types.is_floating(type))

    def _names_meet(self, statement: Planned) -> bool:
        """Whether relations of a statement have columns of the same name: DataFusion 55 confuses them in dynamic
        filters (`engine/datafusion/workarounds/join_filter_columns.py`)."""
        columns = list[str]()
        for of, key in self._resolved.values():
            if of is statement and key in self._memo:
                columns += self._memo[key].columns
        return not statement.parsed or len(columns) != len(set(columns))

    def _parameters(self, statement: Planned) -> dict[str, object] | None:
        given = self.execution.parameters
        if self.execution.unbound:
            return None
        if not statement.parsed:
            return dict(given) or None
        return {p.name: self.execution.parameter(p.name) for p in planned_placeholders(statement)} or None

    # --- relations ------------------------------------------------------------------------------------------------

    @property
    def relations(self) -> Relations:
        """Created on each use: if kept here, they would keep the planner and what it holds alive."""
        return Relations(self.execution, self._resolver, self._expand, self._memo, is_callers=not self._within)

    def named(self, name: Name) -> Relation:
        """The relation behind a name; loaded once per statement."""
        return self.relations.named(name)

    def iceberg(self, key: Key, table: IcebergTable) -> Relation:
        """An Iceberg table's rows as they are now."""
        return self.relations.iceberg(key, table)

    def add(self, relation: Relation) -> Relation:
        """Add a relation that no catalog holds: a table pruned to some files, or rows in memory."""
        return self.relations.add(relation)

    def _expand(self, found: ResolvedTable, view: ViewDefinition) -> Plan:
        """The plan of a view, in its own scope, with the columns it was made with."""
        planner, statement = self.inside(found, view)
        if view.schema is None:  # its columns are those that it has now
            return planner.query(statement)
        if view.properties.get(COLUMNS_GIVEN) == "true":
            return planner.query_as(statement, [f.name for f in view.schema.fields])
        return _with_names(planner.query(statement), found, view)

    def inside(self, found: ResolvedTable, view: ViewDefinition) -> tuple[Planner, Query]:
        """Who plans the text of a view, and its query."""
        if found in self._within or len(self._within) >= MAX_VIEW_DEPTH:
            chain = " -> ".join(str(f) for f in (*self._within, found))
            raise InvalidArgument(f"view {found} reads itself: {chain}")
        scope = Scope(view.default_catalog or found.place.mount.name, view.default_namespace)
        planner = Planner(
            self.execution,
            self._resolver.within(scope, found),
            within=(*self._within, found),
            memo=self._memo,
            nested=self.is_nested,
        )
        statement = _read(view)
        if not isinstance(statement, Query):
            raise InvalidArgument(f"view {found} does not hold a query but a {statement.kind}")
        if statement.placeholders:  # they would be the caller's
            raise InvalidArgument(f"view {found} has the parameter {statement.placeholders[0].name}, and takes none")
        return planner, statement

    def known(self, key: Key) -> Relation | None:
        """A relation of the statement by the key that stands for it in planned text."""
        return self._memo.get(key)

    def plan_over(self, sql: str, relation: Relation) -> Plan:
        """The plan of text that reads one relation of the statement, whose files are chosen already, and takes no
        parameters. A placeholder would have no rows: `rows_of` reads these."""
        assert not relation.is_placeholder
        return self.aside(relation).plan(sql, Query(text=sql, shown=""))

    def rows_of(self, relation: Relation, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """All rows of one relation of the statement, with all columns or some, without the statement's predicates."""
        sql = f"SELECT {', '.join(map(quote, columns or relation.columns))} FROM {relation.sql}"
        aside = self.aside(relation)
        return aside.execution.batches(aside.plan(sql, Query(text=sql, shown="")))

    def query_as(self, statement: Planned, names: Sequence[str]) -> Plan:
        """The plan of a query whose columns are called otherwise, one by one."""
        text = self.rewrite(statement).text
        return self.plan(f'SELECT * FROM ({text}\n) AS "v"({", ".join(map(quote, names))})', statement)

    def _resolve_now(self, catalog: str, schema: str, name: str) -> Relation | None:
        """Resolves a name that DataFusion asks for while it plans a text that sqlglot could not read: of a relation, or
        of a table function. This is done on another thread, since a view may have to be planned, and planning within
        planning is not allowed."""
        nested = Planner(self.execution, self._resolver, within=self._within, memo=self._memo, nested=True)
        try:
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(copy_context().run, nested.named, _name_of(catalog, schema, name)).result()
        except NotFoundError as error:
            self._missing = error
            return None


def _with_distinct_names(statement: Planned, span: Span | None, name: str) -> Planned | None:
    """The statement with other names for columns of its result that have this one; None if there are not several."""
    start, end = (0, len(statement.text)) if span is None else (span.start, span.end)
    tokens = [token for token in tokenize_what_fits(statement.text)[0] if start <= token.start and token.end <= end]
    unnamed, aliases = distinct_names(tokens, name)
    if not (unnamed or aliases):
        return None
    return replace(statement, projections=(*statement.projections, *unnamed), repairs=(*statement.repairs, *aliases))


def _check_repeatable(bound: Bound) -> None:
    for relation in bound.relations.values():
        if not relation.is_repeatable:
            raise NotSupportedError(
                f"ASOF JOIN reads {dotted(relation.path)} twice, which may have other rows each time: store its rows "
                "in a table first"
            )


def _located(locate: Locate | None, written: Written) -> Locate | None:
    """The places of a text that was written again, if those of the one before are known."""
    return None if locate is None else lambda line, column: locate(*written.place(line, column))


def _constants(sql: str, parameters: dict[str, object] | None) -> int:
    """The bytes of the long constants of a text: each row of a batch has a copy of each, also behind a join."""
    size = _length_of_constants(sql) + len(_LATE_TEXT.findall(sql)) * MOST_OF_CONSTANTS // FEWEST
    for name, value in (parameters or {}).items():
        if isinstance(value, str | bytes) and len(value) > LONG:
            size += len(value) * sql.count(f"${name}")
    return size


def _length_of_constants(sql: str) -> int:
    """The characters of the long constants of a text."""
    if _LONG_TEXT.search(sql) is None:
        return 0
    tokens = tokenize_what_fits(sql)[0]
    return sum(len(token.text) for token in tokens if token.kind == "string" and len(token.text) >= LONG)


def _shown(count: int) -> str:
    return f"{count:,}" if count < 10**12 else "very many"


@dataclass(frozen=True, slots=True)
class _ViewColumns:
    """A view's columns under the names it was made with: `names` for `columns` of its query."""

    columns: tuple[str, ...]
    names: tuple[str, ...]

    def of(self, frame: DataFrame) -> DataFrame:
        if self.columns == self.names:
            return frame.select(*(quote(n) for n in self.names))
        return frame.select(
            *(col(quote(column)).alias(name) for column, name in zip(self.columns, self.names, strict=True))
        )


def _read(view: ViewDefinition) -> AnyStatement:
    """The query of a view, in our SQL if another engine made it."""
    dialect = view.dialect.lower()
    if dialect not in TRANSLATED:
        return classify(view.sql)
    try:
        return classify_dialect(view.sql, dialect).statement
    except PinakesError as error:
        error.position = None  # it is in the text of the view
        raise


def _with_names(plan: Plan, found: ResolvedTable, view: ViewDefinition) -> Plan:
    """The view's columns under the names it was made with; columns that the tables gained since are left out."""
    assert view.schema is not None
    names = tuple(f.name for f in view.schema.fields)
    have = list(plan.frame.schema().names)
    if have == list(names):
        return plan
    if view.dialect != _OURS and (chosen := _columns_of_another(have, names, view)) is not None:
        return plan.derive(_ViewColumns(tuple(have[at] for at in chosen), names))
    missing = [n for n in names if n not in have]
    if missing:
        raise InvalidArgument(f"view {found} no longer fits: its query has no column {missing[0]}. Replace the view.")
    return plan.derive(_ViewColumns(names, names))


def _columns_of_another(have: Sequence[str], names: Sequence[str], view: ViewDefinition) -> list[int] | None:
    """Which columns of its query are those of a view that another engine made. Spark keeps what it calls the columns of
    the query; an expression it calls otherwise than we do, and so it is found by its place, unless there is a star."""
    told = view.properties.get(_SPARK_NAMES, "").split(",")
    asked = [name.casefold() for name in (told if len(told) == len(names) else names)]
    places = {name.casefold(): at for at, name in enumerate(have)}
    if len(places) == len(have) and all(name in places for name in asked):
        return [places[name] for name in asked]
    return list(range(len(have))) if len(have) == len(names) and _STAR.search(view.sql) is None else None


_OURS = "pinakes"
_SPARK_NAMES = "spark.query-column-names"
_STAR = re.compile(r"(?:\bselect|\bdistinct|\ball|,|\.)\s*\*", re.IGNORECASE)

COLUMNS_GIVEN = "pinakes.columns-given"
"""The property of a view whose columns were named in CREATE VIEW v (a, b)."""


def _name_of(catalog: str, schema: str, name: str) -> Name:
    """A name as DataFusion has it. It folded what was unquoted, so only odd parts are known to be quoted."""
    parts = [] if catalog == CURRENT else [catalog]
    if schema not in (CURRENT, ROOT):
        parts += undotted(schema) if catalog != CURRENT else [schema]
    return Name(tuple(Part(p, quoted=p != p.lower()) for p in (*parts, name)))
