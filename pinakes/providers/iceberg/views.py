"""Views of Iceberg catalogs: conversion between our definitions and Iceberg's, which have one version, one SQL text,
and the comment in the properties; and pyiceberg's view methods for catalogs that do not offer views."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pyiceberg.view.metadata import ViewVersion

from pinakes.core.catalog import ViewDefinition
from pinakes.core.errors import DataCorrupt
from pinakes.core.names import dotted
from pinakes.core.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Identifier, Properties
    from pyiceberg.view import View
    from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion


DIALECT = "pinakes"
COMMENT = "comment"


def definition_of(view: View) -> ViewDefinition:
    """Returns the current version, with our own dialect's text if there is one, else another engine's."""
    text = _text_of(view)
    version = view.current_version()
    properties = dict(view.properties)
    return ViewDefinition(
        sql=text.sql,
        default_catalog=version.default_catalog,
        default_namespace=tuple(version.default_namespace),
        schema=view.schema(),
        dialect=text.dialect,
        comment=properties.pop(COMMENT, None),
        properties=properties,
    )


def schema_of(view: ViewDefinition) -> Schema:
    """Returns the schema, which every view created here has."""
    assert view.schema is not None
    return view.schema


def version_of(view: ViewDefinition) -> ViewVersion:
    """Returns the version to store; the catalog assigns its ids."""
    return ViewVersion.model_validate(
        {
            "schema-id": schema_of(view).schema_id,
            "summary": {"engine-name": DIALECT, "engine-version": __version__},
            "representations": [{"type": "sql", "sql": view.sql, "dialect": view.dialect}],
            "default-catalog": view.default_catalog,
            "default-namespace": view.default_namespace,
        }
    )


def properties_of(view: ViewDefinition) -> dict[str, str]:
    comment = {} if view.comment is None else {COMMENT: view.comment}
    return {**view.properties, **comment}


def _text_of(view: View) -> SQLViewRepresentation:
    if (own := view.sql_for(DIALECT)) is not None:
        return own
    texts = [representation.root for representation in view.current_version().representations]
    if not texts:
        raise DataCorrupt(f"view {dotted(view.name())} has no SQL text in its current version")
    return texts[0]


# --- catalogs without views --------------------------------------------------------------------------------------


class NoViews:
    """A mix-in to put before pyiceberg's own class among the bases."""

    def list_views(self, namespace: str | Identifier) -> list[Identifier]:
        return []

    def view_exists(self, identifier: str | Identifier) -> bool:
        return False

    def load_view(self, identifier: str | Identifier) -> View:
        _refuse()

    def drop_view(self, identifier: str | Identifier) -> None:
        _refuse()

    def register_view(self, identifier: str | Identifier, metadata_location: str) -> View:
        _refuse()

    def create_view(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        view_version: ViewVersion,
        location: str | None = None,
        properties: Properties = {},  # noqa: B006 - as pyiceberg declares it; never changed
    ) -> View:
        _refuse()


def _refuse() -> NoReturn:
    raise NotImplementedError("this catalog has no views")
