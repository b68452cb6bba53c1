"""The names that a session sees: catalogs, namespaces, tables, columns, functions.

No method waits for a catalog: listings come from the `Loader`. Names are resolved by the session's rules, and the
levels of a namespace are matched against the known listings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.api.completion.files import file_names
from pinakes.api.completion.loader import Loader
from pinakes.api.completion.ranking import Names
from pinakes.api.completion.sight import EMPTY, Level
from pinakes.core.catalog import SupportsNamespaces, ViewDefinition, VirtualTable
from pinakes.core.errors import AmbiguousName, CatalogNotFound
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM, Namespace, Part
from pinakes.core.worker_tables import WorkerTable
from pinakes.engine.binding.namespaces import ResolvedNamespace, objects

if TYPE_CHECKING:
    from pinakes.engine.catalogs.mounts import Mounted
    from pinakes.engine.session import Session

OWN = " session"
"""The queue of names that belong to no catalog. No catalog has such a name."""


class Seen:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.loader = Loader()

    def attached(self) -> Names:
        return Names.of("catalog", (mount.name for mount in self.session.catalogs.attached()))

    def catalogs(self) -> Names:
        """Returns the attached catalogs and those of the system tables."""
        return Names.of("catalog", (*(name for name, _ in self.attached().pairs), INFORMATION_SCHEMA, SYSTEM))

    def temporaries(self) -> Names:
        """Returns the temporary relations of the session: registered data, temporary tables and views."""
        place = self._temporary_place()
        level = EMPTY if place is None else self.level(*place)
        made = [name for names in (level.tables, level.views) for name, _ in names.pairs]
        return Names.of("temporary", {*self.session.temporary.names(), *made})

    def functions(self) -> Names:
        return self.loader.get(OWN, "functions", _functions, Names("function", ()))

    def files(self, typed: str) -> list[str]:
        return file_names(typed, self.session.guard.files)

    def here(self) -> Level:
        current = self.current()
        return EMPTY if current is None else self.level(*current)

    def top(self) -> Level:
        current = self.current()
        return EMPTY if current is None else self.level(current[0], ())

    def levels(self, qualifiers: Sequence[Part]) -> list[Level]:
        return [self.level(*place) for place in self.places(qualifiers)]

    def current(self) -> tuple[Mounted, Namespace] | None:
        """Returns the session's current namespace; None while its catalog is detached."""
        scope = self.session.scope
        mount = self._mount(Part(scope.catalog, quoted=True))
        return None if mount is None else (mount, scope.namespace)

    def level(self, mount: Mounted, namespace: Namespace) -> Level:
        return self.loader.get(mount.name, _key(mount, "level", namespace), lambda: _level(mount, namespace), EMPTY)

    def home(self, mount: Mounted) -> Namespace:
        """Returns the namespace that a name with only a catalog refers to."""
        resolver = self.session.resolver
        return self.loader.get(mount.name, _key(mount, "home"), lambda: resolver.home(mount), ())

    def places(self, qualifiers: Sequence[Part]) -> list[tuple[Mounted, Namespace]]:
        """Returns the namespaces that the qualifiers may refer to: a mounted catalog takes precedence over a
        namespace."""
        mount = self._mount(qualifiers[0])
        if mount is not None and len(qualifiers) == 1:
            return [(mount, ()), (mount, self.home(mount))]
        current = self.current()
        if mount is not None:
            return self._descend(mount, qualifiers[1:])
        return [] if current is None else self._descend(current[0], qualifiers)

    def columns(self, name: Sequence[Part]) -> tuple[str, ...]:
        """Returns the columns of the table, view or temporary relation of this name, in order."""
        if len(name) == 1 and (found := self.session.temporary.find(name[0])) is not None:
            exact, source = found
            return self.loader.get(OWN, ("temporary", exact, id(source)), lambda: tuple(source.schema.names), ())
        for mount, namespace in self._places_of(name):
            known = self.level(mount, namespace).find_object(name[-1])
            if known is not None:
                return self._loaded_columns(mount, namespace, known)
        return ()

    def _places_of(self, name: Sequence[Part]) -> list[tuple[Mounted, Namespace]]:
        if len(name) > 1:
            return [place for place in self.places(name[:-1]) if place[1] or len(name) > 2]
        return [place for place in (self._temporary_place(), self.current()) if place is not None]

    def _temporary_place(self) -> tuple[Mounted, Namespace] | None:
        place = self.session.resolver.temporary_place()
        return None if place is None else (place.mount, place.namespace)

    def _loaded_columns(self, mount: Mounted, namespace: Namespace, known: tuple[str, bool]) -> tuple[str, ...]:
        name, is_view = known
        key = _key(mount, "columns", namespace, name)
        return self.loader.get(mount.name, key, lambda: _columns(mount, namespace, name, is_view), ())

    def _descend(self, mount: Mounted, parts: Sequence[Part]) -> list[tuple[Mounted, Namespace]]:
        namespace: Namespace = ()
        mount = self.session.catalogs.mount_for_namespace(mount, parts)
        for part in parts:
            level = part.text if part.quoted else self.level(mount, namespace).find(part)
            if level is None:
                return []
            namespace = (*namespace, level)
        return [(mount, namespace)]

    def _mount(self, part: Part) -> Mounted | None:
        try:
            name = self.session.catalogs.find(part)
            return None if name is None else self.session.catalogs.get(name)
        except (AmbiguousName, CatalogNotFound):  # detached concurrently, or two that differ only in case
            return None


def _key(mount: Mounted, *what: object) -> tuple[object, ...]:
    return (mount.name, mount.mount.mounted_at, *what)


def _level(mount: Mounted, namespace: Namespace) -> Level:
    catalog = mount.catalog
    children = catalog.list_namespaces(namespace) if isinstance(catalog, SupportsNamespaces) else []
    kinds = objects(catalog, ResolvedNamespace(mount, namespace)) if namespace or not children else {}
    own = [] if namespace or mount.is_system else [INFORMATION_SCHEMA]
    return Level(
        Names.of("namespace", {*(child[-1] for child in children), *own}),
        Names.of("table", (name for name, kind in kinds.items() if kind == "TABLE")),
        Names.of("view", (name for name, kind in kinds.items() if kind == "VIEW")),
    )


def _columns(mount: Mounted, namespace: Namespace, name: str, is_view: bool) -> tuple[str, ...]:
    catalog = mount.catalog
    loaded = catalog.load_view(namespace, name) if is_view else catalog.load_table(namespace, name)  # type: ignore[attr-defined]
    if isinstance(loaded, VirtualTable):
        return tuple(column.name for column in loaded.columns)
    if isinstance(loaded, WorkerTable):
        return tuple(loaded.schema.names)
    schema = loaded.schema if isinstance(loaded, ViewDefinition) else loaded.handle.schema()
    if schema is None:  # a view without a stored schema: planning it would take too long
        return ()
    return tuple(field.name for field in schema.fields)


def _functions() -> Names:
    from pinakes.engine.datafusion.functions import functions

    return Names.of("function", {function.name for function in functions()})
