"""The text of a statement for a remote engine: names as that engine has them, views replaced by their queries.

An Iceberg table is named by its catalog, which is passed to the remote engine with its options. What only this process
can read (files, temporary and system tables, rows in memory) is sent as rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.delegating_catalog import DelegatingCatalog
from pinakes.core.errors import NotSupportedError
from pinakes.engine.datafusion.plan_schema import without_views
from pinakes.engine.remote.interface import HandedOver, RemoteCatalog
from pinakes.parser.spark.parameters import bound
from pinakes.parser.spark.translate import Source, parts, translate

if TYPE_CHECKING:
    from pinakes.core.catalog import Catalog
    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.session import Session
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned, Span

_SQL_CATALOGS = ("sqlite", "jdbc")
_ICEBERG = (*_SQL_CATALOGS, "iceberg_rest", "glue", "s3tables", "hms", "hadoop")


@dataclass(slots=True)
class RemoteText:
    """The text of one statement in the making, and what it needs."""

    execution: Execution
    planner: Planner
    catalogs: dict[str, RemoteCatalog] = field(default_factory=dict)
    handed_over: dict[str, HandedOver] = field(default_factory=dict)

    def query(self, statement: Planned, span: Span | None, schema: pa.Schema | None) -> str:
        """A query of the statement's, its columns as in `schema`."""
        return translate(self.planned(statement, span), self.source, schema)

    def parts(self, text: str, statement: Planned) -> list[str]:
        """The expressions of a SELECT list, in planned text, each translated for the remote engine."""
        return parts(self._bound(text, statement), self.source)

    def source_of(self, text: str, statement: Planned) -> str:
        """A query in text that is planned already, as it is."""
        return translate(self._bound(text, statement), self.source, None)

    def planned(self, statement: Planned, span: Span | None) -> str:
        return self._bound(self.planner.spliced(statement, span).text, statement)

    def _bound(self, text: str, statement: Planned) -> str:
        return bound(text, self.execution.parameters) if statement.placeholders else text

    # --- tables ----------------------------------------------------------------------------------------------------

    def source(self, key: Key) -> Source | None:
        relation = self.planner.known(key)
        if relation is None:
            return None
        columns = {f.name: without_views(f.type) for f in relation.provider.schema}
        if any(
            known.is_restricted for known in self.planner.relations.all()
        ):  # what may be seen of a relation is not what its files hold
            return Source(self._hand_over(relation), columns)
        if relation.found is not None and relation.view is not None:
            planner, statement = self.planner.inside(relation.found, relation.view)
            inner = RemoteText(self.execution, planner, self.catalogs, self.handed_over)
            schema = pa.schema(list(relation.provider.schema))
            return Source(_named(inner.query(statement, None, _plain(schema)), list(columns)), columns)
        if relation.table is not None:
            table = self.table(relation)
            if table is not None:
                return Source(table, columns)
        return Source(self._hand_over(relation), columns)

    def table(self, relation: Relation) -> str | None:
        """The name of an Iceberg table there; None if no catalog that the other engine can open has it."""
        catalog, *levels = relation.path
        remote = self.catalog(catalog)
        if remote is None or relation.table is None:
            return None
        handle = relation.table.handle
        if handle.metadata.location.startswith(("s3://", "s3a://", "s3n://")):
            remote = RemoteCatalog(remote.name, remote.opening, on_s3=True)
        self.add(remote)
        name = ".".join(quoted(level) for level in (remote.name, *levels))
        return f"{name}{self._version(relation)}"

    def _version(self, relation: Relation) -> str:
        """Of a table as it was (`binding/time_travel.py`)."""
        assert relation.table is not None
        if not relation.full_name or relation.alias is not None:  # the latter is the target of a change
            return ""
        snapshot = relation.table.handle.metadata.current_snapshot_id
        if snapshot is None:
            raise NotSupportedError("a table as it was before its first snapshot can't be read on Spark")
        return f" VERSION AS OF {snapshot}"

    def catalog(self, name: str) -> RemoteCatalog | None:
        return remote_catalog(self.execution.session, name)

    def add(self, catalog: RemoteCatalog) -> None:
        known = self.catalogs.get(catalog.name)
        if known is not None and known.opening.mount_id != catalog.opening.mount_id:
            raise NotSupportedError(
                f"two catalogs of this statement carry the name {catalog.name!r} in their databases, and Spark knows "
                f"catalogs by it. SET engine = 'local'."
            )
        if known is None or catalog.on_s3:
            self.catalogs[catalog.name] = catalog

    def _hand_over(self, relation: Relation) -> str:
        key = ".".join(relation.key)
        if key not in self.handed_over:
            name = f"rows_{self.execution.query.query_id}_{len(self.handed_over)}"
            schema = _plain(pa.schema(list(relation.provider.schema)))
            self.handed_over[key] = HandedOver(name, schema, partial(self.planner.rows_of, relation))
        return quoted(self.handed_over[key].name)


def remote_catalog(session: Session, name: str) -> RemoteCatalog | None:
    """A mounted catalog as the other engine has it: SQL catalogs go by the name that their rows carry."""
    mounted = session.catalogs.get(name)
    found = innermost(mounted.catalog)
    opening = session.engine.opening_of(mounted.catalog)
    if opening is None or opening.type not in _ICEBERG:
        return None
    if opening.roots is not None and mounted.mount.origin == "attach":
        raise NotSupportedError(
            f"catalog '{name}' may only have files in some directories of this machine, and Spark would not keep "
            f"to them: catalogs that were attached under such a rule are read here. SET engine = 'local'."
        )
    own = getattr(found, "rows_name", None) if opening.type in _SQL_CATALOGS else None
    return RemoteCatalog(str(own or f"pinakes_{opening.mount_id.partition('.')[0]}"), opening)


def _named(query: str, columns: list[str]) -> str:
    select = ", ".join(f"`c{at}` AS {quoted(name)}" for at, name in enumerate(columns))
    return f"(SELECT {select} FROM ({query}))"


def _plain(schema: pa.Schema) -> pa.Schema:
    return pa.schema([f.with_type(without_views(f.type)) for f in schema])


def innermost(catalog: Catalog) -> Catalog:
    """The catalog that others are laid around."""
    found = catalog
    while isinstance(found, DelegatingCatalog):
        found = found.inner
    return found


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def quoted_text(value: str) -> str:
    """A text as a literal of the other engine's."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
