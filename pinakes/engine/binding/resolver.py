"""Resolves names for one session: the catalog, namespace and object that a name in a statement refers to.

The rules are in `core/names.py`; here they are applied to the mounted catalogs. Unquoted parts are matched against the
catalog's listings, and an error lists what exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.catalog import (
    IcebergTable,
    SupportsDefaultNamespace,
    SupportsFunctions,
    SupportsNamespaces,
    SupportsPathIdentifiers,
    SupportsTables,
    SupportsViews,
    Table,
    ViewDefinition,
    VirtualTable,
)
from pinakes.core.errors import (
    InvalidArgument,
    NamespaceNotFound,
    NotFoundError,
    NotSupportedError,
    listing,
)
from pinakes.core.names import TEMP, Name, Namespace, Part, display, match, resolve
from pinakes.core.worker_tables import CatalogFunction, WorkerTable
from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.binding.namespaces import (
    Kind,
    ResolvedNamespace,
    ResolvedTable,
    Scope,
    children,
    lookup,
    match_levels,
    no_namespace,
    no_object,
    no_paths,
    objects,
    of_kind,
)
from pinakes.engine.binding.session_relations import SessionRelations, Source
from pinakes.engine.catalogs.mounts import Mounted, Mounts
from pinakes.engine.catalogs.temp_catalog import MAIN
from pinakes.engine.system import table_metadata

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from pinakes.engine.catalogs.registry import Mount

Remembered: TypeAlias = "MutableMapping[Mount, Namespace]"
"""What `USE ns IN cat` said, for this very mount: another one of the same name may have no such namespace."""


class Resolver:
    """Bound to a session's scope and to the current namespace of each catalog (`USE ns IN cat`)."""

    def __init__(
        self,
        catalogs: Mounts,
        scope: Scope,
        remembered: Remembered,
        temporary: SessionRelations | None = None,
        *,
        unseen: ResolvedTable | None = None,
        touch: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._catalogs = catalogs
        self._temporary = temporary
        self._scope = scope
        self._remembered = remembered
        self._unseen = unseen
        self._touch = touch
        """Called with each catalog in which an object was found."""

    def within(self, scope: Scope, view: ResolvedTable) -> Resolver:
        """The same for the text of a view, in the view's own scope. A stored view does not see what only the session
        has; a temporary one does, and by its own name it means what that would mean without it."""
        if view.place.mount.is_private:
            return Resolver(self._catalogs, scope, self._remembered, self._temporary, unseen=view, touch=self._touch)
        return Resolver(self._catalogs.shared, scope, self._remembered, touch=self._touch)

    # --- places ---------------------------------------------------------------------------------------------------

    def new_object(self, name: Name, *, temporary: bool = False) -> tuple[ResolvedNamespace, str]:
        """Where something is to be made, and the exact name it will have. The namespace must exist."""
        full = self.as_temporary(name) if temporary else name
        if self.temporary(name) is not None:
            raise self._shadowed(name, full)
        with self._explained(full):
            place, part = self._place(full)
            self.check_namespace(place)
        self._touch(place.mount.name)
        return place, part.exact

    def as_temporary(self, name: Name) -> Name:
        """The full name of what CREATE TEMP makes and DROP TEMP drops."""
        if len(name.parts) == 1 and not name.is_path:
            return Name((*Name.of(TEMP, *MAIN).parts, name.last))
        if name.is_path or self._catalogs.find(name.parts[0]) != TEMP:
            raise InvalidArgument(
                f"{name} cannot name something temporary: that is in the catalog {TEMP} of the session. "
                f"Write {name.last} or {TEMP}.{name.last}"
            )
        return name

    def new_namespace(self, name: Name) -> ResolvedNamespace:
        """A namespace that is to be made: existing levels are matched, the last one is taken as written."""
        mount, parts = self._catalog_and_levels(name)
        if not parts and mount.is_system:
            raise InvalidArgument(f"namespace name '{mount.name}' is reserved; choose another")
        if not parts:
            raise InvalidArgument(f"'{name}' names a catalog; say which namespace in it, as in {name}.sales")
        parents = match_levels(mount, parts[:-1])
        self._touch(mount.name)
        return ResolvedNamespace(mount, (*parents, parts[-1].exact))

    def namespace(self, name: Name | None, *, check: bool = True) -> ResolvedNamespace:
        """The catalog or namespace of SHOW … IN name and of USE: a mounted catalog if there is one, else a namespace.

        `check` is false for callers that list the namespace: a level that comes from a listing is not looked up again.
        """
        if name is None:
            levels = [Part(level, quoted=True) for level in self._scope.namespace]
            self._touch(self._scope.catalog)
            current = self._catalogs.current(self._scope.catalog)
            return ResolvedNamespace(self._catalogs.mount_for_namespace(current, levels), self._scope.namespace)
        with self._explained(name):
            mount, parts = self._catalog_and_levels(name)
            place = ResolvedNamespace(mount, match_levels(mount, parts))
            if check or any(part.quoted for part in parts):
                self.check_namespace(place)
        self._touch(mount.name)
        return place

    def namespace_in(self, catalog: Mounted, name: Name) -> ResolvedNamespace:
        """A namespace of a catalog that is known already (USE name IN catalog)."""
        place = ResolvedNamespace(catalog, match_levels(catalog, name.parts))
        self.check_namespace(place)
        return place

    def check_namespace(self, place: ResolvedNamespace) -> None:
        catalog = place.mount.catalog
        if (
            place.namespace
            and isinstance(catalog, SupportsNamespaces)
            and not catalog.namespace_exists(place.namespace)
        ):
            raise no_namespace(place.mount, place.namespace)

    def home(self, mount: Mounted) -> Namespace:
        """The namespace that a catalog fills in when a name gives the catalog alone."""
        remembered = self._remembered.get(mount.mount)
        if remembered is not None:
            return remembered
        catalog = mount.catalog
        return catalog.default_namespace if isinstance(catalog, SupportsDefaultNamespace) else ()

    # --- objects --------------------------------------------------------------------------------------------------

    def temporary(self, name: Name) -> tuple[str, Source] | None:
        """The temporary relation that a name means, and its exact name."""
        if self._temporary is None or len(name.parts) > 1 or name.is_path:
            return None
        return self._temporary.find(name.last)

    def there(self, place: ResolvedNamespace, name: Name) -> ResolvedTable | None:
        """The object that has this name in a namespace now, regardless of caches and temporary relations: for
        statements that create an object there."""
        return lookup(place, name.last, fresh=True)

    def path(self, name: Name) -> tuple[Mounted, str] | None:
        """The catalog and the path in it that a name means: one of a catalog that knows paths, written as a path or
        quoted with a slash in it."""
        written = name.last.text
        if len(name.parts) != 2 or not (name.is_path or (name.last.quoted and "/" in written)):
            return None
        catalog = self._catalogs.find(name.parts[0])
        mount = None if catalog is None else self._catalogs.get(catalog)
        if mount is None or not isinstance(mount.catalog, SupportsPathIdentifiers):
            return None
        return mount, written

    def find(self, name: Name, *, kind: Kind | None = None) -> ResolvedTable:
        """The table or view that a name means; TableNotFound or ViewNotFound lists what there is."""
        if self.temporary(name) is not None:
            raise self._shadowed(name, name)
        own = self._own(name)
        if own is not None:
            self._touch(TEMP)
            return of_kind(own, kind)
        with self._explained(name):
            place, part = self._place(name)
            found = lookup(place, part)
        found = found or self._metadata(name)
        if found is None:
            raise no_object(place, part, kind, self.temporary_place() if len(name.parts) == 1 else None)
        self._touch(place.mount.name)
        return of_kind(found, kind)

    def _metadata(self, name: Name) -> ResolvedTable | None:
        """What `"t$snapshots"` means, where no table has that name; None if there is no table t either."""
        parts = table_metadata.split(name)
        if parts is None:
            return None
        try:
            found = self.find(parts[0])
        except NotFoundError:
            return None
        return table_metadata.metadata_of(found, parts[1])

    def maybe(self, name: Name, *, kind: Kind | None = None) -> ResolvedTable | None:
        """Like `find`, but None when nothing has this name (IF EXISTS)."""
        try:
            found = self.find(name)
        except NotFoundError:
            return None
        return of_kind(found, kind)

    def load(self, found: ResolvedTable) -> Table | ViewDefinition:
        catalog = found.place.mount.catalog
        if found.kind == "METADATA":
            return table_metadata.virtual(found, self.load(table_metadata.table_of(found)))
        if found.kind == "VIEW":
            assert isinstance(catalog, SupportsViews)
            return catalog.load_view(found.place.namespace, found.name)
        assert isinstance(catalog, SupportsTables)
        return catalog.load_table(found.place.namespace, found.name)

    def functions(self, name: Name) -> tuple[ResolvedNamespace, list[CatalogFunction]] | None:
        """Where a name of several parts would be a function, and the functions of that name there; None where it can't
        be one of a catalog."""
        try:
            place, part = self._place(name)
        except (NotFoundError, NotSupportedError):
            return None
        catalog = place.mount.catalog
        if not isinstance(catalog, SupportsFunctions):
            return None
        self._touch(place.mount.name)
        return place, [f for f in catalog.list_functions(place.namespace) if part.matches(f.name)]

    def function_places(self, name: Name) -> list[ResolvedNamespace]:
        """The namespaces where an SQL function of this name may be: a name of one part means first one of the
        session."""
        try:
            place, _ = self._place(name)
        except (NotFoundError, NotSupportedError):
            return [own] if len(name.parts) == 1 and (own := self.temporary_place()) else []
        own = self.temporary_place() if len(name.parts) == 1 else None
        return [place] if own is None else [own, place]

    def function_place(self, name: Name, *, temporary: bool = False) -> ResolvedNamespace:
        """The namespace, which exists, where an SQL function of this name is to be made or dropped."""
        full = self.as_temporary(name) if temporary else name
        with self._explained(full):
            place, _ = self._place(full)
            self.check_namespace(place)
        self._touch(place.mount.name)
        return place

    def table(self, name: Name) -> tuple[ResolvedTable, IcebergTable]:
        """A table that is to be changed: loaded again, so that changes of other processes are seen."""
        found = self.find(name, kind="TABLE")
        table_changes(found.place.mount)
        table = self.fresh(found)
        if name.branch is not None:
            from pinakes.engine.iceberg.branches import on_branch

            table = on_branch(table, name.branch)
        return found, table

    def described(self, name: Name) -> tuple[ResolvedTable, IcebergTable]:
        """A table whose definition is shown, loaded again. It may be one that cannot be changed."""
        found = self.find(name, kind="TABLE")
        return found, self.fresh(found)

    def latest(self, found: ResolvedTable) -> Table | ViewDefinition:
        """The resolved object, loaded again."""
        forget_table(found.place.mount.catalog, found.place.namespace, found.name)
        return self.load(found)

    def fresh(self, found: ResolvedTable) -> IcebergTable:
        """An Iceberg table that was found, as it is now."""
        return iceberg_only(found, self.latest(found))

    def temporary_place(self) -> ResolvedNamespace | None:
        """Where the session's temporary tables and views are, if it ever made one."""
        mount = self._catalogs.own(TEMP)
        return ResolvedNamespace(mount, MAIN) if mount is not None and mount.is_open else None

    def _own(self, name: Name) -> ResolvedTable | None:
        """The temporary table or view that a name of one part means."""
        place = self.temporary_place()
        if place is None or len(name.parts) > 1 or name.is_path:
            return None
        kinds = objects(place.mount.catalog, place)
        exact = match(name.last, kinds, "temporary table")
        found = None if exact is None else ResolvedTable(place, exact, kinds[exact])
        return None if found == self._unseen else found

    # --- the rules ------------------------------------------------------------------------------------------------

    def _place(self, name: Name) -> tuple[ResolvedNamespace, Part]:
        resolved = resolve(name, self._catalogs.find, self._scope.catalog, self._scope.namespace)
        mount = (self._catalogs.get if resolved.catalog_given else self._catalogs.current)(resolved.catalog)
        if resolved.is_path:
            raise no_paths(mount, resolved.name.text)
        if resolved.catalog_given and not resolved.namespace:
            return ResolvedNamespace(mount, self.home(mount)), resolved.name
        mount = self._catalogs.mount_for_namespace(mount, resolved.namespace)
        return ResolvedNamespace(mount, match_levels(mount, resolved.namespace)), resolved.name

    def _shadowed(self, name: Name, meant: Name) -> InvalidArgument:
        own = self._own(name)
        full = display(self._scope.catalog, self._scope.namespace, name.last.exact)
        if own is not None or len(meant.parts) > 1:
            full = str(own) if own is not None else display(TEMP, MAIN, name.last.exact)
        return InvalidArgument(
            f"{name} is a temporary relation of this session, which can only be read; "
            f"write {full} to name what the catalog has"
        )

    @contextmanager
    def _explained(self, name: Name) -> Iterator[None]:
        """A first part that is neither a catalog nor a namespace: the error lists both."""
        try:
            yield
        except NamespaceNotFound as error:
            first = name.parts[0]
            current = self._catalogs.current(self._scope.catalog)
            top = children(current.catalog, ()) if isinstance(current.catalog, SupportsNamespaces) else []
            if self._catalogs.find(first) is not None or any(first.matches(n[-1]) for n in top):
                raise
            attached = listing(m.name for m in self._catalogs.attached())
            raise NamespaceNotFound(
                f"{error.message} Nor is a catalog '{first.text}' attached; attached: {attached}."
            ) from None

    def _catalog_and_levels(self, name: Name) -> tuple[Mounted, tuple[Part, ...]]:
        catalog = self._catalogs.find(name.parts[0])
        mount = self._catalogs.current(self._scope.catalog) if catalog is None else self._catalogs.get(catalog)
        levels = name.parts if catalog is None else name.parts[1:]
        return self._catalogs.mount_for_namespace(mount, levels), levels


def iceberg_only(found: ResolvedTable, table: Table | ViewDefinition) -> IcebergTable:
    """What was loaded, if it is an Iceberg table."""
    if isinstance(table, VirtualTable):
        raise NotSupportedError(f"{found} is a system table: it can be read and described, and nothing else.")
    if isinstance(table, WorkerTable):
        raise NotSupportedError(
            f"{found} is a table of a worker: only ALTER TABLE and COMMENT ON can change it. CREATE TABLE … AS "
            f"SELECT in another catalog makes an Iceberg table of it."
        )
    if not isinstance(table, IcebergTable):
        raise NotSupportedError(
            f"{found} is a table of files, not an Iceberg table. "
            "CREATE TABLE … AS SELECT creates an Iceberg table from it."
        )
    return table
