"""The relations of one statement: each table, view and file that it names is found, loaded and opened once.

So a query reads one snapshot of each table, however often it names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pinakes.caches.lookups import asking_about
from pinakes.core.catalog import (
    FilesTable,
    IcebergTable,
    SupportsPathIdentifiers,
    Table,
    ViewDefinition,
    VirtualTable,
)
from pinakes.core.errors import NotFoundError
from pinakes.core.names import TEMP, Name
from pinakes.core.worker_tables import WorkerTable
from pinakes.engine.binding.namespaces import ResolvedTable, Scope
from pinakes.engine.binding.planned_text import covers
from pinakes.engine.binding.relation import Key, Relation, key_of
from pinakes.engine.binding.resolver import Resolver
from pinakes.engine.binding.session_relations import TEMPORARY, Source, relation_of, temporary_key
from pinakes.engine.catalogs.mounts import Mounted
from pinakes.engine.datafusion.determinism import is_steady
from pinakes.parser.statements import CatalogCall, Planned, SearchCall, TableCall, TableRef

if TYPE_CHECKING:
    from pinakes.engine.binding.cached_scan import OpenedTable
    from pinakes.engine.files.paths import File, Finder
    from pinakes.engine.files.reading.dataset import FilesSource
    from pinakes.engine.files.tables import Reading
    from pinakes.engine.iceberg.scan.table import IcebergScan
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.statement_context import Execution

FILES = "$files"
"""The catalog of files in planned text. This name cannot be mounted."""
PATHS = "$path"
"""The schema that stands for the paths of a catalog in planned text."""

Expand = Callable[[ResolvedTable, ViewDefinition], "Plan"]
"""The plan of a view; planning is not done here."""


class Relations:
    def __init__(
        self, execution: Execution, resolver: Resolver, expand: Expand, memo: dict[Key, Relation], *, is_callers: bool
    ) -> None:
        self.execution = execution
        self._resolver = resolver
        self._expand = expand
        self._memo = memo
        self._is_callers = is_callers
        """Whether the statement is the caller's own. The text of a view has no caller."""

    def of(self, ref: TableRef, statement: Planned) -> Relation:
        """What a statement names in a FROM clause."""
        if ref.as_of is not None:
            from pinakes.engine.binding.time_travel import as_of

            return as_of(self, ref, ref.as_of, statement)
        if ref.call is not None:
            return self._called(ref.call, statement)
        return self.named(ref.name)

    def known(self, key: Key) -> Relation | None:
        return self._memo.get(key)

    def all(self) -> list[Relation]:
        """All that were found, each after those that it reads."""
        return list(self._memo.values())

    def glanced(self, name: Name) -> Relation:
        """The relation behind a name that is not read: only what it is made of is wanted."""
        before = set(self._memo)
        found = self.named(name)
        self.forget(self._memo.keys() - before)
        return found

    def forget(self, keys: Iterable[Key]) -> None:
        """As if they had not been added."""
        for key in keys:
            self._memo.pop(key, None)

    def _called(self, call: TableCall, statement: Planned) -> Relation:
        """The rows of a table function of ours, or of a catalog's."""
        if not isinstance(call, CatalogCall):
            self.execution.session.guard.function(call.name)
        within = [p for p in statement.placeholders if covers(call.span, p.span)]
        parameters = {p.span.start: self.execution.parameter(p.name) for p in within}
        if isinstance(call, SearchCall):
            return self._search(call, parameters)
        if isinstance(call, CatalogCall):
            from pinakes.engine.workers.functions import called

            return called(self, self._resolver, call, parameters)
        from pinakes.engine.files.tables import reading_of

        return self.files(reading_of(call, parameters), call.name)

    def _search(self, call: SearchCall, parameters: Mapping[int, Any]) -> Relation:
        from pinakes.engine.system.searching import search_key, search_relation, words_of

        words = words_of(call, parameters)
        key = search_key(call, words)
        return self.known(key) or self.add(search_relation(words, key, self.execution))

    def files(self, reading: Reading, called: str) -> Relation:
        """Files that a path or a function names; found and looked at once per statement."""
        from pinakes.engine.files.tables import open_files

        key = (FILES, reading.key, called)
        if key not in self._memo:
            opened = self._opened(key, lambda finder, zone: open_files(reading, finder, zone))
            self.add(replace(opened, full_name=(called,)))
        return self._memo[key]

    def _opened(self, key: Key, open: Callable[[Finder, str], FilesSource]) -> Relation:
        files: list[File] = []
        finder, zone = self.execution.finder(files), self.execution.session.settings.time_zone
        opened = self.execution.query.interruptible(lambda: open(finder, zone))
        for note in opened.notes:
            self.execution.session.warn(note)
        names = tuple(opened.schema.names)
        return Relation(key, opened.provider, names, files=tuple(files), has_statistics=opened.statistics)

    def named(self, name: Name) -> Relation:
        """The relation behind a name; loaded once per statement."""
        if name.is_path and len(name.parts) == 1:
            from pinakes.engine.files.tables import Reading

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
            self.add(self._load(found, key))
        return self._memo[key]

    def worker_table(self, name: Name) -> tuple[Key, WorkerTable] | None:
        """The table of a worker that a name means, with its key; None where it means anything else."""
        if name.is_path or self._resolver.temporary(name) is not None:
            return None
        try:
            found = self._resolver.find(name)
        except NotFoundError:
            return None
        if found.kind != "TABLE" or found.place.mount.type != "vgi":
            return None
        table = self._resolver.load(found)
        key = key_of(found.place.mount.name, found.place.namespace, found.name)
        return (key, table) if isinstance(table, WorkerTable) else None

    def _at_path(self, mount: Mounted, path: str) -> Relation:
        """What stands at a path of a catalog that knows paths."""
        key = (mount.name, PATHS, path)
        if key not in self._memo:
            self.execution.query.touch(mount.name)
            catalog = mount.catalog
            assert isinstance(catalog, SupportsPathIdentifiers)
            self.add(self._table(key, catalog.load_path(path)))
        return self._memo[key]

    def _looked_up(self, name: Name, missing: NotFoundError) -> Relation:
        """The caller's object of a name that is found neither in the session nor in a catalog; raises `missing` within
        a view, whose text has no caller."""
        lookup, word = self.execution.lookup, name.last.text
        if lookup is None or len(name.parts) > 1 or name.is_path or not self._is_callers:
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

    def _load(self, found: ResolvedTable, key: Key) -> Relation:
        self.execution.query.touch(found.place.mount.name)
        with asking_about(key):
            loaded = self._resolver.load(found)
        if isinstance(loaded, ViewDefinition):
            loaded = self._without_calls(found, loaded)
            plan = self._expand(found, loaded)
            names, shown = tuple(plan.frame.schema().names), plan.frame.logical_plan().display_indent()
            steady, steps = is_steady(shown), shown.count("\n") + 1
            view = plan.frame.into_view()
            return Relation(key, view, names, view_plan=plan, view=loaded, found=found, is_steady=steady, steps=steps)
        return self._table(key, loaded, found)

    def _without_calls(self, found: ResolvedTable, view: ViewDefinition) -> ViewDefinition:
        """The view with its calls of SQL functions expanded, so that its text shows all that its rows depend on."""
        if "(" not in view.sql:
            return view
        from pinakes.engine.binding.sql_functions import expanded_statement
        from pinakes.parser import classify

        statement = classify(view.sql)
        if not isinstance(statement, Planned):
            return view
        scope = Scope(view.default_catalog or found.place.mount.name, view.default_namespace)
        session = self.execution.session
        expanded = expanded_statement(statement, session, self._resolver.within(scope, found))
        return view if expanded is None else replace(view, sql=expanded.text.text)

    def _table(self, key: Key, table: Table, found: ResolvedTable | None = None) -> Relation:
        match table:
            case IcebergTable():
                return self.iceberg(key, table) if found is None else self._iceberg_of_catalog(key, table, found)
            case FilesTable():
                return self._files(key, table)
            case VirtualTable():
                from pinakes.engine.system.scan import SystemScan

                scan = SystemScan(table, self.execution)
                return Relation(key, scan.placeholder.provider, scan.columns, system=scan)
            case WorkerTable():
                from pinakes.engine.workers.tables import worker_relation

                return worker_relation(self, key, table)

    def _files(self, key: Key, table: FilesTable) -> Relation:
        """The rows of files, as they are now."""
        from pinakes.engine.files.tables import open_table

        return self._opened(key, lambda finder, zone: open_table(table, finder, zone))

    def _iceberg_of_catalog(self, key: Key, table: IcebergTable, found: ResolvedTable) -> Relation:
        """A small table as another statement of this user opened it, or a scan of this statement. A transaction has
        tables of its own, whose versions no other one knows."""
        session = self.execution.session
        if self.execution.explain or session.transaction is not None:
            return self.iceberg(key, table)
        from pinakes.engine.binding.cached_scan import opened_key, small_table
        from pinakes.engine.iceberg.scan.table import IcebergScan

        scans: list[IcebergScan] = []

        def open_table() -> OpenedTable | None:
            scans.append(IcebergScan(table, session))
            return small_table(scans[-1], table)

        with asking_about(key_of(found.place.mount.name, found.place.namespace, found.name)):
            opened = session.engine.caches.session_catalogs.get(opened_key(found, table, session), open_table)
        return self.iceberg(key, table, *scans[-1:]) if opened is None else opened.relation(key, table)

    def iceberg(self, key: Key, table: IcebergTable, scan: IcebergScan | None = None) -> Relation:
        """An Iceberg table's rows as they are now; `scan` if the table was opened already."""
        session = self.execution.session
        if scan is None:
            from pinakes.engine.iceberg.scan.table import IcebergScan

            with asking_about(key):
                scan = IcebergScan(table, session)
        names = tuple(scan.schema.names)
        if scan.is_worth_narrowing or self.execution.explain:
            return Relation(key, scan.shadow(), names, table, scan=scan)
        narrowed = scan.whole()
        watched, is_plain = tuple(narrowed.watched), bool(narrowed.plain)
        return Relation(key, narrowed.provider, names, table, watched=watched, is_plain=is_plain)

    def add(self, relation: Relation) -> Relation:
        """Make a relation known, as far as who asks may read it. There is no other way into a plan."""
        admitted = self.execution.session.guard.relation(relation)
        if admitted is not relation:
            admitted = replace(admitted, is_restricted=True)
        self._memo[relation.key] = admitted
        return admitted
