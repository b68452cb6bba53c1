"""Views of a REST catalog: creation under any name, replacement and renaming, which pyiceberg lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyiceberg.catalog.rest import (
    Capability,
    CreateViewRequest,
    Endpoints,
    IdentifierKind,
    RestCatalog,
    ViewResponse,
)
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchViewError,
    ViewAlreadyExistsError,
)
from pyiceberg.schema import assign_fresh_schema_ids
from pyiceberg.typedef import UTF8
from pyiceberg.view import View
from requests import HTTPError, Response

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Identifier, Properties
    from pyiceberg.view.metadata import ViewMetadata, ViewVersion

_RENAME = "views/rename"
_LAST = -1
"""In a list of updates: the schema or version that was added last."""


class RestViews(RestCatalog):
    """A mix-in of `RestClient`."""

    def create_view(
        self,
        identifier: str | Identifier,
        schema: Any,
        view_version: ViewVersion,
        location: str | None = None,
        properties: Properties | None = None,
    ) -> View:
        name = self.identifier_to_tuple(identifier)
        request = CreateViewRequest.model_validate(
            {
                "name": name[-1],
                "location": location,
                "schema": assign_fresh_schema_ids(schema),
                "view-version": view_version,
                "properties": properties or {},
            }
        )
        url = self.url(Endpoints.create_view, namespace=self._encode_namespace_path(name[:-1]))
        response = self._session.post(url, data=request.model_dump_json().encode(UTF8))
        _raise_for(response, {404: NoSuchNamespaceError, 409: ViewAlreadyExistsError})
        return View(name, ViewResponse.model_validate_json(response.text).metadata)

    def view_exists(self, identifier: str | Identifier) -> bool:
        if Capability.V1_VIEW_EXISTS in self._supported_endpoints:
            return bool(super().view_exists(identifier))
        try:
            self.load_view(identifier)
        except NoSuchViewError:
            return False
        return True

    def replace_view(
        self,
        identifier: str | Identifier,
        schema: Schema,
        view_version: ViewVersion,
        properties: Properties | None = None,
    ) -> View:
        """Adds a version and replaces the properties; fails with a conflict if the view was replaced by another
        meanwhile.
        """
        name = self.identifier_to_tuple(identifier)
        before = self.load_view(name).metadata
        updates = [
            *_version_updates(before, assign_fresh_schema_ids(schema), view_version),
            *_property_updates(before.properties, properties or {}),
        ]
        if not updates:
            return View(name, before)
        body: Any = {
            "identifier": {"namespace": name[:-1], "name": name[-1]},
            "requirements": [{"type": "assert-view-uuid", "uuid": before.view_uuid}],
            "updates": updates,
        }
        response = self._session.post(self._view_url(name), json=body)
        _raise_for(response, {404: NoSuchViewError, 409: CommitFailedException})
        return View(name, ViewResponse.model_validate_json(response.text).metadata)

    def rename_view(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> None:
        source, target = self.identifier_to_tuple(from_identifier), self.identifier_to_tuple(to_identifier)
        if source[:-1] != target[:-1] and not self.namespace_exists(target[:-1]):
            raise NoSuchNamespaceError(f"Namespace does not exist: {target[:-1]}")
        body = {
            "source": {"namespace": source[:-1], "name": source[-1]},
            "destination": {"namespace": target[:-1], "name": target[-1]},
        }
        response = self._session.post(self.url(_RENAME), json=body)
        _raise_for(response, {404: NoSuchViewError, 409: ViewAlreadyExistsError})

    def _view_url(self, name: Identifier) -> str:
        parts = self._split_identifier_for_path(name, IdentifierKind.VIEW)
        return self.url(Endpoints.load_view, prefixed=True, **parts)


def _version_updates(before: ViewMetadata, schema: Schema, version: ViewVersion) -> list[dict[str, object]]:
    """Returns the updates for a version. An existing schema or version is reused: a server would not add it again, and
    then "the last added" would not exist.
    """
    updates: list[dict[str, object]] = []
    known = next((s.schema_id for s in before.schemas if s.as_struct() == schema.as_struct()), None)
    if known is None:
        added = schema.model_copy(update={"schema_id": max(s.schema_id for s in before.schemas) + 1})
        last = {"last-column-id": schema.highest_field_id}  # older servers require it
        updates.append({"action": "add-schema", "schema": _as_json(added), **last})
    newest = max(v.version_id for v in before.versions)
    wanted = version.model_copy(update={"version_id": newest + 1, "schema_id": _LAST if known is None else known})
    same = next((v.version_id for v in before.versions if _content(v) == _content(wanted)), None)
    if same is None:
        updates.append({"action": "add-view-version", "view-version": _as_json(wanted)})
    if same != before.current_version_id:
        updates.append({"action": "set-current-view-version", "view-version-id": _LAST if same is None else same})
    return updates


def _content(version: ViewVersion) -> tuple[object, ...]:
    return version.schema_id, version.representations, version.default_catalog, tuple(version.default_namespace)


def _property_updates(before: Properties, after: Properties) -> list[dict[str, object]]:
    updates: list[dict[str, object]] = []
    if after:
        updates.append({"action": "set-properties", "updates": dict(after)})
    if gone := sorted(set(before) - set(after)):
        updates.append({"action": "remove-properties", "removals": gone})
    return updates


def _as_json(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _raise_for(response: Response, errors: dict[int, type[Exception]]) -> None:
    try:
        response.raise_for_status()
    except HTTPError as error:
        _handle_non_200_response(error, errors)
