"""Static checks of a project: its files, and the catalogs that it reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.catalog import IcebergTable, SupportsTables, SupportsViews, Table
from pinakes.core.errors import NotFoundError, PinakesError
from pinakes.core.suggestions import did_you_mean
from pinakes.engine.remote.text import remote_catalog
from pinakes.pipelines.loads import check_load
from pinakes.pipelines.project.model import OWNER, Dataset
from pinakes.pipelines.project.problem import Problem

if TYPE_CHECKING:
    from pinakes.engine.session import Session
    from pinakes.pipelines.project.graph import Graph
    from pinakes.pipelines.project.model import Key


def check(graph: Graph, session: Session) -> list[Problem]:
    """Returns all problems. Changes nothing and starts no Spark."""
    problems: list[Problem] = []
    unusable = {name: _catalog_fault(session, name) for name in catalogs_of(graph)}
    for key, step in graph.steps.items():
        said = None if len(key) == 1 else unusable[key[0]] or _unwritable(session, key[0])
        if said is not None:
            problems.append(Problem(step.where, f"{graph.spec.shown(key)!r} can't be made: {said}"))
        elif isinstance(step, Dataset):
            said = None if len(key) == 1 else _not_ours(graph, session, key)
            problems += [] if said is None else [Problem(step.where, said)]
        else:
            name = graph.spec.shown(key)
            problems += [Problem(step.where, f"load of {name!r}: {found}") for found in check_load(step.load, session)]
    for key, flow in graph.sources():
        said = unusable[key[0]] or _table_fault(graph, session, key)
        if said is not None:
            problems.append(Problem(flow.where, f"{flow.name!r} reads {graph.spec.shown(key)!r}: {said}"))
    return problems


def catalogs_of(graph: Graph) -> dict[str, None]:
    """Returns the catalogs that it reads or writes, the target's first."""
    keys: list[Key] = [key for key in graph.steps if len(key) > 1] + [key for key, _ in graph.sources()]
    return {graph.spec.catalog: None} | dict.fromkeys(key[0] for key in keys)


def _catalog_fault(session: Session, name: str) -> str | None:
    try:
        if remote_catalog(session, name) is None:
            return f"the catalog {name!r} has no Iceberg tables that Spark could open"
    except PinakesError as error:
        return error.message.removesuffix(" SET engine = 'local'.")
    return None


def _unwritable(session: Session, catalog: str) -> str | None:
    try:
        session.catalogs.get(catalog).check_writable()
    except PinakesError as error:
        return error.message
    return None


def _not_ours(graph: Graph, session: Session, key: Key) -> str | None:
    """Returns the problem if the table exists and was not created by this pipeline: such a table is not replaced."""
    found = _loaded(session, key)
    if found is None:
        return None
    owner = found.handle.metadata.properties.get(OWNER) if isinstance(found, IcebergTable) else None
    name = graph.spec.name
    if owner == name:
        return None
    said = "was not made by a pipeline" if owner is None else f"is made by the pipeline {owner!r}"
    return (
        f"the table {'.'.join(key)} is there and {said}: give this one another name, or drop that one. To have it "
        f"taken over: ALTER TABLE … SET PROPERTIES ('{OWNER}' = '{name}')"
    )


def _loaded(session: Session, key: Key) -> Table | None:
    catalog, *levels, name = key
    mounted, namespace = session.catalogs.get(catalog).catalog, tuple(levels)
    assert isinstance(mounted, SupportsTables)
    forget_table(mounted, namespace, name)
    try:
        return mounted.load_table(namespace, name)
    except NotFoundError:
        return None


def _table_fault(graph: Graph, session: Session, key: Key) -> str | None:
    """Returns the reason why an existing table can't be read."""
    catalog, *levels, name = key
    mounted, namespace = session.catalogs.get(catalog).catalog, tuple(levels)
    assert isinstance(mounted, SupportsTables)
    forget_table(mounted, namespace, name)
    try:
        found = mounted.load_table(namespace, name)
    except NotFoundError as error:
        if isinstance(mounted, SupportsViews) and name in mounted.list_views(namespace):
            return "it is a view, written for Pinakes and not for Spark: name the tables that it reads"
        there = [(catalog, *namespace, table) for table in _tables(mounted, namespace)]
        hint = did_you_mean(graph.spec.shown(key), [graph.spec.shown(k) for k in (*graph.steps, *there)])
        return f"no table of the pipeline has this name, and {error.message.rstrip('.')}.{hint}"
    except PinakesError as error:
        return error.message
    return None if isinstance(found, IcebergTable) else "it is not an Iceberg table, so Spark can't read it by name"


def _tables(catalog: SupportsTables, namespace: tuple[str, ...]) -> list[str]:
    try:
        return catalog.list_tables(namespace)
    except NotFoundError:
        return []
