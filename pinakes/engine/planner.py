"""Planned statements: names resolved, text spliced, and the rest left to DataFusion.

One planner serves one statement. Each table is loaded once for it, so a query reads one snapshot of each; a view is
planned by a planner of its own, within the view's default catalog and namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from datafusion import DataFrame
from datafusion import Table as Provider

from pinakes.core.catalog import FilesTable, IcebergTable, SupportsPathIdentifiers, Table, ViewDefinition
from pinakes.core.errors import InvalidArgument, NotFoundError, Position, TableNotFound, listing
from pinakes.core.names import TEMP, Name, Part, quote, text_literal, undotted
from pinakes.engine.bridge import CURRENT
from pinakes.engine.columns import column_edits
from pinakes.engine.context import READ_ONLY, planned_with
from pinakes.engine.errors import translated
from pinakes.engine.mounts import Mounted
from pinakes.engine.places import Found, Scope
from pinakes.engine.relation import ROOT, Key, Relation, key_of
from pinakes.engine.resolver import Resolver
from pinakes.engine.splice import Edit, Spliced, splice
from pinakes.engine.temporary import TEMPORARY, Source, relation_of, temporary_key
from pinakes.parser import classify
from pinakes.parser.statements import AsOf, FileCall, Placeholder, Planned, Query, Span, TableRef

if TYPE_CHECKING:
    from pinakes.engine.execution import Execution
    from pinakes.engine.files.opened import Opened
    from pinakes.engine.files.paths import Finder
    from pinakes.engine.files.readings import Reading

MAX_VIEW_DEPTH = 64
FILES = "$files"
"""The catalog of files in planned text. Nobody can mount it."""
PATHS = "$path"
"""The schema that stands for the paths of a catalog in planned text."""


class Planner:
    def __init__(
        self,
        execution: Execution,
        resolver: Resolver,
        *,
        within: tuple[Found, ...] = (),
        memo: dict[Key, Relation] | None = None,
        nested: bool = False,
    ) -> None:
        self._execution = execution
        self._session = execution.session
        self._resolver = resolver
        self._within = within
        self._memo: dict[Key, Relation] = {} if memo is None else memo
        self._nested = nested
        """Another thread plans meanwhile, holds the session's lock, and waits for this."""
        self._all_resolved = True
        self._missing: NotFoundError | None = None

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
        relations = {
            index: self._relation_of(ref, statement)
            for index, ref in enumerate(statement.tables)
            if span is None or _covers(span, ref.span)
        }
        edits = [_table_edit(statement.tables[index], relation) for index, relation in relations.items()]
        edits += [Edit(c.span.start, c.span.end, "") for i in relations if (c := statement.tables[i].as_of) is not None]
        edits += also
        edits += column_edits(statement, relations, target)
        edits += [Edit(p.span.start, p.span.end, f"${p.name}") for p in _planned_placeholders(statement)]
        edits += [Edit(v.span.start, v.span.end, self._value(v.name)) for v in statement.values]
        edits += [Edit(end, end, f" AS {quote(name)}") for end, name in _aliases(statement).items()]
        edits += [Edit(r.span.start, r.span.end, r.text) for r in statement.repairs]
        return splice(statement.text, edits, span)

    def _value(self, name: str) -> str:
        return text_literal(self._session.value(name))

    # --- plans ----------------------------------------------------------------------------------------------------

    def query(self, statement: Planned, span: Span | None = None) -> DataFrame:
        """The plan of a query that stands in the statement."""
        with self._execution.query.phase("resolve"):
            text = self.rewrite(statement, span)
        return self.plan(text.text, statement, text.locate)

    def plan(
        self, sql: str, statement: Planned, locate: Callable[[int, int], Position | None] | None = None
    ) -> DataFrame:
        """The plan of text that is DataFusion's already; the statement tells which parameters it takes."""
        parameters = self._parameters(statement)
        session = self._session
        self._all_resolved = statement.parsed
        try:
            with (
                self._execution.query.phase("plan"),
                nullcontext() if self._nested else session.plan_lock,
                session.bridge.planning(self),
                translated(locate),
            ):
                frame = self._planned(sql, parameters)
        except TableNotFound as error:
            raise self._missing or error from None
        if any(relation.scan is not None for relation in self._memo.values()):
            self._execution.plans.add(frame, self._memo, lambda: self.plan(sql, statement, locate))
        return frame

    def _planned(self, sql: str, parameters: dict[str, object] | None) -> DataFrame:
        """Once more when names that were resolved meanwhile led to files whose statistics can't be used."""
        context, statistics = self._session.context, self._execution.statistics
        with planned_with(context, statistics=statistics):
            frame = context.sql_with_options(sql, READ_ONLY, param_values=parameters)
        return frame if statistics == self._execution.statistics else self._planned(sql, parameters)

    def _parameters(self, statement: Planned) -> dict[str, object] | None:
        given = self._execution.parameters
        if not statement.parsed:
            return dict(given) or None
        return {p.name: self._parameter(p.name) for p in _planned_placeholders(statement)} or None

    def _parameter(self, name: str) -> object:
        given = self._execution.parameters
        if name not in given:
            raise InvalidArgument(f"parameter ${name} has no value; given: {listing(given)}")
        return given[name]

    # --- relations ------------------------------------------------------------------------------------------------

    def _relation_of(self, ref: TableRef, statement: Planned) -> Relation:
        if ref.as_of is not None:
            return self._as_of(ref, ref.as_of, statement)
        if ref.call is not None:
            return self.files(self._reading(ref.call, statement), ref.call.name)
        return self.named(ref.name)

    def _as_of(self, ref: TableRef, clause: AsOf, statement: Planned) -> Relation:
        """A table as it was. It is another relation than the table as it is."""
        from pinakes.engine.scan.time_travel import at_time, at_version, version_of

        now = self.named(ref.name) if ref.call is None else None
        if now is None or now.table is None:
            raise InvalidArgument(f"{ref.name} has no versions: AS OF is for tables of a catalog")
        if clause.kind == "version":
            then = at_version(now.table, version_of(self._version(clause, statement)))
        else:
            then = at_time(now.table, self._moment(clause, statement))
        metadata = then.handle.metadata
        name = f"{now.key[2]}@{metadata.current_snapshot_id}:{metadata.current_schema_id}"
        key = (now.key[0], now.key[1], name)
        if key not in self._memo:
            self._memo[key] = replace(self.iceberg(key, then), full_name=now.path)
        return self._memo[key]

    def _version(self, clause: AsOf, statement: Planned) -> object:
        written = clause.value.of(statement.text)
        if written.isidentifier():
            return written
        if written.startswith('"'):
            return written[1:-1].replace('""', '"')
        return self._constant(clause, statement, "{}")

    def _moment(self, clause: AsOf, statement: Planned) -> datetime:
        moment = self._constant(clause, statement, "CAST({} AS TIMESTAMPTZ)")
        if not isinstance(moment, datetime):
            raise InvalidArgument("FOR TIMESTAMP AS OF needs a time, such as TIMESTAMP '2024-01-31 12:00:00'")
        return moment

    def _constant(self, clause: AsOf, statement: Planned, form: str) -> object:
        """The value of the clause's operand, which may hold parameters."""
        edits = [Edit(p.span.start, p.span.end, f"${p.name}") for p in statement.placeholders]
        within = [e for e in edits if clause.value.start <= e.start and e.end <= clause.value.end]
        source = classify(f"SELECT {form.format(splice(statement.text, within, clause.value).text)} AS v")
        if not isinstance(source, Query) or source.tables:
            raise InvalidArgument(f"AS OF needs a constant, not {clause.value.of(statement.text)}")
        return self._execution.collect(self._execution.planner().query(source)).column(0)[0].as_py()

    def _reading(self, call: FileCall, statement: Planned) -> Reading:
        from pinakes.engine.files.readings import reading_of

        within = [p for p in statement.placeholders if _covers(call.span, p.span)]
        return reading_of(call, {p.span.start: self._parameter(p.name) for p in within})

    def files(self, reading: Reading, called: str) -> Relation:
        """Files that a path or a function names; found and looked at once per statement."""
        from pinakes.engine.files.tables import open_files

        key = (FILES, reading.key, called)
        if key not in self._memo:
            opened = self._opened(lambda finder, zone: open_files(reading, finder, zone))
            self._memo[key] = Relation(key, opened.provider, tuple(opened.schema.names), full_name=(called,))
        return self._memo[key]

    def _opened(self, open: Callable[[Finder, str], Opened]) -> Opened:
        finder, zone = self._execution.finder(), self._session.settings.time_zone
        opened = self._execution.query.interruptible(lambda: open(finder, zone))
        self._execution.statistics &= opened.statistics
        return opened

    def named(self, name: Name) -> Relation:
        """The relation behind a name; loaded once per statement."""
        if name.is_path and len(name.parts) == 1:
            from pinakes.engine.files.readings import Reading

            return self.files(Reading((name.last.text,)), name.called)
        temporary = self._resolver.temporary(name)
        if temporary is not None:
            return self._temporary(*temporary)
        at_path = self._resolver.path(name)
        if at_path is not None:
            return self._at_path(*at_path)
        try:
            found = self._resolver.find(name)
        except NotFoundError as missing:
            return self._looked_up(name, missing)
        key = key_of(found.place.mount.name, found.place.namespace, found.name)
        if key not in self._memo:
            self._memo[key] = self._load(found, key)
        return self._memo[key]

    def _at_path(self, mount: Mounted, path: str) -> Relation:
        """What stands at a path of a catalog that knows paths."""
        key = (mount.name, PATHS, path)
        if key not in self._memo:
            self._execution.query.touch(mount.name)
            catalog = mount.catalog
            assert isinstance(catalog, SupportsPathIdentifiers)
            self._memo[key] = self._table(key, catalog.load_path(path))
        return self._memo[key]

    def _looked_up(self, name: Name, missing: NotFoundError) -> Relation:
        """What the caller has under a name that nothing else has; not within a view, which is nobody's caller."""
        lookup, word = self._execution.lookup, name.last.text
        if lookup is None or len(name.parts) > 1 or name.is_path or self._within:
            raise missing
        if temporary_key(word) in self._memo:
            return self._memo[temporary_key(word)]
        source = lookup(word)
        if source is None:
            raise missing
        return self._temporary(word, source)

    def _temporary(self, name: str, source: Source) -> Relation:
        return self.add(relation_of(name, source))

    @property
    def temporaries(self) -> list[str]:
        """The temporary relations that were read."""
        return [name for catalog, _, name in self._memo if catalog == TEMPORARY]

    @property
    def private(self) -> list[str]:
        """The temporary tables and views that were read."""
        return [name for catalog, _, name in self._memo if catalog == TEMP]

    def _load(self, found: Found, key: Key) -> Relation:
        self._execution.query.touch(found.place.mount.name)
        loaded = self._resolver.load(found)
        if isinstance(loaded, ViewDefinition):
            frame = self._expand(found, loaded)
            remade = partial(_view_of, self._expand, found, loaded)
            return Relation(key, frame.into_view(), tuple(frame.schema().names), remade=remade)
        return self._table(key, loaded)

    def _table(self, key: Key, table: Table) -> Relation:
        match table:
            case IcebergTable():
                return self.iceberg(key, table)
            case FilesTable():
                return self._files(key, table)

    def _files(self, key: Key, table: FilesTable) -> Relation:
        """The rows of files, as they are now."""
        from pinakes.engine.files.catalog_tables import open_table

        opened = self._opened(lambda finder, zone: open_table(table, finder, zone))
        return Relation(key, opened.provider, tuple(opened.schema.names))

    def iceberg(self, key: Key, table: IcebergTable, files: Mapping[str, int] | None = None) -> Relation:
        """An Iceberg table's rows as they are now; `files` narrows it to some and adds where each row stands."""
        from pinakes.engine.scan.dataset import IcebergDataset
        from pinakes.engine.scan.exact import exact
        from pinakes.engine.scan.table import IcebergScan

        session, zone = self._session, self._session.settings.time_zone
        if files is not None:
            dataset = IcebergDataset(table, zone, files)
            return Relation(key, exact(dataset), tuple(dataset.schema.names), table)
        scan = IcebergScan(table, zone, session.engine.caches.manifests, session.context)
        names = tuple(scan.schema.names)
        if scan.is_worth_narrowing:
            return Relation(key, scan.shadow(), names, table, scan=scan)
        narrowed = scan.narrowed()
        self._execution.plans.watch(narrowed.watched)
        return Relation(key, narrowed.provider, names, table)

    def add(self, relation: Relation) -> Relation:
        """Make a relation known that no catalog holds: a table narrowed to some files, rows at hand."""
        self._memo[relation.key] = relation
        return relation

    def _expand(self, found: Found, view: ViewDefinition) -> DataFrame:
        """The plan of a view, in its own scope, with the columns it was made with."""
        if found in self._within or len(self._within) >= MAX_VIEW_DEPTH:
            chain = " -> ".join(str(f) for f in (*self._within, found))
            raise InvalidArgument(f"view {found} reads itself: {chain}")
        scope = Scope(view.default_catalog or found.place.mount.name, view.default_namespace)
        planner = Planner(
            self._execution,
            self._resolver.within(scope, found),
            within=(*self._within, found),
            memo=self._memo,
            nested=self._nested,
        )
        statement = classify(view.sql)
        if not isinstance(statement, Query):
            raise InvalidArgument(f"view {found} does not hold a query but a {statement.kind}")
        if view.properties.get(COLUMNS_GIVEN) == "true":
            return planner.query_as(statement, [f.name for f in view.schema.fields])
        return _with_names(planner.query(statement), found, view)

    def query_as(self, statement: Planned, names: Sequence[str]) -> DataFrame:
        """The plan of a query whose columns are called otherwise, one by one."""
        text = self.rewrite(statement).text
        return self.plan(f'SELECT * FROM ({text}\n) AS "v"({", ".join(map(quote, names))})', statement)

    def relation(self, catalog: str, schema: str, name: str) -> Provider | None:
        """What DataFusion asks while it plans. The names of a text that sqlglot read were resolved before; any other
        is that of a table function, or stands in a text that it could not read and is resolved now."""
        known = self._memo.get((catalog, schema, name))
        if known is None and not self._all_resolved:
            known = self._resolve_now(_name_of(catalog, schema, name))
        return known.provider if known is not None else None

    def _resolve_now(self, name: Name) -> Relation | None:
        """On another thread, since a view may have to be planned and planning within planning is not allowed."""
        waiting = Planner(self._execution, self._resolver, within=self._within, memo=self._memo, nested=True)
        try:
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(waiting.named, name).result()
        except NotFoundError as error:
            self._missing = error
            return None


