"""pyiceberg's view methods for catalogs without views; such a catalog type does not offer views."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Identifier, Properties
    from pyiceberg.view import View
    from pyiceberg.view.metadata import ViewVersion


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