def _view_of(expand: Callable[[Found, ViewDefinition], DataFrame], found: Found, view: ViewDefinition) -> Provider:
    return expand(found, view).into_view()


def _covers(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _table_edit(ref: TableRef, relation: Relation) -> Edit:
    """The full name in place of the written one; it keeps going by the name it was written with."""
    written = ref.name.called
    alias = f" AS {quote(written)}" if ref.alias is None and written != relation.key[2] else ""
    return Edit(ref.span.start, ref.span.end, relation.sql + alias)


def _planned_placeholders(statement: Planned) -> list[Placeholder]:
    """Those that DataFusion binds: not those within a call of a function that reads files, or within AS OF."""
    calls = [ref.call.span for ref in statement.tables if ref.call is not None]
    calls += [ref.as_of.span for ref in statement.tables if ref.as_of is not None]
    return [p for p in statement.placeholders if not any(_covers(call, p.span) for call in calls)]


def _aliases(statement: Planned) -> dict[int, str]:
    """Names for what would lose its own: unnamed items of the outer SELECT list, current_user and its kin anywhere."""
    lonely = {v.span.end: v.name for v in statement.values if v.alone}
    return {**lonely, **{p.end: p.name for p in statement.projections}}


def _with_names(frame: DataFrame, found: Found, view: ViewDefinition) -> DataFrame:
    """The view's columns under the names it was made with; what the tables gained since stays out."""
    names = [f.name for f in view.schema.fields]
    have = list(frame.schema().names)
    if have == names:
        return frame
    missing = [n for n in names if n not in have]
    if missing:
        raise InvalidArgument(f"view {found} no longer fits: its query has no column {missing[0]}. Replace the view.")
    return frame.select(*(quote(n) for n in names))


COLUMNS_GIVEN = "pinakes.columns-given"
"""The property of a view whose columns were named in CREATE VIEW v (a, b)."""


def _name_of(catalog: str, schema: str, name: str) -> Name:
    """A name as DataFusion has it. It folded what was unquoted, so only odd parts are known to be quoted."""
    parts = [] if catalog == CURRENT else [catalog]
    if schema not in (CURRENT, ROOT):
        parts += undotted(schema) if catalog != CURRENT else [schema]
    return Name(tuple(Part(p, quoted=p != p.lower()) for p in (*parts, name)))
